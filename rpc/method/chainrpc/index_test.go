package chainrpc_test

import (
	"errors"
	"testing"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/messages"
)

type (
	indexStatus = ask.Call[messages.GetIndexStatus, messages.IndexStatus]
	waitIdle    = ask.Call[messages.WaitIndexIdle, messages.Done]
	repair      = ask.Call[messages.RepairFilter, messages.Done]
)

// genesisFilter is the reply for the genesis block of regtest, as in the
// recordings.
const genesisFilter = `{"filter":"014756c0","header":"485e301e4509d7f0d954bf5b529f3ecef68c5191fd0e635f775c1d0266dc5a2b"}`

// A filter that is not there may be on its way.
func TestFilterIsWaitedFor(t *testing.T) {
	r := newRig(t, "regtest")
	r.filters.err = index.ErrNoFilter
	done := r.start("getblockfilter", `[`+quoted(r.chain.Active().Tip())+`]`)
	actortest.Expect[*indexStatus](r.indexer).Answer(messages.IndexStatus{Synced: true}, nil)
	call := actortest.Expect[*waitIdle](r.indexer)
	r.filters.err = nil
	call.Answer(messages.Done{}, nil)
	if got := <-done; got != genesisFilter {
		t.Errorf("got %s, want %s", got, genesisFilter)
	}
}

func TestFilterIsRepaired(t *testing.T) {
	r := newRig(t, "regtest")
	tip := r.chain.Active().Tip()
	r.filters.err = errors.New("checksum mismatch")
	done := r.start("getblockfilter", `[`+quoted(tip)+`]`)
	call := actortest.Expect[*repair](r.indexer)
	if call.Req.Block != tip.Hash {
		t.Errorf("repair of %v", call.Req.Block)
	}
	r.filters.err = nil
	call.Answer(messages.Done{}, nil)
	if got := <-done; got != genesisFilter {
		t.Errorf("got %s, want %s", got, genesisFilter)
	}
}

func TestFilterNotFound(t *testing.T) {
	r := newRig(t, "regtest")
	b := r.chain.MineN(1)
	never := r.chain.MineOn(b.Parent, chaintest.Template{})
	missing := func(synced bool) func() {
		return func() {
			actortest.Expect[*indexStatus](r.indexer).Answer(messages.IndexStatus{Synced: synced}, nil)
			if synced {
				actortest.Expect[*waitIdle](r.indexer).Answer(messages.Done{}, nil)
			}
		}
	}
	tests := []struct {
		name   string
		params string
		err    error
		play   func()
		want   string
	}{
		{
			"never connected", quoted(never), index.ErrNoFilter, missing(true),
			"-5 Filter not found. Block was not connected to active chain.",
		},
		{
			"index not there yet", quoted(b), index.ErrNoFilter, missing(false),
			"-1 Filter not found. Block filters are still in the process of being indexed.",
		},
		{
			"hole in the index", quoted(b), index.ErrNoFilter, missing(true),
			"-32603 Filter not found. This error is unexpected and indicates index corruption.",
		},
		{
			"damage that stays", quoted(b), errors.New("checksum mismatch"), func() {
				actortest.Expect[*repair](r.indexer).Answer(messages.Done{}, errors.New("block cannot be read"))
			},
			"-32603 Filter not found. This error is unexpected and indicates index corruption.",
		},
	}
	for _, test := range tests {
		r.filters.err = test.err
		done := r.start("getblockfilter", `[`+test.params+`]`)
		test.play()
		if got := <-done; got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestIndexInfo(t *testing.T) {
	r := newRig(t, "regtest")
	for _, test := range []struct {
		params string
		status messages.IndexStatus
		want   string
	}{
		{`[]`, messages.IndexStatus{Height: -1}, `{"basic block filter index":{"synced":false,"best_block_height":0}}`},
		{`[""]`, messages.IndexStatus{Synced: true, Height: 7}, `{"basic block filter index":{"synced":true,"best_block_height":7}}`},
	} {
		done := r.start("getindexinfo", test.params)
		actortest.Expect[*indexStatus](r.indexer).Answer(test.status, nil)
		if got := <-done; got != test.want {
			t.Errorf("%s: got %s, want %s", test.params, got, test.want)
		}
	}
	r.check("getindexinfo", [][2]string{{`["txindex"]`, `{}`}})
}

func TestSyncWaitsForTheIndex(t *testing.T) {
	r := newRig(t, "regtest")
	done := r.start("syncwithvalidationinterfacequeue", `[]`)
	actortest.Expect[*waitIdle](r.indexer).Answer(messages.Done{}, nil)
	if got := <-done; got != "null" {
		t.Errorf("got %s", got)
	}
}

// Without the index what needs it says so, and the rest works.
func TestIndexOff(t *testing.T) {
	r := newRig(t, "regtest")
	tip := quoted(r.chain.Active().Tip())
	r.deps.Index = nil
	r.build()
	const off = "-1 Index is not enabled for filtertype basic"
	r.check("getblockfilter", [][2]string{
		{`[` + tip + `]`, off},
		{`[` + unknownHash + `]`, off},
		{`[` + unknownHash + `, "other"]`, "-5 Unknown filtertype"},
	})
	r.check("scanblocks", [][2]string{
		{`["start", ["raw(51)"]]`, off},
		{`["start", ["nonsense"], -1]`, off},
		{`["start", [], 0, 0, "other"]`, "-5 Unknown filtertype"},
		{`["start", [], 0, 0, "basic", {"filter_false_positives": 1}]`, "-3 JSON value of type number is not of expected type bool"},
		{`["status"]`, "null"},
		{`["abort"]`, "false"},
	})
	r.check("getindexinfo", [][2]string{{`[]`, `{}`}})
	r.check("syncwithvalidationinterfacequeue", [][2]string{{`[]`, "null"}})
}
