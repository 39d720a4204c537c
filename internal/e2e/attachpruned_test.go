package e2e_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// A Core that has pruned is scanned in all heights if it keeps filters: blocks that have
// to be read come from its peers. Without filters it is said why not, and what to do.
func TestLiveAttachPruned(t *testing.T) {
	t.Parallel()
	at := e2e.FreeAddr(t)
	peer := startBitcoind(t, "listen=1", "bind="+at)
	c := startBitcoind(t, "prune=1", "fastprune=1", "connect="+at)
	bare := startBitcoind(t, "prune=1", "fastprune=1", "connect="+at, "blockfilterindex=0")
	peer.get(nil, "createwallet", "w")
	var early, late string
	peer.get(&early, "getnewaddress")
	peer.get(&late, "getnewaddress")
	peer.get(nil, "generatetoaddress", 20, early)
	peer.get(nil, "generatetoaddress", 780, late)
	var tip string
	peer.get(&tip, "getbestblockhash")
	for _, pruned := range []*bitcoind{c, bare} {
		e2e.Eventually(t, time.Minute, "it has all blocks", func() bool {
			var best string
			pruned.get(&best, "getbestblockhash")
			return best == tip
		})
		pruned.get(nil, "pruneblockchain", 400)
	}
	var info struct{ PruneHeight int }
	if c.get(&info, "getblockchaininfo"); info.PruneHeight < 100 {
		t.Fatalf("pruned below %d", info.PruneHeight)
	}
	wantRefusal(t, bare)
	wantFrom(t, bare, peer, late)

	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-attach=" + c.dir}})
	d.WaitTip(tip, 800, true)
	type scan struct {
		RelevantBlocks []string `json:"relevant_blocks"`
	}
	var ours, theirs scan
	scripts := []string{"addr(" + early + ")"}
	exact := map[string]bool{"filter_false_positives": true}
	d.Get(&ours, "scanblocks", "start", scripts, 0, 800, "basic", exact)
	peer.get(&theirs, "scanblocks", "start", scripts, 0, 800, "basic", exact)
	if len(ours.RelevantBlocks) != 20 || !slices.Equal(ours.RelevantBlocks, theirs.RelevantBlocks) {
		t.Errorf("%d blocks, %d with a Core that has all", len(ours.RelevantBlocks), len(theirs.RelevantBlocks))
	}
	var desc struct{ Descriptor string }
	d.Get(&desc, "getdescriptorinfo", scripts[0])
	d.Get(nil, "createwallet", "ours", true)
	d.Get(nil, "importdescriptors", []map[string]any{{"desc": desc.Descriptor, "timestamp": 0}})
	var received, want float64
	d.Get(&received, "getreceivedbyaddress", early, 1, true)
	peer.get(&want, "getreceivedbyaddress", early, 1, true)
	if received != want || want == 0 {
		t.Errorf("received %v, want %v", received, want)
	}
}

// wantRefusal has a node end beside a Core that has pruned and keeps no filters.
func wantRefusal(t *testing.T, c *bitcoind) {
	t.Helper()
	_, port, _ := strings.Cut(e2e.FreeAddr(t), ":")
	p := e2e.Run(t, e2e.Program(t, "trawld"), "-attach="+c.dir, "-datadir="+t.TempDir(), "-rpcport="+port)
	p.Wait(t)
	if got := p.Stderr(); !strings.Contains(got, "has pruned its blocks below height") ||
		!strings.Contains(got, "blockfilterindex=1") {
		t.Errorf("%s", got)
	}
}

// wantFrom has a node index from the first block on that a Core has: scans from there on
// answer as a Core that has all, those from before are refused.
func wantFrom(t *testing.T, c, peer *bitcoind, address string) {
	t.Helper()
	var info struct {
		PruneHeight int
		Best        string `json:"bestblockhash"`
	}
	c.get(&info, "getblockchaininfo")
	from := info.PruneHeight
	d := e2e.Start(t, e2e.Config{
		Chain: "regtest", Args: []string{"-attach=" + c.dir, "-attachfrom=" + strconv.Itoa(from)},
	})
	d.WaitTip(info.Best, 800, true)
	var ours, theirs struct {
		RelevantBlocks []string `json:"relevant_blocks"`
	}
	scripts := []string{"addr(" + address + ")"}
	d.Get(&ours, "scanblocks", "start", scripts, from, 800, "basic")
	peer.get(&theirs, "scanblocks", "start", scripts, from, 800, "basic")
	if len(ours.RelevantBlocks) < 100 || !slices.Equal(ours.RelevantBlocks, theirs.RelevantBlocks) {
		t.Errorf("%d blocks from %d on, %d with a Core that has all",
			len(ours.RelevantBlocks), from, len(theirs.RelevantBlocks))
	}
	if err := d.Call(t.Context(), nil, "scanblocks", "start", scripts, from-1, 800, "basic"); err == nil {
		t.Errorf("a scan from %d is not refused, filters begin at %d", from-1, from)
	}
}
