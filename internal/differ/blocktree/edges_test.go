package blocktree

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/differ"
)

// An edge is a rule with a number in it. Its function make builds a block on a parent:
// the last valid block for over 0, the first invalid block for over 1. The latter is
// refused with reason.
type edge struct {
	reason string
	make   func(m *maker, parent *block, over int) *wire.MsgBlock
}

// plain makes a block with some transactions.
func (m *maker) plain(parent *block, txs ...*wire.MsgTx) *wire.MsgBlock {
	m.made++
	return &wire.MsgBlock{
		Header: wire.BlockHeader{
			Version: 0x20000000, PrevBlock: parent.hash, Bits: 0x207fffff,
			Timestamp: time.Unix(int64(parent.time)+1+int64(m.IntN(900)), 0),
		},
		Transactions: append([]*wire.MsgTx{m.coinbase(parent.height + 1)}, txs...),
	}
}

// coinbaseOf returns the output of the coinbase of a block at a depth below the next.
func coinbaseOf(parent *block, depth int) *block {
	for range depth - 1 {
		parent = parent.parent
	}
	return parent
}

// spends spends the coinbase of a block that has not been spent, for a fee.
func (m *maker) spends(from *block, fee int64) *wire.MsgTx {
	o := from.outs[0]
	m.spent[o.point] = true
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: o.point, Sequence: math.MaxUint32})
	tx.AddTxOut(wire.NewTxOut(o.value-fee, truth))
	return tx
}

// old returns a block whose coinbase may be spent, was not, and is worth any fee.
func (m *maker) old(parent *block) *block {
	for at := coinbaseOf(parent, 100+m.IntN(5)); ; at = at.parent {
		if o := at.outs[0]; !m.spent[o.point] && o.value > 1e6 {
			return at
		}
	}
}

func medianTime(at *block) int64 {
	var times []uint32
	for ; len(times) < 11 && at != nil; at = at.parent {
		times = append(times, at.time)
	}
	slices.Sort(times)
	return int64(times[len(times)/2])
}

