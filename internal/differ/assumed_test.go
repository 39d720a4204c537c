package differ_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/e2e"
)

const anAddress = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"

// TestLoadedSnapshots has each node load a snapshot that the other one wrote, and compares what they
// tell before and after the blocks before it are validated.
func TestLoadedSnapshots(t *testing.T) {
	source := differ.Start(t, differ.Config{Peers: true})
	blocks := e2e.SnapshotChain(t)
	for _, block := range blocks {
		source.Get(nil, "submitblock", block)
	}
	dir := t.TempDir()
	trawls, cores := filepath.Join(dir, "trawl"), filepath.Join(dir, "core")
	source.Trawl.Get(nil, "dumptxoutset", trawls, "latest")
	if err := source.Core.Call(t.Context(), nil, "dumptxoutset", cores, "latest"); err != nil {
		t.Fatal(err)
	}
	one, err := os.ReadFile(trawls)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(cores)
	if err != nil || !bytes.Equal(one, other) {
		t.Errorf("the nodes write different files (%v)", err)
	}
	var above []string
	source.Trawl.Get(&above, "generatetoaddress", 30, anAddress)
	for _, hash := range above {
		var block string
		source.Trawl.Get(&block, "getblock", hash, 0)
		blocks = append(blocks, block)
	}

	p := differ.Start(t, differ.Config{
		Args: []string{"-blockfilterindex=1", "-coinstatsindex=1", "-txindex=1"},
	}, differ.Exception{
		Reason: "sizes on the disk and of memory are each node's own",
		Is: func(c differ.Call, r differ.Replies) bool {
			switch c.Method {
			case "getchainstates", "getblockchaininfo", "gettxoutsetinfo":
				return sameBut(r)
			}
			return false
		},
	}, differ.Exception{
		Reason: "a scan over filters that are not there is refused; Core leaves them out and calls it completed",
		Is:     func(c differ.Call, r differ.Replies) bool { return c.Method == "scanblocks" && !r.Trawl.OK() },
	})
	for _, block := range blocks[:40] {
		p.Get(nil, "submitblock", block)
	}
	for _, block := range blocks[40:] {
		p.Get(nil, "submitheader", block[:160])
	}
	p.Trawl.Get(nil, "loadtxoutset", cores)
	if err := p.Core.Call(t.Context(), nil, "loadtxoutset", trawls); err != nil {
		t.Fatal(err)
	}
	hash := func(height int) (hash string) {
		source.Trawl.Get(&hash, "getblockhash", height)
		return hash
	}
	ask := func() {
		t.Helper()
		p.Send(
			differ.Call{Method: "getchainstates"}, differ.Call{Method: "getblockchaininfo"},
			differ.Call{Method: "getindexinfo"}, differ.Call{Method: "getchaintips"},
			differ.Call{Method: "loadtxoutset", Params: []any{trawls}},
			differ.Call{Method: "gettxoutsetinfo", Params: []any{"hash_serialized_3", nil, false}},
			differ.Call{Method: "gettxoutsetinfo", Params: []any{"muhash", 30}},
			differ.Call{Method: "gettxoutsetinfo", Params: []any{"muhash", 100}},
			differ.Call{Method: "gettxoutsetinfo", Params: []any{"muhash"}},
			differ.Call{Method: "scantxoutset", Params: []any{"start", []any{"addr(" + anAddress + ")"}}},
			differ.Call{Method: "scanblocks", Params: []any{"start", []any{"addr(" + anAddress + ")"}}},
			differ.Call{Method: "scanblocks", Params: []any{"start", []any{"addr(" + anAddress + ")"}, 0, 40}},
			differ.Call{Method: "getchaintxstats"}, differ.Call{Method: "getdifficulty"},
			differ.Call{Method: "verifychain", Params: []any{4, 0}},
			differ.Call{Method: "getmininginfo"},
			differ.Call{Method: "pruneblockchain", Params: []any{10}},
		)
		for _, height := range []int{0, 40, 41, 100, 199, 200} {
			h := hash(height)
			p.Send(
				differ.Call{Method: "getblockhash", Params: []any{height}},
				differ.Call{Method: "getblockheader", Params: []any{h}},
				differ.Call{Method: "getblock", Params: []any{h}}, differ.Call{Method: "getblock", Params: []any{h, 3}},
				differ.Call{Method: "getblockstats", Params: []any{height}},
				differ.Call{Method: "getblockfilter", Params: []any{h}},
				differ.Call{Method: "getchaintxstats", Params: []any{1, h}},
			)
		}
	}
	ask()
	p.Trawl.Get(nil, "addnode", source.Trawl.P2P, "onetry")
	if err := p.Core.Call(t.Context(), nil, "addnode", source.Trawl.P2P, "onetry"); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, time.Minute, "both have validated all", func() bool { return validated(t, p) })
	ask()
	p.Alive()
}

// validated reports whether both nodes have one chain state, at the tip.
func validated(t *testing.T, p *differ.Pair) bool {
	t.Helper()
	type states struct{ ChainStates []struct{ Blocks int } }
	var trawl, core states
	p.Trawl.Get(&trawl, "getchainstates")
	if err := p.Core.Call(t.Context(), &core, "getchainstates"); err != nil {
		t.Fatal(err)
	}
	done := func(s states) bool { return len(s.ChainStates) == 1 && s.ChainStates[0].Blocks == 230 }
	return done(trawl) && done(core)
}

// ownNumbers are those that tell of a node's own files and memory.
var ownNumbers = regexp.MustCompile(`"(coins_db_cache_bytes|coins_tip_cache_bytes|size_on_disk|disk_size)":[0-9]+`)

// sameBut reports whether replies are the same but for a node's own numbers.
func sameBut(r differ.Replies) bool {
	return ownNumbers.ReplaceAllString(r.Trawl.String(), "") == ownNumbers.ReplaceAllString(r.Core.String(), "")
}
