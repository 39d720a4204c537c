package e2e_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// afterSnapshot is how many blocks the chain has behind its snapshot.
const afterSnapshot = 60

// addressOfTests is one of regtest that nobody looks for.
const addressOfTests = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"

// A snapshotSource has all blocks, and a file of the unspent outputs in the middle.
type snapshotSource struct {
	*e2e.Daemon

	blocks []string // in hex
	file   string
}

func startSnapshotSource(t *testing.T) *snapshotSource {
	t.Helper()
	s := &snapshotSource{file: filepath.Join(t.TempDir(), "utxo.dat"), blocks: e2e.SnapshotChain(t)}
	s.Daemon = e2e.Start(t, e2e.Config{
		Chain: "regtest", P2P: e2e.FreeAddr(t),
		Args: []string{"-blockfilterindex=1", "-txindex=1", "-coinstatsindex=1", "-txospenderindex=1"},
	})
	for _, block := range s.blocks {
		s.Get(nil, "submitblock", block)
	}
	s.Get(nil, "dumptxoutset", s.file, "latest")
	var hashes []string
	s.Get(&hashes, "generatetoaddress", afterSnapshot, addressOfTests)
	for _, hash := range hashes {
		var block string
		s.Get(&block, "getblock", hash, 0)
		s.blocks = append(s.blocks, block)
	}
	return s
}

// A chain state, as getchainstates tells it.
type chainState struct {
	Blocks    int
	Validated bool
	Snapshot  string `json:"snapshot_blockhash"`
}

func statesOf(d *e2e.Daemon) []chainState {
	var got struct{ ChainStates []chainState }
	d.Get(&got, "getchainstates")
	return got.ChainStates
}

// TestKill9Snapshot kills a node while it reads a snapshot, validates what comes before, and goes over
// to one state. Once it has acknowledged the snapshot, it is never below it, and in the end it has what a
// node has that validated all blocks in their order.
func TestKill9Snapshot(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	source := startSnapshotSource(t)
	for range count(t, "TRAWL_SOAK", 1) {
		d := e2e.Start(t, e2e.Config{
			Chain: "regtest", Args: []string{"-blockfilterindex=1", "-txindex=1", "-coinstatsindex=1", "-txospenderindex=1"},
		})
		for _, block := range source.blocks {
			d.Get(nil, "submitheader", block[:160])
		}
		kills := killLoading(t, random, source, d)
		looking := lookBehind(t, d, source.blocks)
		kills += killValidating(t, random, source, d, looking)
		source.compare(t, d)
		looking.compare(t, d, source)
		d.Stop()
		d.Restart()
		source.compare(t, d)
		t.Logf("%d kills", kills)
		d.Stop()
	}
}

// moment returns when to kill: later with each kill, so that a busy machine comes to an end, too.
func moment(random *rand.Rand, unit time.Duration, kills int) time.Duration {
	return time.Duration(random.Int64N(int64(unit) << min(kills, 10)))
}

// killLoading has the snapshot loaded, until that is acknowledged.
func killLoading(t *testing.T, random *rand.Rand, source *snapshotSource, d *e2e.Daemon) (kills int) {
	t.Helper()
	for acknowledged := false; ; kills++ {
		if len(statesOf(d)) == 2 {
			break
		}
		if acknowledged {
			t.Fatalf("the snapshot is lost after %d kills\nlog:\n%s", kills, d.LogTail())
		}
		call, answer := d.Call, make(chan error, 1)
		go func() { answer <- call(context.WithoutCancel(t.Context()), nil, "loadtxoutset", source.file) }()
		<-time.After(moment(random, 50*time.Millisecond, kills))
		d.Kill()
		acknowledged = <-answer == nil
		d.Restart()
	}
	states := statesOf(d)
	if !states[0].Validated || states[1].Validated || states[1].Blocks < len(source.blocks)-afterSnapshot ||
		states[1].Snapshot == "" {
		t.Fatalf("states %+v", states)
	}
	return kills
}

// belowSnapshot is what the coinbases below the snapshot pay to, and one of them above it.
const belowSnapshot = "bcrt1qft5p2uhsdcdc3l2ua4ap5qqfg4pjaqlp250x7us7a8qqhrxrxfsqseac85"

// A lookout is who needs blocks before the snapshot: searches, and wallets that watch from the first block
// on and from the snapshot on.
type lookout struct{ bounded, following string }

func lookBehind(t *testing.T, d *e2e.Daemon, blocks []string) *lookout {
	t.Helper()
	var bounded, following struct{ ID string }
	scripts := []any{"addr(" + belowSnapshot + ")", "addr(" + addressOfTests + ")"}
	d.Get(&bounded, "createsearch", scripts[:1], map[string]any{"stop_height": len(blocks) - afterSnapshot})
	d.Get(&following, "createsearch", scripts, map[string]any{"follow": true})
	for _, name := range []string{"first", "second"} {
		d.Get(nil, "createwallet", name, true, true)
		var sum struct{ Descriptor string }
		d.Get(&sum, "getdescriptorinfo", "addr("+belowSnapshot+")")
		var got []struct {
			Success bool
			Error   struct{ Code int }
		}
		d.Get(&got, "importdescriptors", []any{map[string]any{"desc": sum.Descriptor, "timestamp": 0}})
		if len(got) != 1 || got[0].Success || got[0].Error.Code != -1 {
			t.Errorf("imported over blocks that are missing: %+v", got)
		}
		d.Get(nil, "unloadwallet", name)
	}
	return &lookout{bounded.ID, following.ID}
}