var edges = map[string]edge{
	"coinbase value": {"bad-cb-amount", func(m *maker, p *block, over int) *wire.MsgBlock {
		fee := int64(m.IntN(1e6))
		b := m.plain(p, m.spends(m.old(p), fee))
		b.Transactions[0].TxOut[0].Value += fee + int64(over)
		return b
	}},
	"value of a transaction": {"bad-txns-in-belowout", func(m *maker, p *block, over int) *wire.MsgBlock {
		return m.plain(p, m.spends(m.old(p), int64(-over)))
	}},
	"most money": {"bad-txns-vout-toolarge", func(m *maker, p *block, over int) *wire.MsgBlock {
		b := m.plain(p)
		if over > 0 { // on the right side no coinbase can be: a transaction of it is judged first
			b.Transactions[0].TxOut[0].Value = 21e14 + 1
		}
		return b
	}},
	"size without witnesses": {"bad-blk-length", func(m *maker, p *block, over int) *wire.MsgBlock {
		b := m.plain(p, m.spends(m.old(p), 0))
		filler := wire.NewTxOut(0, make([]byte, 900_000))
		b.Transactions[1].AddTxOut(filler)
		filler.PkScript = make([]byte, 1_900_000+over-b.SerializeSizeStripped())
		filler.PkScript[0] = txscript.OP_RETURN
		return b
	}},
	"weight": {"bad-blk-weight", func(m *maker, p *block, over int) *wire.MsgBlock {
		first := m.spends(m.old(p), 0)
		anyWitness := append([]byte{txscript.OP_5, 20}, bytes.Repeat([]byte{1}, 20)...)
		first.TxOut[0].PkScript = anyWitness
		second := wire.NewMsgTx(2)
		second.AddTxIn(&wire.TxIn{
			PreviousOutPoint: wire.OutPoint{Hash: first.TxHash()}, Witness: wire.TxWitness{make([]byte, 3_000_000)},
		})
		second.AddTxOut(wire.NewTxOut(0, truth))
		b := m.plain(p, first, second)
		commit(b)
		weight := 3*b.SerializeSizeStripped() + b.SerializeSize()
		second.TxIn[0].Witness[0] = make([]byte, 3_000_000+4_000_000+over-weight)
		b.Transactions[0].TxOut = b.Transactions[0].TxOut[:1]
		commit(b)
		return b
	}},
	"signature operations": {"bad-blk-sigops", func(m *maker, p *block, over int) *wire.MsgBlock {
		b, left := m.plain(p, m.spends(m.old(p), 0)), 20_000+over
		for left > 0 {
			n := min(left, 1+m.IntN(9000))
			tx := b.Transactions[m.IntN(2)]
			tx.AddTxOut(wire.NewTxOut(0, bytes.Repeat([]byte{txscript.OP_CHECKSIG}, n)))
			left -= n
		}
		return b
	}},
	"length of the coinbase's script": {"bad-cb-length", func(m *maker, p *block, over int) *wire.MsgBlock {
		b := m.plain(p)
		in := b.Transactions[0].TxIn[0]
		in.SignatureScript = append(in.SignatureScript, make([]byte, 100+over-len(in.SignatureScript))...)
		return b
	}},
	"maturity": {"bad-txns-premature-spend-of-coinbase", func(m *maker, p *block, over int) *wire.MsgBlock {
		return m.plain(p, m.spends(coinbaseOf(p, 100-over), 0))
	}},
	"median time": {"time-too-old", func(m *maker, p *block, over int) *wire.MsgBlock {
		b := m.plain(p)
		b.Header.Timestamp = time.Unix(medianTime(p)+1-int64(over), 0)
		return b
	}},
	"height in the coinbase": {"bad-cb-height", func(m *maker, p *block, over int) *wire.MsgBlock {
		b := m.plain(p)
		b.Transactions[0] = m.coinbase(p.height + 1 + int32(over))
		b.Transactions[0].TxOut[0].Value = 0
		return b
	}},
	"version": {"bad-version", func(m *maker, p *block, over int) *wire.MsgBlock {
		b := m.plain(p)
		b.Header.Version = int32(4 - over)
		return b
	}},
	"bits": {"bad-diffbits", func(m *maker, p *block, over int) *wire.MsgBlock {
		b := m.plain(p)
		b.Header.Bits -= uint32(over)
		return b
	}},
	"lock time, height": {"bad-txns-nonfinal", func(m *maker, p *block, over int) *wire.MsgBlock {
		tx := m.spends(m.old(p), 0)
		tx.LockTime, tx.TxIn[0].Sequence = uint32(int(p.height)+over), math.MaxUint32-1-uint32(m.IntN(5))
		tx.TxIn[0].Sequence |= 1 << 31 // no relative lock
		return m.plain(p, tx)
	}},
	"lock time, time": {"bad-txns-nonfinal", func(m *maker, p *block, over int) *wire.MsgBlock {
		tx := m.spends(m.old(p), 0)
		tx.LockTime, tx.TxIn[0].Sequence = uint32(medianTime(p)-1+int64(over)), 1<<31
		return m.plain(p, tx)
	}},
	"sequence, height": {"bad-txns-nonfinal", func(m *maker, p *block, over int) *wire.MsgBlock {
		from := m.old(p)
		tx := m.spends(from, 0)
		tx.TxIn[0].Sequence = uint32(int(p.height+1-from.height) + over)
		return m.plain(p, tx)
	}},
	"sequence, time": {"bad-txns-nonfinal", func(m *maker, p *block, over int) *wire.MsgBlock {
		from := m.old(p)
		tx := m.spends(from, 0)
		passed := medianTime(p) - medianTime(from.parent)
		tx.TxIn[0].Sequence = 1<<22 | uint32(passed/512+int64(over))
		return m.plain(p, tx)
	}},
	"nonce of the witnesses": {"bad-witness-nonce-size", func(m *maker, p *block, over int) *wire.MsgBlock {
		b := m.plain(p)
		commit(b)
		b.Transactions[0].TxIn[0].Witness[0] = make([]byte, 32+over)
		return b
	}},
	"commitment to the witnesses": {"bad-witness-merkle-match", func(m *maker, p *block, over int) *wire.MsgBlock {
		b := m.plain(p)
		commit(b)
		b.Transactions[0].TxOut[1].PkScript[6+m.IntN(32)] ^= byte(over)
		return b
	}},
	"no commitment": {"unexpected-witness", func(m *maker, p *block, over int) *wire.MsgBlock {
		b := m.plain(p)
		if commit(b); over > 0 {
			b.Transactions[0].TxOut = b.Transactions[0].TxOut[:1]
		}
		return b
	}},
	"transactions once": {"bad-txns-duplicate", func(m *maker, p *block, over int) *wire.MsgBlock {
		a, c := m.spends(m.old(p), 0), m.spends(m.old(p), 1)
		b := m.plain(p, a, c)
		if over > 0 {
			b.Transactions = append(b.Transactions, c) // three, or four with the same root
		}
		return b
	}},
	"outputs once": {"bad-txns-inputs-missingorspent", func(m *maker, p *block, over int) *wire.MsgBlock {
		from := m.old(p)
		a, c := m.spends(from, 0), m.spends(m.old(p), 1)
		if over > 0 {
			c.TxIn[0].PreviousOutPoint = a.TxIn[0].PreviousOutPoint
		}
		return m.plain(p, a, c)
	}},
	"length of an element": {
		"block-script-verify-flag-failed (Push value size limit exceeded)",
		func(m *maker, p *block, over int) *wire.MsgBlock {
			tx := m.spends(m.old(p), 0)
			script, err := txscript.NewScriptBuilder().AddFullData(make([]byte, 520+over)).Script()
			if err != nil {
				panic(err)
			}
			tx.TxIn[0].SignatureScript = script
			return m.plain(p, tx)
		},
	},
	"length of a script": {
		"block-script-verify-flag-failed (Script is too big)",
		func(m *maker, p *block, over int) *wire.MsgBlock {
			tx := m.spends(m.old(p), 0)
			tx.TxIn[0].SignatureScript = bytes.Repeat([]byte{txscript.OP_0, txscript.OP_0}, 500)
			push := append([]byte{txscript.OP_PUSHDATA2, 0x08, 0x02}, make([]byte, 520)...)
			script := bytes.Repeat(push, 19)
			rest := 10_000 + over - len(script)
			script = append(append(script, byte(txscript.OP_PUSHDATA1), byte(rest-2)), make([]byte, rest-2)...)
			tx.TxIn[0].SignatureScript = script
			return m.plain(p, tx)
		},
	},
	"operations": {
		"block-script-verify-flag-failed (Operation limit exceeded)",
		func(m *maker, p *block, over int) *wire.MsgBlock {
			tx := m.spends(m.old(p), 0)
			tx.TxIn[0].SignatureScript = bytes.Repeat([]byte{txscript.OP_NOP}, 201+over)
			return m.plain(p, tx)
		},
	},
	"stack": {
		"block-script-verify-flag-failed (Stack size limit exceeded)",
		func(m *maker, p *block, over int) *wire.MsgBlock {
			tx := m.spends(m.old(p), 0)
			// The script of the output pushes one more.
			tx.TxIn[0].SignatureScript = bytes.Repeat([]byte{txscript.OP_1}, 999+over)
			return m.plain(p, tx)
		},
	},
}

