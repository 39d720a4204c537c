package chainrpc_test

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

type loadSnapshot = ask.Call[messages.LoadSnapshot, messages.LoadedSnapshot]

// The file is looked at first, then the memory pool, and all of it last; refusals are in Core's words.
func TestLoadTxOutSet(t *testing.T) {
	r := newRig(t, "regtest")
	chain, pool := r.sys.Probe("owner"), r.sys.Probe("pool")
	r.deps.Actor, r.deps.Pool, r.deps.Dir = chain.Ref, pool.Ref, "/data"
	r.build()
	const unable = "-32603 Unable to load UTXO snapshot: "
	block := chainhash.Hash{5}
	loaded := messages.LoadedSnapshot{Block: messages.Tip{Hash: block, Height: 4}, Coins: 7}
	for name, test := range map[string]struct {
		first error
		pool  int // transactions in it; -1: it is not asked
		whole bool
		then  error
		want  string
	}{
		"no file": {messages.ErrNotOpened, -1, false, nil, "-8 Couldn't open file /data/x for reading."},
		"head": {
			&messages.SnapshotError{Reason: "why", Head: true}, -1, false, nil, "-22 Unable to parse metadata: why",
		},
		"refused": {&messages.SnapshotError{Reason: "why"}, -1, false, nil, unable + "why. (/data/x)"},
		"pool":    {nil, 1, false, nil, unable + "Can't activate a snapshot when mempool not empty. (/data/x)"},
		"content": {nil, 0, true, &messages.SnapshotError{Reason: "why"}, unable + "why. (/data/x)"},
		"loaded": {
			nil, 0, true, nil, `{"coins_loaded":7,"tip_hash":"` + block.String() + `","base_height":4,"path":"/data/x"}`,
		},
	} {
		got := r.start("loadtxoutset", `["x"]`)
		call := actortest.Expect[*loadSnapshot](chain)
		if call.Req != (messages.LoadSnapshot{Path: "/data/x", Only: true}) {
			t.Errorf("%s: asked %+v", name, call.Req)
		}
		call.Answer(messages.LoadedSnapshot{}, test.first)
		if test.pool >= 0 {
			actortest.Expect[*ask.Call[messages.GetPoolInfo, messages.PoolInfo]](pool).Answer(
				messages.PoolInfo{Size: test.pool}, nil)
		}
		if test.whole {
			call := actortest.Expect[*loadSnapshot](chain)
			if call.Req != (messages.LoadSnapshot{Path: "/data/x"}) {
				t.Errorf("%s: asked %+v", name, call.Req)
			}
			call.Answer(loaded, test.then)
		}
		if text := <-got; text != test.want {
			t.Errorf("%s: got %s\nwant %s", name, text, test.want)
		}
	}

	got := r.start("loadtxoutset", `[""]`)
	call := actortest.Expect[*loadSnapshot](chain)
	if call.Req.Path != "" { // not the folder
		t.Errorf("no name: asked %+v", call.Req)
	}
	call.Answer(messages.LoadedSnapshot{}, messages.ErrNotOpened)
	if text := <-got; text != "-8 Couldn't open file  for reading." {
		t.Errorf("no name: got %s", text)
	}
}
