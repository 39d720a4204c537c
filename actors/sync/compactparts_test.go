package sync

import (
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/messages"
)

// A compact block is completed from the first peer, and also from peers that were chosen to announce at once,
// three at a time in all. The third is asked only if this peer or a peer before is outbound.
func TestParallelCompactBlocks(t *testing.T) {
	const in, out = p2p.Inbound, p2p.OutboundFullRelay
	type sender struct {
		typ  p2p.ConnectionType
		high bool   // asked to announce at once
		want string // what it is sent: getblocktxn, getdata, or nothing
	}
	const asks, no = "getblocktxn", ""
	for name, senders := range map[string][]sender{
		"the first is asked, whoever it is": {{in, false, asks}},
		"a second that was not chosen":      {{out, false, asks}, {out, false, no}},
		"three that were":                   {{out, true, asks}, {out, true, asks}, {out, true, asks}},
		"not four": {
			{out, true, asks}, {out, true, asks}, {out, true, asks}, {out, true, no},
		},
		"an inbound third after an outbound one": {{out, true, asks}, {in, true, asks}, {in, true, asks}},
		"not three inbound ones":                 {{in, true, asks}, {in, true, asks}, {in, true, no}},
		"the third place for an outbound one": {
			{in, true, asks}, {in, true, asks}, {in, true, no}, {out, true, asks},
		},
	} {
		b, remote := newBench(t, 3), newBench(t, 3)
		coinbase, err := remote.node.Block(&remote.chain.tip.Hash)
		if err != nil {
			t.Fatal(err)
		}
		spend := wire.NewMsgTx(2)
		spend.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: coinbase.Transactions[0].TxHash()}})
		spend.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
		next := remote.mine(spend)
		block, err := remote.node.Block(&next.Hash)
		if err != nil {
			t.Fatal(err)
		}
		at, err := b.node.Tree.Add(&block.Header, next.Work(), 0)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		for i, from := range senders {
			p, w := b.join(from.typ)
			p.highBandwidth = from.high
			if raw := b.compact.received(p, at, codec.NewCmpctBlock(block, nil)); raw != nil {
				t.Errorf("%s: a block is made without its transactions", name)
			}
			if got := w.commands(); got != from.want {
				t.Errorf("%s: peer %d is sent %q, want %q", name, i, got, from.want)
			}
			if from.want == asks {
				asked++
			}
			if requested := b.download.requestOf(p, at.Hash) != nil; requested != (from.want == asks) {
				t.Errorf("%s: peer %d has a request: %v", name, i, requested)
			}
			if from.want == asks { // the same once more changes nothing
				b.compact.received(p, at, codec.NewCmpctBlock(block, nil))
				if got := w.commands(); got != "" {
					t.Errorf("%s: peer %d is sent %q upon the same again", name, i, got)
				}
			}
		}
		if got := len(b.download.requestsOf(at.Hash)); got != asked {
			t.Errorf("%s: %d requests, want %d", name, got, asked)
		}
	}
}

// A compact block that no honest peer sends, a compact block whose ids are unclear, and transactions that do not
// fit.
func TestWrongCompactBlocks(t *testing.T) {
	const misfit = "!invalid compact block/non-matching block transactions"
	outside := func(m *codec.CmpctBlock) { m.Prefilled[0].Index = 9 }
	twice := func(m *codec.CmpctBlock) { m.ShortIDs[1] = m.ShortIDs[0] }
	for name, test := range map[string]struct {
		change func(m *codec.CmpctBlock)
		txs    int // how many transactions come then; -1: none do
		second bool
		want   string // sent to the peer
		left   string
		asked  bool // it has the request still
	}{
		"invalid":             {outside, -1, false, "", "!invalid compact block", false},
		"unclear":             {twice, -1, false, "getdata", "", true},
		"unclear, the second": {twice, -1, true, "", "", false},
		"too few":             {nil, 1, false, "getblocktxn", misfit, false},
		"too many":            {nil, 3, false, "getblocktxn", misfit, false},
		"others":              {nil, 2, false, "getblocktxn getdata", "", true},
		"others, the second":  {nil, 2, true, "getblocktxn", "", false},
	} {
		b, remote := newBench(t, 3), newBench(t, 3)
		var spends []*wire.MsgTx
		for i := range 2 {
			coinbase, err := remote.node.Block(&remote.node.Active().At(int32(i + 1)).Hash)
			if err != nil {
				t.Fatal(err)
			}
			spend := wire.NewMsgTx(2)
			spend.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: coinbase.Transactions[0].TxHash()}})
			spend.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
			spends = append(spends, spend)
		}
		next := remote.mine(spends...)
		block, _ := remote.node.Block(&next.Hash)
		at, err := b.node.Tree.Add(&block.Header, next.Work(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if test.second {
			other, _ := b.join(p2p.OutboundFullRelay)
			b.download.addRequest(other, at)
		}
		p, w := b.join(p2p.OutboundFullRelay)
		p.highBandwidth = true
		m := codec.NewCmpctBlock(block, nil)
		if test.change != nil {
			test.change(m)
		}
		b.compact.received(p, at, m)
		if test.txs >= 0 {
			wrong := slices.Repeat([]*wire.MsgTx{wire.NewMsgTx(9)}, test.txs)
			if _, raw := b.compact.missing(p, &codec.BlockTxn{Block: at.Hash, Txs: wrong}); raw != nil {
				t.Errorf("%s: a block is made", name)
			}
		}
		if got := w.commands(); got != test.want || w.left != test.left {
			t.Errorf("%s: sent %q, left for %q", name, got, w.left)
		}
		if asked := b.download.requestOf(p, at.Hash) != nil; asked != test.asked {
			t.Errorf("%s: asked for the block: %v", name, asked)
		}
		if test.want == "getblocktxn getdata" { // and once more
			b.compact.missing(p, &codec.BlockTxn{Block: at.Hash, Txs: spends})
			if w.left != "!previous compact block reconstruction attempt failed" || b.download.isWanted(at.Hash) {
				t.Errorf("%s again: left for %q", name, w.left)
			}
		}
	}
}

// A fourth peer's compact block is used where the pool has all of it by then, and left alone else.
func TestCompactBlockOfFourthPeer(t *testing.T) {
	for _, pooled := range []bool{true, false} {
		b, remote := newBench(t, 3), newBench(t, 3)
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
		for range compactAtOnce {
			p, _ := b.join(p2p.OutboundFullRelay)
			p.highBandwidth = true
			b.compact.received(p, at, codec.NewCmpctBlock(block, nil))
		}
		if pooled {
			b.compact.pool.Change(&messages.PoolChange{
				Tx: spend, ID: spend.TxHash(), WID: spend.WitnessHash(), Added: true,
			})
		}
		p, w := b.join(p2p.OutboundFullRelay)
		raw := b.compact.received(p, at, codec.NewCmpctBlock(block, nil))
		if (raw != nil) != pooled || len(w.sent) > 0 {
			t.Errorf("in the pool %v: a block is made: %v", pooled, raw != nil)
		}
		wrong := codec.NewCmpctBlock(block, nil)
		wrong.ShortIDs = append(wrong.ShortIDs, wrong.ShortIDs...)
		if raw := b.compact.received(p, at, wrong); raw != nil || w.left != "" {
			t.Errorf("made of unclear ids, or left for %q", w.left)
		}
		if len(b.download.requestsOf(at.Hash)) != compactAtOnce {
			t.Error("another request is noted")
		}
	}
}
