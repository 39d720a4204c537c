package sync

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/messages"
)

// A block is asked of one peer after the other: when one does not have it, is too slow,
// has left, or gives another block; and every caller is answered once.
func TestFetches(t *testing.T) {
	b := newBench(t, 20)
	at := b.node.Active().At(7)
	raw, err := b.node.Raw(&at.Hash)
	if err != nil {
		t.Fatal(err)
	}
	var peers []*peer
	var wires []*wirePeer
	for range 5 {
		p, w := b.join(p2p.OutboundFullRelay)
		p.best = b.chain.tip
		peers, wires = append(peers, p), append(wires, w)
	}
	type answer struct {
		raw []byte
		err error
	}
	var answers []answer
	add := func(hash chainhash.Hash) {
		b.fetches.add(hash, fetchCaller{
			gone:   func() bool { return false },
			answer: func(raw []byte, err error) { answers = append(answers, answer{raw, err}) },
		})
	}
	add(at.Hash)
	add(at.Hash) // a second caller, whom nobody is asked for
	expect := func(what string, next int) {
		t.Helper()
		for i, w := range wires {
			got := b.asked(w)
			if want := i == next; want != (len(got) == 1 && got[0] == at.Height) {
				t.Fatalf("%s: peer %d is asked for %v", what, i, got)
			}
		}
	}
	expect("at first", 0)
	var missing wire.MsgNotFound
	missing.InvList = append(missing.InvList, wire.NewInvVect(wire.InvTypeWitnessBlock, &at.Hash))
	b.fetches.notFound(peers[1], &missing) // of a peer that was not asked
	expect("after another peer has not got it", -1)
	b.fetches.notFound(peers[0], &missing)
	expect("after the peer has not got it", 1)
	b.now = b.now.Add(fetchWithin)
	b.fetches.tick()
	expect("in time", -1)
	b.now = b.now.Add(1)
	b.fetches.tick()
	expect("after its time", 2)
	b.peers.remove(peers[2])
	b.fetches.tick()
	expect("after it has left", 3)
	mutated := bytes.Clone(raw)
	mutated[len(mutated)-5] ^= 1
	if !b.fetches.received(peers[3], at.Hash, mutated) || wires[3].left != "!mutated block" {
		t.Errorf("another block is taken; the peer is left for %q", wires[3].left)
	}
	expect("after another block", 4)
	if len(answers) > 0 {
		t.Fatalf("answered too early: %v", answers)
	}
	if !b.fetches.received(peers[0], at.Hash, raw) { // late, but right
		t.Error("the block is not taken")
	}
	for i, a := range answers {
		if a.err != nil || !bytes.Equal(a.raw, raw) {
			t.Errorf("caller %d: %d bytes, %v", i, len(a.raw), a.err)
		}
	}
	if len(answers) != 2 || b.fetches.received(peers[4], at.Hash, raw) {
		t.Errorf("%d answers; the fetch is over: %v", len(answers), len(b.fetches.open) == 0)
	}

	answers = nil
	b.peers.list = nil
	add(at.Hash)
	add(chainhash.Hash{1})
	if len(answers) != 2 || !errors.Is(answers[0].err, nodemsg.ErrNoSource) ||
		!errors.Is(answers[1].err, messages.ErrBlockNotFound) {
		t.Errorf("without peers, and of no block: %v", answers)
	}
}

