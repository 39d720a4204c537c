package sync

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/poolview"
)

// Near the tip a peer is asked at once for the blocks that it announces, the lowest first, and at most as many as it
// may owe. A single block is asked for as a compact block if nothing else is on its way.
func TestFetchDirectly(t *testing.T) {
	const height = 20
	plain := func(*bench, *peer, *chainview.Block) {}
	owes := func(n int32) func(*bench, *peer, *chainview.Block) {
		return func(b *bench, p *peer, _ *chainview.Block) {
			for h := range n {
				b.download.addRequest(p, b.node.Active().At(h))
			}
		}
	}
	for name, test := range map[string]struct {
		ahead   int
		change  func(b *bench, p *peer, last *chainview.Block)
		want    []int32
		compact bool
	}{
		"one":                   {1, plain, heights(21, 21), true},
		"two":                   {2, plain, heights(21, 22), false},
		"as many as it may owe": {16, plain, heights(21, 36), false},
		"one more":              {17, plain, heights(21, 36), false},
		"too many":              {18, plain, nil, false},
		"one, it owes another":  {1, owes(1), heights(21, 21), false},
		"it owes ten":           {16, owes(10), heights(21, 26), false},
		"it owes all":           {2, owes(16), nil, false},
		"it owes more":          {2, owes(17), nil, false},
		"it has no compact blocks": {1, func(_ *bench, p *peer, _ *chainview.Block) {
			p.speaksCompact = false
		}, heights(21, 21), false},
		"for blocks alone": {1, func(b *bench, _ *peer, _ *chainview.Block) {
			b.chain.cfg.BlocksOnly = true
		}, heights(21, 21), false},
		"the tip is old": {1, func(b *bench, _ *peer, _ *chainview.Block) {
			b.now = b.now.Add(200 * time.Minute)
		}, nil, false},
		"it is invalid": {1, func(b *bench, _ *peer, at *chainview.Block) {
			b.node.SetStatus(at, chainview.Failed)
		}, nil, false},
		"it gives no witnesses": {1, func(_ *bench, p *peer, _ *chainview.Block) {
			p.info.Remote.Version.Services = wire.SFNodeNetwork
		}, nil, false},
		"the last is there": {2, func(b *bench, _ *peer, at *chainview.Block) {
			b.node.SetStatus(at, chainview.HasData)
		}, heights(21, 21), false},
		"the first waits": {2, func(b *bench, _ *peer, at *chainview.Block) {
			b.download.buffer.put(&pendingBlock{block: at.Parent}, true)
		}, heights(22, 22), false},
		"the first is asked of else": {2, func(b *bench, _ *peer, at *chainview.Block) {
			other, _ := b.join(p2p.Inbound)
			b.download.addRequest(other, at.Parent)
		}, heights(22, 22), false},
	} {
		b := newBench(t, height)
		p, w := b.join(p2p.OutboundFullRelay)
		p.speaksCompact = true
		at := b.extend(test.ahead)
		test.change(b, p, at)
		b.download.fetchDirectly(p, at)
		compact := false
		for _, m := range w.sent {
			compact = compact || m.(*wire.MsgGetData).InvList[0].Type == invCompact
		}
		if got := b.asked(w); !slices.Equal(got, test.want) || compact != test.compact {
			t.Errorf("%s: asked for %v, compact %v", name, got, compact)
		}
	}
	for fork, want := range map[int32][]int32{18: nil, 19: {20}} { // with less work than the tip, and with as much
		b := newBench(t, height)
		p, w := b.join(p2p.OutboundFullRelay)
		b.download.fetchDirectly(p, b.node.AddHeader(b.node.Active().At(fork)))
		if got := b.asked(w); !slices.Equal(got, want) {
			t.Errorf("on a branch from %d: asked for %v", fork, got)
		}
	}
}

// Of a new tip peers are told the last blocks, the lowest first, from where the chains part; of none in the initial
// download.
func TestTipChanged(t *testing.T) {
	for name, test := range map[string]struct {
		change func(b *bench)
		want   []int32
	}{
		"nothing":     {func(*bench) {}, nil},
		"one":         {func(b *bench) { b.mine() }, []int32{11}},
		"eight":       {func(b *bench) { b.node.MineN(8) }, heights(11, 18)},
		"nine":        {func(b *bench) { b.node.MineN(9) }, heights(12, 19)},
		"in download": {func(b *bench) { b.mine(); b.now = b.now.Add(48 * time.Hour) }, nil},
		"by a branch": {func(b *bench) {
			b.node.SetActive(b.node.AddHeader(b.node.AddHeader(b.node.Active().At(9))))
		}, heights(10, 11)},
		"for less": {func(b *bench) {
			b.node.SetActive(b.node.Active().At(8))
		}, nil},
	} {
		b := newBench(t, 10)
		s := b.whole()
		p, _ := b.join(p2p.Inbound)
		test.change(b)
		s.tipChanged()
		var got []int32
		for _, at := range p.announcements {
			got = append(got, at.Height)
		}
		if !slices.Equal(got, test.want) || b.chain.tip != b.node.Active().Tip() {
			t.Errorf("%s: announced %v, want %v", name, got, test.want)
		}
	}
}

