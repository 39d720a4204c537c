package sync

import (
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
)

// Services of a network some of whose nodes delete old witnesses.
const (
	testPruned  wire.ServiceFlag = 1 << 12
	testArchive wire.ServiceFlag = 1 << 13
)

// withPruners returns the bench of such a network.
func withPruners(t *testing.T, height int) *bench {
	t.Helper()
	b := newBench(t, height)
	n := b.chain.cfg.Network
	n.Archive, n.WitnessPruned, n.LeavesForNotFound, n.DirectFetchWork = testArchive, testPruned, true, true
	n.StripDepth = 100
	return b
}

// joinWith connects a peer that offers services, and whose best block is known.
func (b *bench) joinWith(best *chainview.Block, services wire.ServiceFlag) (*peer, *wirePeer) {
	p, w := b.join(p2p.Manual)
	p.info.Remote.Version.Services = services
	p.best = best
	return p, w
}

func TestPrunedPeersAreAskedForRecentBlocks(t *testing.T) {
	b := withPruners(t, 1)
	depth := b.chain.cfg.Network.StripDepth
	best := b.extend(int(depth) + 20)
	p, w := b.joinWith(best, wire.SFNodeNetwork|wire.SFNodeWitness|testPruned)
	b.download.fetchFor(p, true)
	got := b.asked(w)
	if len(got) != perPeer || got[0] != best.Height-depth {
		t.Fatalf("asked for blocks %v of a chain of %d", got, best.Height)
	}

	archive, w := b.joinWith(best, wire.SFNodeNetwork|wire.SFNodeWitness)
	b.download.fetchFor(archive, true)
	if got := b.asked(w); len(got) != perPeer || got[0] != 2 {
		t.Fatalf("asked an archive for blocks %v", got)
	}
}

// Where no block has witnesses, old blocks are asked for as peers have them.
func TestPrunedPeersGiveBlocksFromBeforeSegwit(t *testing.T) {
	b := withPruners(t, 1)
	for i := range b.chain.cfg.Network.Deployments {
		if d := &b.chain.cfg.Network.Deployments[i]; d.Name == "segwit" {
			d.Height = 10
		}
	}
	p, w := b.joinWith(b.extend(200), wire.SFNodeNetwork|wire.SFNodeWitness|testPruned)
	b.download.fetchFor(p, true)
	var heights []int32
	for _, m := range w.take() {
		for _, v := range m.(*wire.MsgGetData).InvList {
			at := b.node.Lookup(&v.Hash).Height
			heights = append(heights, at)
			if want := at < 10; want != (v.Type == wire.InvTypeBlock) {
				t.Errorf("block %d asked for as %v", at, v.Type)
			}
			if f := b.download.requestOf(p, v.Hash); f.stripped != (at < 10) {
				t.Errorf("block %d: stripped is %v", at, f.stripped)
			}
		}
	}
	if !slices.Equal(heights[:8], []int32{2, 3, 4, 5, 6, 7, 8, 9}) || heights[8] != 101 {
		t.Errorf("asked for %v", heights)
	}
}

func TestNotFound(t *testing.T) {
	const (
		full     = wire.SFNodeNetwork | wire.SFNodeWitness
		limited  = wire.SFNodeNetworkLimited | wire.SFNodeWitness
		whole    = wire.InvTypeWitnessBlock
		without  = wire.InvTypeBlock
		notFound = "block not found"
	)
	for name, c := range map[string]struct {
		services wire.ServiceFlag
		typ      wire.InvType
		height   int32 // of the block, in a chain of 150
		best     int32 // of the peer
		archive  bool  // -connectarchive
		stripped bool

		left   string
		pruned bool
	}{
		"old":              {full, whole, 50, 150, false, false, "", true},
		"of an archive":    {full, whole, 50, 150, true, false, "archive peer lacks witnesses", true},
		"known to be so":   {full | testPruned, whole, 50, 150, false, false, "", false},
		"recent":           {full, whole, 51, 150, false, false, notFound, false},
		"without":          {full, without, 50, 150, false, false, notFound, false},
		"asked without":    {full | testPruned, whole, 50, 150, false, true, notFound, false},
		"limited":          {limited, whole, 50, 150, false, false, notFound, false},
		"of an old chain":  {full, whole, 50, 149, false, false, notFound, false},
		"of unknown chain": {full, whole, 50, -1, false, false, notFound, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := withPruners(t, 1)
			tip := b.extend(149)
			p, w := b.joinWith(tip.Ancestor(c.best), c.services)
			p.info.Archive = c.archive
			at := tip.Ancestor(c.height)
			b.download.addRequest(p, at).stripped = c.stripped
			m := wire.NewMsgNotFound()
			_ = m.AddInvVect(wire.NewInvVect(wire.InvTypeWitnessBlock, &chainhash.Hash{1})) // nobody asked for it
			_ = m.AddInvVect(wire.NewInvVect(c.typ, &at.Hash))
			b.download.notFound(p, m)
			if w.left != c.left || w.info.NoWitnesses.Load() != c.pruned {
				t.Errorf("left %q, pruned %v", w.left, w.info.NoWitnesses.Load())
			}
			if asked := b.download.isWanted(at.Hash); asked != (c.left == notFound) {
				t.Errorf("still asked for: %v", asked)
			}
			if c.pruned != (p.serves(testPruned) && c.services&testPruned == 0) {
				t.Errorf("services %x", p.info.Remote.Version.Services)
			}
		})
	}
}