// check looks at who cannot be done while blocks are missing.
func (l *lookout) check(t *testing.T, d *e2e.Daemon) {
	t.Helper()
	var search struct {
		State  string
		Height int
	}
	var scan struct{ Completed bool }
	d.Get(&search, "getsearch", l.bounded)
	scanned := d.Call(t.Context(), &scan, "scanblocks", "start", []any{"addr(" + belowSnapshot + ")"})
	if len(statesOf(d)) == 2 && (search.State == "done" || scanned == nil && scan.Completed) {
		t.Errorf("with two states: search %+v, scan %v %+v", search, scanned, scan)
	}
}

// compare looks at what was found in the end.
func (l *lookout) compare(t *testing.T, d *e2e.Daemon, source *snapshotSource) {
	t.Helper()
	var bounded, following struct {
		State  string
		Found  int
		Height int
	}
	e2e.Eventually(t, time.Minute, "the searches are in step", func() bool {
		d.Get(&bounded, "getsearch", l.bounded)
		d.Get(&following, "getsearch", l.following)
		return bounded.State == "done" && following.Height == len(source.blocks)
	})
	if below := len(source.blocks) - afterSnapshot; bounded.Found != below || following.Found != len(source.blocks) {
		t.Errorf("the searches have found %+v, %+v", bounded, following)
	}
	for _, name := range []string{"first", "second"} {
		d.Get(nil, "loadwallet", name)
		var info struct{ TxCount int }
		d.Get(nil, "rescanblockchain")
		d.Get(&info, "getwalletinfo")
		if below := len(source.blocks) - afterSnapshot; info.TxCount != below {
			t.Errorf("wallet %s has %d transactions, want %d", name, info.TxCount, below)
		}
		d.Get(nil, "unloadwallet", name)
	}
}

// killValidating has the node fetch all blocks, until it has one state.
func killValidating(
	t *testing.T, random *rand.Rand, source *snapshotSource, d *e2e.Daemon, looking *lookout,
) (kills int) {
	t.Helper()
	height := len(source.blocks) - afterSnapshot
	for len(statesOf(d)) == 2 {
		looking.check(t, d)
		d.Get(nil, "addnode", source.P2P, "onetry")
		<-time.After(moment(random, 100*time.Millisecond, kills))
		d.Get(&height, "getblockcount")
		d.Kill()
		kills++
		d.Restart()
		var now int
		if d.Get(&now, "getblockcount"); now < height && height <= len(source.blocks)-afterSnapshot {
			t.Fatalf("at height %d after %d\nlog:\n%s", now, height, d.LogTail())
		}
	}
	d.Get(nil, "addnode", source.P2P, "onetry")
	e2e.Eventually(t, time.Minute, "the node is at the tip", func() bool {
		d.Get(&height, "getblockcount")
		return height == len(source.blocks)
	})
	return kills
}

// compare compares what a node tells with what the source does.
func (s *snapshotSource) compare(t *testing.T, d *e2e.Daemon) {
	t.Helper()
	e2e.Eventually(t, time.Minute, "the indexes are in step", func() bool {
		var indexes map[string]struct {
			Synced bool
			Height int `json:"best_block_height"`
		}
		d.Get(&indexes, "getindexinfo")
		for _, x := range indexes {
			if !x.Synced || x.Height != len(s.blocks) {
				return false
			}
		}
		return len(indexes) == 4
	})
	ask := func(d *e2e.Daemon, method string, params ...any) string {
		var raw json.RawMessage
		d.Get(&raw, method, params...)
		return string(raw)
	}
	calls := [][]any{
		{"gettxoutsetinfo", "hash_serialized_3"},
		{"gettxoutsetinfo", "muhash", 200, true},
		{"gettxoutsetinfo", "muhash", 130, true},
		{"getchaintxstats", 100},
		{"scanblocks", "start", []any{"addr(" + addressOfTests + ")"}},
		{"scanblocks", "start", []any{"raw(51)"}, 0, 220},
		{"verifychain", 4, 0},
	}
	var spent []any
	for height := 0; height <= len(s.blocks); height += 20 {
		var hash string
		s.Get(&hash, "getblockhash", height)
		calls = append(calls, []any{"getblockfilter", hash}, []any{"getblock", hash, 3})
		var block struct {
			Tx []struct {
				TxID string
				Vin  []struct {
					TxID string
					Vout int
				}
			}
		}
		s.Get(&block, "getblock", hash, 2)
		for _, tx := range block.Tx {
			spent = append(spent, map[string]any{"txid": tx.TxID, "vout": 0})
			for _, in := range tx.Vin {
				if in.TxID != "" {
					spent = append(spent, map[string]any{"txid": in.TxID, "vout": in.Vout})
				}
			}
		}
	}
	calls = append(calls, []any{"gettxspendingprevout", spent, map[string]any{"return_spending_tx": true}})
	for _, c := range calls {
		method, params := c[0].(string), c[1:]
		got, want := ask(d, method, params...), ask(s.Daemon, method, params...)
		if got != want && !sameSet(got, want) {
			t.Errorf("%s %v:\n%s\nwant\n%s", method, params, got, want)
		}
	}
}

// sameSet reports whether two replies of gettxoutsetinfo are the same but for the size on the disk.
func sameSet(a, b string) bool {
	var x, y map[string]any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	_, isSet := x["txouts"]
	delete(x, "disk_size")
	delete(y, "disk_size")
	one, err := json.Marshal(x)
	if err != nil {
		return false
	}
	other, err := json.Marshal(y)
	return isSet && err == nil && string(one) == string(other)
}