// One compact block is made for all peers; a block that cannot be read is announced otherwise.
func TestCompactAnnouncements(t *testing.T) {
	b := newBench(t, 10)
	announce := func(height int32) wire.Message {
		p, w := b.join(p2p.Inbound)
		p.wantsCompact, p.best = true, b.node.Active().At(height-1)
		p.announcements = []*chainview.Block{b.node.Active().At(height)}
		b.announcer.announce(p)
		if len(w.sent) != 1 {
			t.Fatalf("announced %v", w.sent)
		}
		return w.sent[0]
	}
	first, second, other := announce(10), announce(10), announce(9)
	if first != second || other == first {
		t.Error("not one compact block of each block")
	}
	for i, m := range []wire.Message{first, other} {
		if c, ok := m.(*codec.CmpctBlock); !ok || c.Header.BlockHash() != b.node.Active().At(int32(10-i)).Hash {
			t.Errorf("announced %v", m)
		}
	}
	b.node.Fail(b.node.Active().At(8), errors.New("broken"))
	if m := announce(8); m.Command() != wire.CmdInv {
		t.Errorf("of a block that cannot be read: %v", m)
	}
}

// A compact block has at least one transaction, no more than a block can hold, and those that it brings at places that
// are there.
func TestSizesOfCompactBlocks(t *testing.T) {
	ids := func(n int) (list []codec.ShortID) {
		for i := range n {
			list = append(list, codec.ShortID{byte(i), byte(i >> 8), byte(i >> 16)})
		}
		return list
	}
	brings := func(places ...int) (list []codec.PrefilledTx) {
		for _, at := range places {
			list = append(list, codec.PrefilledTx{Index: at, Tx: wire.NewMsgTx(2)})
		}
		return list
	}
	for name, test := range map[string]struct {
		m       codec.CmpctBlock
		fault   compactFault
		missing []uint16
	}{
		"nothing":        {codec.CmpctBlock{}, compactInvalid, nil},
		"a coinbase":     {codec.CmpctBlock{Prefilled: brings(0)}, compactFine, nil},
		"an id":          {codec.CmpctBlock{ShortIDs: ids(1)}, compactFine, []uint16{0}},
		"in between":     {codec.CmpctBlock{ShortIDs: ids(3), Prefilled: brings(0, 2)}, compactFine, []uint16{1, 3, 4}},
		"the last place": {codec.CmpctBlock{ShortIDs: ids(1), Prefilled: brings(1)}, compactFine, []uint16{0}},
		"behind it":      {codec.CmpctBlock{ShortIDs: ids(1), Prefilled: brings(2)}, compactInvalid, nil},
		"too many":       {codec.CmpctBlock{ShortIDs: ids(maxBlockTxs), Prefilled: brings(0)}, compactInvalid, nil},
	} {
		p, fault := newPartial(&test.m, poolview.New().All())
		if fault != test.fault || fault == compactFine && !slices.Equal(p.missing(), test.missing) {
			t.Errorf("%s: fault %d", name, fault)
		}
	}
	most := &codec.CmpctBlock{ShortIDs: ids(maxBlockTxs)}
	if _, fault := newPartial(most, poolview.New().All()); fault != compactFine {
		t.Errorf("just as many as a block can hold: fault %d", fault)
	}
}

