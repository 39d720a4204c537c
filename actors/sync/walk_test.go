package sync

import (
	"math/big"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// The blocks of a peer's chain that are asked for are the lowest that are neither there nor on their way. None is
// behind an invalid block. If too much waits, only the block that all wait for is asked for.
func TestWhichBlocksAreAskedFor(t *testing.T) {
	owed := func(heights ...int32) func(b *bench, top *chainview.Block) {
		return func(b *bench, top *chainview.Block) {
			other, _ := b.join(p2p.Inbound)
			for _, h := range heights {
				b.download.addRequest(other, top.Ancestor(h))
			}
		}
	}
	waits := func(heights ...int32) func(b *bench, top *chainview.Block) {
		return func(b *bench, top *chainview.Block) {
			for _, h := range heights {
				b.download.buffer.put(&pendingBlock{block: top.Ancestor(h)}, false)
			}
		}
	}
	has := func(status chainview.Status, heights ...int32) func(b *bench, top *chainview.Block) {
		return func(b *bench, top *chainview.Block) {
			for _, h := range heights {
				b.node.SetStatus(top.Ancestor(h), status)
			}
		}
	}
	both := func(first, second func(b *bench, top *chainview.Block)) func(b *bench, top *chainview.Block) {
		return func(b *bench, top *chainview.Block) {
			first(b, top)
			second(b, top)
		}
	}
	full := func(b *bench, _ *chainview.Block) { b.download.buffer.waiting = maxReadyBytes + 1 }
	for name, test := range map[string]struct {
		change func(b *bench, top *chainview.Block)
		want   []int32
		common int32
	}{
		"all":                      {func(*bench, *chainview.Block) {}, heights(2, 6), 1},
		"stored ones":              {has(chainview.HasData, 2, 3, 5), []int32{4, 6, 7, 8, 9}, 3},
		"an invalid one":           {has(chainview.Failed, 4), []int32{2, 3}, 1},
		"asked of another":         {owed(2, 4), []int32{3, 5, 6, 7, 8}, 1},
		"one that waits":           {waits(3), []int32{2, 4, 5, 6, 7}, 1},
		"full":                     {full, []int32{2}, 1},
		"full, and one is stored":  {both(full, has(chainview.HasData, 2)), []int32{3}, 2},
		"full, and one was asked":  {both(full, owed(2)), nil, 1},
		"full, and another was":    {both(full, owed(3)), []int32{2}, 1},
		"full, and one waits":      {both(full, waits(2)), nil, 1},
		"pruned on another branch": {has(chainview.HasData|chainview.Pruned, 2), heights(2, 6), 1},
	} {
		b := newBench(t, 1)
		top := b.extend(40)
		test.change(b, top)
		p, _ := b.join(p2p.OutboundFullRelay)
		p.best = top
		blocks, staller := b.download.missing(p, 5)
		var got []int32
		for _, at := range blocks {
			got = append(got, at.Height)
		}
		if !slices.Equal(got, test.want) || staller != nil || p.common.Height != test.common {
			t.Errorf("%s: %v, want %v; in common %d", name, got, test.want, p.common.Height)
		}
	}
	b := newBench(t, 10)
	p, _ := b.join(p2p.OutboundFullRelay)
	for name, best := range map[string]*chainview.Block{
		"nothing known": nil, "the same": b.chain.tip, "less": b.node.Active().At(5),
		"a branch with less": b.node.AddHeader(b.node.Active().At(5)),
	} {
		p.best, p.common = best, nil
		if blocks, staller := b.download.missing(p, 5); len(blocks) > 0 || staller != nil {
			t.Errorf("%s: %d blocks", name, len(blocks))
		}
	}
	p.best, p.common = b.node.AddHeader(b.node.Active().At(9)), nil // as much work as the tip
	if blocks, _ := b.download.missing(p, 5); len(blocks) != 1 || p.common != b.node.Active().At(9) {
		t.Errorf("with as much work: %d blocks", len(blocks))
	}
	b.chain.cfg.MinimumWork = new(big.Int).Add(p.best.Work(), big.NewInt(1))
	if blocks, _ := b.download.missing(p, 5); len(blocks) > 0 {
		t.Error("with less than the least work")
	}
}

// The best header has the most work of all headers that are not known to be invalid, and is the first in requests for
// headers.
func TestBestHeader(t *testing.T) {
	b := newBench(t, 10)
	best := func(what string, want *chainview.Block) {
		t.Helper()
		if b.chain.findBest(); b.chain.best != want {
			t.Errorf("%s: the best is %d", what, b.chain.best.Height)
		}
		p, w := b.join(p2p.OutboundFullRelay)
		b.headers.unconnected(p, []header{{}})
		m, ok := w.sent[0].(*wire.MsgGetHeaders)
		if !ok || *m.BlockLocatorHashes[0] != want.Hash {
			t.Errorf("%s: asked from another", what)
		}
	}
	best("at first", b.chain.tip)
	top := b.extend(3)
	best("with headers", top)
	b.node.AddHeader(top.Parent)
	if b.chain.findBest(); b.chain.best.Height != 13 {
		t.Errorf("of two: %d", b.chain.best.Height)
	}
	b.node.SetStatus(top.Parent.Parent, chainview.Failed)
	for _, at := range b.node.Tips() {
		for ; at.Height > 11; at = at.Parent {
			b.node.SetStatus(at, chainview.FailedAncestor)
		}
	}
	best("with an invalid one", b.node.Active().Tip())
	if on := b.chain.isOnBest(top); on || !b.chain.isOnBest(b.node.Active().At(4)) {
		t.Errorf("an invalid header is on the best chain: %v", on)
	}
}

// A peer that owes all that it may is asked for no part of a compact block.
func TestCompactBlockOfBusyPeer(t *testing.T) {
	for owes, asks := range map[int32]bool{perPeer - 1: true, perPeer: false} {
		b, remote := newBench(t, 20), newBench(t, 20)
		coinbase, err := remote.node.Block(&remote.chain.tip.Hash)
		if err != nil {
			t.Fatal(err)
		}
		spend := wire.NewMsgTx(2)
		spend.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: coinbase.Transactions[0].TxHash()}})
		spend.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
		next := remote.mine(spend)
		block, _ := remote.node.Block(&next.Hash)
		at, err := b.node.Tree.Add(&block.Header, next.Work(), 0)
		if err != nil {
			t.Fatal(err)
		}
		p, w := b.join(p2p.OutboundFullRelay)
		for h := range owes {
			b.download.addRequest(p, b.node.Active().At(h))
		}
		b.compact.received(p, at, codec.NewCmpctBlock(block, nil))
		if got := w.commands(); (got == "getblocktxn") != asks || !asks && got != "" {
			t.Errorf("it owes %d: sent %q", owes, got)
		}
	}
}

// Headers with just the least work are kept.
func TestJustTheLeastWork(t *testing.T) {
	remote := newBench(t, 12)
	var list []header
	for h := int32(11); h <= 12; h++ {
		at := remote.node.Active().At(h).Header()
		list = append(list, newHeader(&at, nil))
	}
	for more, taken := range map[int64]bool{0: true, 1: false} {
		b := newBench(t, 10)
		b.chain.cfg.MinimumWork = new(big.Int).Add(remote.chain.tip.Work(), big.NewInt(more))
		p, _ := b.join(p2p.OutboundFullRelay)
		if _, ok := b.headers.received(p, list); ok != taken || p.presync != nil {
			t.Errorf("with %d less than the least work: taken %v", more, ok)
		}
	}
}