// TestEdges sends both nodes, for each rule, the first block that breaks it and the last
// that does not, over chains and amounts by chance.
func TestEdges(t *testing.T) {
	random := differ.Random(t)
	p := differ.Start(t, differ.Config{})
	m := &maker{Rand: random, chain: bitcoin(), spent: map[wire.OutPoint]bool{}}
	r := &rig{t: t, p: p, maker: m, words: map[string]int{}}
	names := make([]string, 0, len(edges))
	for name := range edges {
		names = append(names, name)
	}
	slices.Sort(names)
	tip := r.chain.root()
	var calls []differ.Call
	for range 160 { // so that there are coins to spend
		tip = r.edge(edge{make: func(m *maker, p *block, _ int) *wire.MsgBlock { return m.plain(p) }}, tip, 0)
		calls = append(calls, differ.Call{Method: "submitblock", Params: []string{tip.hex()}})
	}
	p.Send(calls...)
	for round := range max(2, differ.Cases(t, 2*len(edges))/len(edges)) {
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			e := edges[name]
			wrong, right := r.edge(e, tip, 1), r.edge(e, tip, 0)
			got := p.Send(
				differ.Call{Method: "submitblock", Params: []string{wrong.hex()}},
				differ.Call{Method: "submitblock", Params: []string{right.hex()}},
			)
			if reason := got[0].Core.String(); !strings.HasPrefix(reason, `"`+e.reason) {
				t.Errorf("round %d, %s: the wrong block is %s, want %s", round, name, reason, e.reason)
			}
			if reason := got[1].Core.String(); reason != "null" {
				t.Fatalf("round %d, %s: the right block is %s", round, name, reason)
			}
			tip = right
		}
		r.compare("gettxoutsetinfo", "height", "bestblock", "txouts", "hash_serialized_3", "total_amount")
	}
	now := int64(tip.time) + 3600
	p.Send(differ.Call{Method: "setmocktime", Params: []any{now}})
	for over, want := range [2]string{0: "null", 1: `"time-too-new"`} {
		b := r.edge(edge{make: func(m *maker, p *block, over int) *wire.MsgBlock {
			b := m.plain(p)
			b.Header.Timestamp = time.Unix(now+2*3600+int64(over), 0)
			return b
		}}, tip, over)
		if got := p.Send(differ.Call{Method: "submitblock", Params: []string{b.hex()}})[0].Core.String(); got != want {
			t.Errorf("%d s beyond two hours ahead: %s, want %s", over, got, want)
		}
	}
	p.Alive()
}

// edge makes a block at an edge, and finishes it.
func (r *rig) edge(e edge, parent *block, over int) *block {
	spent := make(map[wire.OutPoint]bool, len(r.spent))
	for point := range r.spent {
		spent[point] = true
	}
	msg := e.make(r.maker, parent, over)
	if over > 0 {
		r.spent = spent // it is refused
	}
	msg.Header.MerkleRoot = rootOf(msg)
	b := &block{parent: parent, height: parent.height + 1, time: uint32(msg.Header.Timestamp.Unix()), sent: true}
	b.outs = outsOf(msg.Transactions[0], []int{anyone})
	r.finish(b, msg, false)
	return b
}