// A block without its parent waits until nobody has been asked for the parent for two seconds, or until too much
// waits. Then the chain stores the block, and the blocks that wait for this block.
func TestStoredWithoutParent(t *testing.T) {
	b := newBench(t, 1)
	top := b.extend(4)
	for name, test := range map[string]struct {
		size  int
		asked []bool // at each tick
		ready bool
	}{
		"soon":             {1, []bool{false, false, false}, false},
		"after two":        {1, []bool{false, false, false, false}, true},
		"asked for":        {1, []bool{true, true, true, true, true}, false},
		"asked for lately": {1, []bool{false, false, false, true, false, false, false}, false},
		"asked for before": {1, []bool{true, false, false, false, false}, true},
		"much":             {storeUnlinkedFrom - 1, nil, false},
		"too much":         {storeUnlinkedFrom, nil, true},
	} {
		buffer := newReorderBuffer()
		child := &pendingBlock{block: top, raw: make([]byte, 1)}
		h := &pendingBlock{block: top.Parent, raw: make([]byte, test.size)}
		buffer.put(child, false)
		buffer.put(h, false)
		some := false
		for _, asked := range test.asked {
			some = buffer.storeLost(func(hash *chainhash.Hash) bool { return asked && *hash == top.Parent.Parent.Hash })
		}
		if got := len(buffer.next()) + len(buffer.ready); (got == 2) != test.ready || (got == 0) == test.ready {
			t.Errorf("%s: %d blocks are for the chain", name, got)
		}
		if test.asked != nil && some != test.ready {
			t.Errorf("%s: some are stored: %v", name, some)
		}
	}
}

// With a refused block goes what builds on it, and nothing else.
func TestRefusedAlone(t *testing.T) {
	b := newBench(t, 1)
	root := b.chain.tip
	refused := b.node.AddHeader(root)
	child := b.node.AddHeader(refused)
	grandchild := b.node.AddHeader(child)
	other := b.node.AddHeader(root)
	resumed := map[*chainview.Block]bool{}
	buffer := newReorderBuffer()
	put := func(at *chainview.Block, haveParent bool) *pendingBlock {
		h := &pendingBlock{block: at, raw: make([]byte, 10), handled: func() { resumed[at] = true }}
		buffer.put(h, haveParent)
		return h
	}
	h := put(refused, true)
	if got := buffer.next(); len(got) != 1 {
		t.Fatalf("%d blocks are for the chain", len(got))
	}
	for _, at := range []*chainview.Block{child, other, grandchild} {
		put(at, at == other)
	}
	buffer.done()
	buffer.refused(h)
	if buffer.has(&child.Hash) || buffer.has(&grandchild.Hash) || !buffer.has(&other.Hash) {
		t.Error("not what builds on the block has gone")
	}
	if !resumed[child] || !resumed[grandchild] || resumed[other] || buffer.bytes != 10 || buffer.waiting != 10 {
		t.Errorf("resumed %d, %d bytes wait", len(resumed), buffer.bytes)
	}
	if got := buffer.next(); len(got) != 1 || got[0].block != other {
		t.Errorf("%d blocks are for the chain", len(got))
	}
}

// Headers go to the chain with what follows them, where there is any.
func TestHeadersKeepTheirPayload(t *testing.T) {
	b := newBench(t, 2)
	first, second := b.node.Active().At(1).Header(), b.node.Active().At(2).Header()
	list := parseHeaders(&codec.Headers{List: []wire.BlockHeader{first, second}, Payloads: [][]byte{{1, 2, 3}}})
	if len(list) != 2 || len(list[0].Raw) != 83 || !slices.Equal(list[0].Raw[80:], []byte{1, 2, 3}) ||
		len(list[1].Raw) != 80 || list[0].Hash != first.BlockHash() || list[1].Hash != second.BlockHash() {
		t.Errorf("got %v", list)
	}
}

// A peer is left for the block that it was asked for first: later blocks do not count, and the time of the next
// begins when the first has come.
func TestTimeOfTheFirstBlock(t *testing.T) {
	for came, left := range map[int32]string{2: "", 3: "timeout downloading block", 4: "timeout downloading block"} {
		b := newBench(t, 1)
		top := b.extend(3)
		p, w := b.join(p2p.OutboundFullRelay)
		for h := int32(2); h <= 4; h++ {
			b.download.addRequest(p, top.Ancestor(h))
		}
		b.now = b.now.Add(9 * time.Minute)
		b.download.dropOf(p, top.Ancestor(came).Hash)
		b.now = b.now.Add(time.Minute + 1)
		if b.download.tick(p, b.now); w.left != left {
			t.Errorf("after block %d: left for %q, want %q", came, w.left, left)
		}
	}
}

// A peer that has announced a block before its header was known is not told of this block.
func TestKnowsWhatItAnnounced(t *testing.T) {
	b := newBench(t, 10)
	for unknown, announces := range map[int32]bool{10: false, 9: true} {
		p, w := b.join(p2p.Inbound)
		p.unknown = &b.node.Active().At(unknown).Hash
		p.announcements = []*chainview.Block{b.node.Active().At(10)}
		if b.announcer.announce(p); len(w.sent) != digit(announces) {
			t.Errorf("it announced block %d: announced %v", unknown, w.sent)
		}
	}
}
