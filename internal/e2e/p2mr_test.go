package e2e_test

import (
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// The recorded P2MR chain, some blocks of which are merge-mined, and its tip.
const (
	p2mrChain = "../engine/qbit/testdata/chain.dat.gz"
	p2mrTip   = "5f4bdf46fd5a2f70fa36efe84cbd37fa5dbf9cd909b1777a7453303e20549c7e"
)

// A p2mrNode mines to a P2MR output.
type p2mrNode struct{ *trawlNode }

func (n p2mrNode) mine(_ testing.TB, count int) {
	n.Get(nil, "generatetodescriptor", count, "mr(pk(3d69debe97aea0e7a8e04ba7e6eec390013f9d276b447b6681730e71e3934ddf))")
}

func startP2MR(t *testing.T, blocks ...string) p2mrNode {
	t.Helper()
	addr := e2e.FreeAddr(t)
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: append(e2e.PeerArgs(addr), "-dialect=qbit"), Blocks: blocks})
	return p2mrNode{&trawlNode{d, addr}}
}

// coins is the hash of a node's unspent outputs.
func (n p2mrNode) coins() (sums struct {
	Hash string `json:"hash_serialized_3"`
},
) {
	n.Get(&sums, "gettxoutsetinfo")
	return sums
}

// Nodes of a P2MR chain sync from each other, headers with their payloads included,
// move to the longer of two branches, and lose nothing of it to a kill.
func TestP2MRChainsSync(t *testing.T) {
	t.Parallel()
	a := startP2MR(t, filepath.FromSlash(p2mrChain))
	e2e.Eventually(t, syncLimit, "the recorded tip", func() bool { return a.best(t) == p2mrTip })
	b := startP2MR(t)
	b.mine(t, 3) // a branch to leave
	b.connect(t, a.peer)
	agree(t, "the recorded chain", a, b)
	a.mine(t, 2)
	agree(t, "mined by one", a, b)
	b.disconnect(t, a.peer)
	a.mine(t, 2)
	b.mine(t, 4)
	b.connect(t, a.peer)
	agree(t, "the longer branch", b, a)
	if got, want := a.coins(), b.coins(); got != want || got.Hash == "" {
		t.Errorf("unspent outputs %s and %s", got.Hash, want.Hash)
	}
	before, coins := a.best(t), a.coins()
	a.Kill()
	a.Restart()
	if got := a.best(t); got != before || a.coins() != coins {
		t.Errorf("at %s after a kill, before at %s", got, before)
	}
	b.mine(t, 1)
	b.connect(t, a.peer)
	agree(t, "after the kill", b, a)
}