// At most three peers announce compact blocks at once: those that gave new blocks last,
// and the only outbound one of them does not give way to an inbound one.
func TestHighBandwidthPeers(t *testing.T) {
	const in, out = p2p.Inbound, p2p.OutboundFullRelay
	for _, test := range []struct {
		name  string
		types []p2p.ConnectionType
		gave  []int
		want  []int
	}{
		{"three", []p2p.ConnectionType{out, out, out}, []int{0, 1, 2}, []int{0, 1, 2}},
		{"the oldest goes", []p2p.ConnectionType{out, out, out, out}, []int{0, 1, 2, 3}, []int{1, 2, 3}},
		{"the oldest again", []p2p.ConnectionType{out, out, out}, []int{0, 1, 2, 0}, []int{1, 2, 0}},
		{"again", []p2p.ConnectionType{out, out, out, out}, []int{0, 1, 2, 0, 3}, []int{2, 0, 3}},
		{"the only outbound one stays", []p2p.ConnectionType{out, in, in, in}, []int{0, 1, 2, 3}, []int{0, 2, 3}},
		{"an outbound one takes its place", []p2p.ConnectionType{out, in, in, out}, []int{0, 1, 2, 3}, []int{1, 2, 3}},
		{"all are inbound", []p2p.ConnectionType{in, in, in, in}, []int{0, 1, 2, 3}, []int{1, 2, 3}},
	} {
		b := newBench(t, 1)
		var peers []*peer
		var wires []*wirePeer
		for _, typ := range test.types {
			p, w := b.join(typ)
			p.speaksCompact = true
			peers, wires = append(peers, p), append(wires, w)
		}
		for _, i := range test.gave {
			b.compact.choose(peers[i])
		}
		var got []int
		for _, p := range b.compact.highBandwidth {
			got = append(got, slices.Index(peers, p))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		for i, p := range peers {
			if said := len(wires[i].sent); said > 2 || test.name == "the oldest again" && said != 1 {
				t.Errorf("%s: peer %d is told %d times", test.name, i, said)
			}
			last := false
			for _, m := range wires[i].sent {
				last = m.(*codec.SendCmpct).HighBandwidth
			}
			if in := slices.Contains(test.want, i); p.highBandwidth != in || last != in {
				t.Errorf("%s: peer %d is told %v, known as %v", test.name, i, last, p.highBandwidth)
			}
		}
		b.compact.forget(peers[test.want[1]])
		if len(b.compact.highBandwidth) != len(test.want)-1 {
			t.Errorf("%s: a peer that left is kept", test.name)
		}
	}
	b := newBench(t, 1)
	p, w := b.join(out)
	if b.compact.choose(p); len(w.sent) > 0 {
		t.Error("a peer is chosen that has no compact blocks")
	}
}

// Compact blocks need nothing but the pool and the requests: all there, one missing, and
// transactions that nobody asked for.
func TestCompactBlocksAlone(t *testing.T) {
	b := newBench(t, 3)
	other := newBench(t, 3)
	coinbase, err := other.node.Block(&other.chain.tip.Hash)
	if err != nil {
		t.Fatal(err)
	}
	spend := wire.NewMsgTx(2)
	spend.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: coinbase.Transactions[0].TxHash()}})
	spend.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
	next := other.mine(spend)
	block, err := other.node.Block(&next.Hash)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := other.node.Raw(&next.Hash)
	at, err := b.node.Tree.Add(&block.Header, next.Work(), 0)
	if err != nil {
		t.Fatal(err)
	}
	first, firstWire := b.join(p2p.OutboundFullRelay)
	if raw := b.compact.received(first, at, codec.NewCmpctBlock(block, nil)); raw != nil {
		t.Fatal("a block is made of nothing")
	}
	asked, ok := firstWire.take()[0].(*codec.GetBlockTxn)
	if !ok || !slices.Equal(asked.Indexes, []uint16{1}) {
		t.Fatalf("asked for %v", asked)
	}
	if _, raw := b.compact.missing(first, &codec.BlockTxn{Block: chainhash.Hash{1}}); raw != nil {
		t.Error("a block is made that nobody announced")
	}
	made, raw := b.compact.missing(first, &codec.BlockTxn{Block: at.Hash, Txs: []*wire.MsgTx{spend}})
	if made != at || !bytes.Equal(raw, want) || b.download.isWanted(at.Hash) || firstWire.left != "" {
		t.Errorf("made %d bytes, want %d; left for %q", len(raw), len(want), firstWire.left)
	}
	change := messages.PoolChange{Tx: spend, ID: spend.TxHash(), WID: spend.WitnessHash(), Added: true}
	b.compact.pool.Change(&change)
	if raw := b.compact.received(first, at, codec.NewCmpctBlock(block, nil)); !bytes.Equal(raw, want) {
		t.Errorf("made %d bytes of the pool, want %d", len(raw), len(want))
	}
}

// A peer is asked for headers once until it answers or two minutes have gone; a locator
// begins with the block, ends with the first one, and grows with the logarithm.
func TestAskHeaders(t *testing.T) {
	b := newBench(t, 200)
	p, w := b.join(p2p.OutboundFullRelay)
	for _, test := range []struct {
		after time.Duration
		asks  bool
	}{{0, true}, {time.Second, false}, {2*time.Minute - time.Second, false}, {1, true}} {
		b.now = b.now.Add(test.after)
		if got := b.headers.ask(p, b.chain.tip); got != test.asks || len(w.take()) != digit(test.asks) {
			t.Errorf("after %v: asked %v", test.after, got)
		}
	}
	for height := range int32(201) {
		list := locator(b.node.Active().At(height))
		if *list[0] != b.node.Active().At(height).Hash || *list[len(list)-1] != b.node.Active().At(0).Hash ||
			len(list) > 20 {
			t.Fatalf("height %d: %d hashes", height, len(list))
		}
		last := height + 1
		for _, hash := range list {
			if at := b.node.Lookup(hash).Height; at >= last {
				t.Fatalf("height %d: %d comes after %d", height, at, last)
			} else {
				last = at
			}
		}
	}
}