// A block that nobody asked this peer for says nothing, and Bitcoin's nodes take no notice at all.
func TestNotFoundIsIgnored(t *testing.T) {
	b := withPruners(t, 1)
	tip := b.extend(3)
	asked, askedWire := b.joinWith(tip, wire.SFNodeNetwork|wire.SFNodeWitness)
	other, w := b.joinWith(tip, wire.SFNodeNetwork|wire.SFNodeWitness)
	b.download.addRequest(asked, tip)
	m := &wire.MsgNotFound{InvList: []*wire.InvVect{wire.NewInvVect(wire.InvTypeWitnessBlock, &tip.Hash)}}
	b.download.notFound(other, m)
	if w.left != "" || !b.download.isWanted(tip.Hash) {
		t.Errorf("left %q", w.left)
	}
	b.chain.cfg.Network.LeavesForNotFound = false
	b.download.notFound(asked, m)
	if !b.download.isWanted(tip.Hash) || askedWire.left != "" {
		t.Errorf("taken back, or left %q", askedWire.left)
	}
}

func TestDirectFetchNeedsWork(t *testing.T) {
	for _, needs := range []bool{true, false} {
		b := withPruners(t, 1)
		b.chain.cfg.Network.DirectFetchWork = needs
		tip := b.extend(2)
		b.chain.cfg.MinimumWork = tip.Work()
		b.chain.cfg.MinimumWork.Lsh(b.chain.cfg.MinimumWork, 1)
		p, w := b.joinWith(tip, wire.SFNodeNetwork|wire.SFNodeWitness)
		b.download.fetchDirectly(p, tip)
		if asked := len(b.asked(w)) > 0; asked == needs {
			t.Errorf("with the rule %v: asked %v", needs, asked)
		}
	}
}

// A fetch for somebody who needs an old block goes by peers that may have deleted its witnesses.
func TestFetchesPassPrunedPeersBy(t *testing.T) {
	b := withPruners(t, 1)
	tip := b.extend(149)
	old := tip.Ancestor(10)
	_, pruned := b.joinWith(tip, wire.SFNodeNetwork|wire.SFNodeWitness|testPruned)
	liar, lying := b.joinWith(tip, wire.SFNodeNetwork|wire.SFNodeWitness)
	_, archive := b.joinWith(tip, wire.SFNodeNetwork|wire.SFNodeWitness)
	b.fetches.add(old.Hash, fetchCaller{gone: func() bool { return false }, answer: func([]byte, error) {}})
	if len(pruned.take()) != 0 || len(b.asked(lying)) != 1 {
		t.Fatal("not the first peer with witnesses was asked")
	}
	b.fetches.notFound(liar, &wire.MsgNotFound{
		InvList: []*wire.InvVect{wire.NewInvVect(wire.InvTypeWitnessBlock, &old.Hash)},
	})
	if !lying.info.NoWitnesses.Load() || len(b.asked(archive)) != 1 {
		t.Errorf("pruned %v", lying.info.NoWitnesses.Load())
	}
	if strings.Contains(lying.left, "found") {
		t.Errorf("left %q", lying.left)
	}
}
