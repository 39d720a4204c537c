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
		Args: []string{"-blockfilterindex=1", "-txindex=1", "-coinstatsindex=1"},
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
			Chain: "regtest", Args: []string{"-blockfilterindex=1", "-txindex=1", "-coinstatsindex=1"},
		})
		for _, block := range source.blocks {
			d.Get(nil, "submitheader", block[:160])
		}
		kills := killLoading(t, random, source, d)
		kills += killValidating(t, random, source, d)
		source.compare(t, d)
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

// killValidating has the node fetch all blocks, until it has one state.
func killValidating(t *testing.T, random *rand.Rand, source *snapshotSource, d *e2e.Daemon) (kills int) {
	t.Helper()
	height := len(source.blocks) - afterSnapshot
	for len(statesOf(d)) == 2 {
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
		return len(indexes) == 3
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
	for height := 0; height <= len(s.blocks); height += 20 {
		var hash string
		s.Get(&hash, "getblockhash", height)
		calls = append(calls, []any{"getblockfilter", hash}, []any{"getblock", hash, 3})
	}
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