// Received headers are taken, lead to a question, or have their peer left.
func TestHeadersReceived(t *testing.T) {
	remote := newBench(t, 30)
	headers := func(from, to int32) (list []header) {
		for h := from; h <= to; h++ {
			at := remote.node.Active().At(h).Header()
			list = append(list, newHeader(&at, nil))
		}
		return list
	}
	gap := append(headers(11, 12), headers(14, 15)...)
	weak := headers(11, 11)
	weak[0].Raw = slices.Clone(weak[0].Raw)
	for nonce := byte(0); remote.chain.cfg.Network.Proves(weak[0].Raw); nonce++ {
		weak[0].Raw[76] = nonce
	}
	for _, test := range []struct {
		name   string
		list   []header
		taken  int
		left   string
		asks   bool
		unseen bool
	}{
		{"none", nil, 0, "", false, false},
		{"known ones", headers(5, 10), 6, "", false, false},
		{"new ones", headers(11, 20), 10, "", false, true},
		{"without what is between", headers(15, 20), 0, "", true, false},
		{"with a gap", gap, 0, "!non-continuous headers sequence", false, false},
		{"without work", weak, 0, "!header with invalid proof of work", false, false},
	} {
		b := newBench(t, 10)
		p, w := b.join(p2p.OutboundFullRelay)
		a, ok := b.headers.received(p, test.list)
		if ok != (test.taken > 0) || len(a.list) != test.taken || w.left != test.left || ok && a.isNew != test.unseen {
			t.Errorf("%s: taken %v (%d, new %v), left for %q", test.name, ok, len(a.list), a.isNew, w.left)
		}
		if asked := len(w.take()) > 0; asked != test.asks {
			t.Errorf("%s: asked for headers: %v", test.name, asked)
		}
	}
}

// Which blocks of a list are news to a peer, and where that cannot be said.
func TestUnknownTo(t *testing.T) {
	b := newBench(t, 10)
	chain := func(heights ...int32) (list []*chainview.Block) {
		for _, h := range heights {
			list = append(list, b.node.Active().At(h))
		}
		return list
	}
	side := b.node.AddHeader(b.node.Active().At(5))
	for _, test := range []struct {
		name  string
		knows int32
		list  []*chainview.Block
		want  []*chainview.Block
		ok    bool
	}{
		{"the next one", 9, chain(10), chain(10), true},
		{"some", 8, chain(8, 9, 10), chain(9, 10), true},
		{"none", 10, chain(9, 10), nil, true},
		{"too far ahead", 7, chain(9, 10), nil, false},
		{"not in a row", 7, chain(8, 10), nil, false},
		{"not of the chain", 5, []*chainview.Block{side}, nil, false},
	} {
		p, _ := b.join(p2p.Inbound)
		p.bestSent = b.node.Active().At(test.knows)
		got, ok := b.announcer.unknownTo(p, test.list)
		if ok != test.ok || !slices.Equal(got, test.want) {
			t.Errorf("%s: %d blocks, %v", test.name, len(got), ok)
		}
	}
}

// The least work of a new chain is the tip's work less 144 blocks: 144 times the tip's own work, or the work
// of the last 144 blocks.
func TestNearWork(t *testing.T) {
	b := newBench(t, 150)
	tip := b.node.Active().Tip()
	if want := b.node.Active().At(6).Work(); b.chain.nearWork(tip).Cmp(want) != 0 {
		t.Errorf("of equal blocks: %v, want %v", b.chain.nearWork(tip), want)
	}
	qbit, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	b.chain.cfg.Network = qbit
	for height, at := range map[int32]int32{150: 6, 145: 1, 144: 0} {
		if got := b.chain.nearWork(b.node.Active().At(height)); got.Cmp(b.node.Active().At(at).Work()) != 0 {
			t.Errorf("of a tip at %d: %v", height, got)
		}
	}
	if got := b.chain.nearWork(b.node.Active().At(143)); got.Sign() != 0 {
		t.Errorf("of a short chain: %v", got)
	}
}
