package sync

import (
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
)

// heights are those from one to another.
func heights(from, to int32) (list []int32) {
	for h := from; h <= to; h++ {
		list = append(list, h)
	}
	return list
}

// The blocks behind a snapshot are asked for first; those before it when the tip is there, from full peers
// that have the snapshot's block, without those that the node has.
func TestBlocksBeforeSnapshot(t *testing.T) {
	const stored, baseHeight, topHeight = 10, 50, 70
	b := newBench(t, stored)
	top := b.extend(topHeight - stored)
	base, validated := top.Ancestor(baseHeight), b.node.Active().Tip()
	b.node.SetAssumed(&chainview.Assumed{Base: base, Validated: validated})
	b.node.SetActive(base)
	if b.chain.have(base) || b.chain.have(top.Ancestor(stored+1)) || !b.chain.have(validated) {
		t.Error("a block of before the snapshot counts as there, or one that is there does not")
	}
	if !b.chain.isBefore(base) || b.chain.isBefore(top) {
		t.Error("blocks before the snapshot")
	}
	ask := func(change func(p *peer, w *wirePeer)) []int32 {
		t.Helper()
		p, w := b.join(p2p.OutboundFullRelay)
		p.best = top
		change(p, w)
		b.download.fetchFor(p, true)
		b.download.forget(p)
		b.peers.list = b.peers.list[:0]
		return b.asked(w)
	}
	plain := func(*peer, *wirePeer) {}
	if got := ask(plain); !slices.Equal(got, heights(baseHeight+1, baseHeight+perPeer)) {
		t.Errorf("asked for %v, want those at the tip", got)
	}
	b.node.SetActive(top)
	if got := ask(plain); !slices.Equal(got, heights(stored+1, stored+perPeer)) {
		t.Errorf("asked for %v, want those before the snapshot", got)
	}
	// A peer with another tip of as much work is asked for that, and for as many of the others as it may owe still.
	sibling := b.node.AddHeader(top.Parent)
	other := append([]int32{topHeight}, heights(stored+1, stored+perPeer-1)...)
	if got := ask(func(p *peer, _ *wirePeer) { p.best = sibling }); !slices.Equal(got, other) {
		t.Errorf("asked for %v, want %v", got, other)
	}
	limited := func(p *peer, w *wirePeer) {
		w.info.Remote.Version.Services = wire.SFNodeNetworkLimited | wire.SFNodeWitness
		p.info = w.info
	}
	if got := ask(limited); len(got) > 0 {
		t.Errorf("asked a limited peer for %v", got)
	}
	if got := ask(func(p *peer, _ *wirePeer) { p.best = base.Parent }); len(got) > 0 {
		t.Errorf("asked a peer without the snapshot's block for %v", got)
	}
	for _, h := range []int32{stored + 1, stored + 3} {
		at := top.Ancestor(h)
		b.node.SetStatus(at, at.Status()|chainview.HasData)
	}
	b.node.SetAssumed(&chainview.Assumed{Base: base, Validated: top.Ancestor(stored + 1)})
	want := append([]int32{stored + 2}, heights(stored+4, stored+perPeer+2)...)
	if got := ask(plain); !slices.Equal(got, want) {
		t.Errorf("asked for %v, want %v", got, want)
	}
	b.node.SetAssumed(nil)
	if got := ask(plain); len(got) > 0 {
		t.Errorf("asked for %v without a snapshot", got)
	}
}
