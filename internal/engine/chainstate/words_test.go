package chainstate_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
)

// ripe returns an engine whose first coinbases may be spent, with its blocks.
func ripe(tb testing.TB) (*bitcoin.Engine, []*made) {
	tb.Helper()
	e := fresh(tb)
	blocks := genesis(tb).chainOn(110)
	for _, b := range blocks {
		wantSubmit(tb, e, "block", b, "")
	}
	return e, blocks
}

// A block whose contents break a rule leaves its header, which is invalid from then
// on, unless another block of that header may be right.
func TestHeaderOfRefusedBlock(t *testing.T) {
	e, blocks := ripe(t)
	tip := blocks[len(blocks)-1]
	heavy := bytes.Repeat([]byte{0}, 4_000_000)
	for _, test := range []struct {
		name, want string
		again      string
		block      *made
	}{
		{"height", "bad-cb-height", "duplicate-invalid", tip.on(nil, remake(func(b *wire.MsgBlock) {
			b.Transactions[0].TxIn[0].SignatureScript = []byte{1, 1}
		}))},
		{"lock time", "bad-txns-nonfinal", "duplicate-invalid", tip.on(nil, remake(func(b *wire.MsgBlock) {
			b.Transactions[0].LockTime, b.Transactions[0].TxIn[0].Sequence = 500, 0
		}))},
		{"weight", "bad-blk-weight", "duplicate-invalid", tip.on([]*wire.MsgTx{witnessed(blocks[0].txs[0], heavy)})},
		{"witness root", "bad-witness-merkle-match", "bad-witness-merkle-match", tip.on(
			[]*wire.MsgTx{witnessed(blocks[0].txs[0], nil)},
			remake(func(b *wire.MsgBlock) { b.Transactions[0].TxOut[1].PkScript[10] ^= 1 }))},
		{"nonce", "bad-witness-nonce-size", "bad-witness-nonce-size", tip.on(
			[]*wire.MsgTx{witnessed(blocks[0].txs[0], nil)},
			remake(func(b *wire.MsgBlock) { b.Transactions[0].TxIn[0].Witness[0] = []byte{1} }))},
		{"no commitment", "unexpected-witness", "unexpected-witness", tip.on(
			[]*wire.MsgTx{witnessed(blocks[0].txs[0], nil)}, remake(func(b *wire.MsgBlock) {
				b.Transactions[0].TxOut, b.Transactions[0].TxIn[0].Witness = b.Transactions[0].TxOut[:1], nil
			}))},
		{"merkle root", "bad-txnmrklroot", "bad-txnmrklroot", tip.on(nil, func(b *wire.MsgBlock) { b.Header.MerkleRoot[3] ^= 1 })},
	} {
		wantSubmit(t, e, test.name, test.block, test.want)
		wantSubmit(t, e, test.name+", again", test.block, test.again)
		child := "prev-blk-not-found"
		if test.want != "bad-txnmrklroot" {
			child = "inconclusive"
		}
		if test.again == "duplicate-invalid" {
			child = "bad-prevblk"
		}
		wantSubmit(t, e, test.name+", child", test.block.on(nil), child)
		_, _, err := e.AcceptHeaders([][]byte{test.block.raw[:80]})
		if got := answer(t, err); test.again == "duplicate-invalid" && got != "duplicate-invalid" {
			t.Errorf("%s, header: %q", test.name, got)
		}
		if b := e.Reader().Lookup(&test.block.hash); b != nil && b.Status()&chainview.HasData != 0 {
			t.Errorf("%s: it is stored", test.name)
		}
	}
	wantTip(t, e, "at the end", tip)
}

// witnessed spends with a witness of one item.
func witnessed(tx *wire.MsgTx, item []byte) *wire.MsgTx {
	out := spending(tx, trueScript, 1000)
	out.TxIn[0].Witness = wire.TxWitness{item}
	return out
}

// Rules are looked at in Core's order, and their words are Core's.
func TestOrderOfRules(t *testing.T) {
	e, blocks := ripe(t)
	tip := blocks[len(blocks)-1]
	known := tip.on(nil)
	wantSubmit(t, e, "a good block", known, "")
	spend := func(n int, changes ...func(*wire.MsgTx)) *wire.MsgTx {
		tx := spending(blocks[n].txs[0], trueScript, 1000)
		for _, c := range changes {
			c(tx)
		}
		return tx
	}
	cut := []byte{0x4c} // OP_PUSHDATA1 without its size
	first := spend(1, func(tx *wire.MsgTx) { tx.TxOut[0].PkScript = cut })
	doubled := func(b *wire.MsgBlock) { b.Transactions = append(b.Transactions, b.Transactions[len(b.Transactions)-1]) }
	bits0 := func(b *wire.MsgBlock) { b.Header.Bits = 0 }
	for _, test := range []struct {
		name  string
		block *made
		want  string
	}{
		{"known, with another body", known.swap(known.on(nil)), "bad-txnmrklroot"},
		{"bits of zero", known.on(nil, bits0), "high-hash"},
		{"bits", known.on(nil, func(b *wire.MsgBlock) { b.Header.Bits = 0x207ffffe }), "bad-diffbits"},
		{"no transactions", known.on(nil, func(b *wire.MsgBlock) { b.Transactions = nil }), "bad-txnmrklroot"},
		{"none, and the root says so", known.on(nil, remake(func(b *wire.MsgBlock) { b.Transactions = nil })), "bad-blk-length"},
		{"coinbase doubled", known.on(nil, doubled), "bad-txnmrklroot"},
		{"two coinbases", known.on([]*wire.MsgTx{known.txs[0]}), "bad-cb-multiple"},
		{"no coinbase", known.on(
			nil, remake(func(b *wire.MsgBlock) { b.Transactions[0] = spend(2) }),
		), "bad-cb-missing"},
		{"one transaction twice", known.on([]*wire.MsgTx{spend(2), spend(2)}), "bad-txns-inputs-missingorspent"},
		{"twice, and the root is the same", known.on([]*wire.MsgTx{spend(2), spend(3)}, doubled), "bad-txns-duplicate"},
		{
			"an output that does not parse is spent", known.on([]*wire.MsgTx{first, spending(first, trueScript, 1000)}),
			"block-script-verify-flag-failed (Opcode missing or not understood)",
		},
		{"stack", known.on([]*wire.MsgTx{spend(2, func(tx *wire.MsgTx) { tx.TxOut[0].PkScript = []byte{0x00} })}), ""},
		{"immature", known.on([]*wire.MsgTx{spending(known.txs[0], trueScript, 0)}), "bad-txns-premature-spend-of-coinbase"},
		{
			"negative", known.on([]*wire.MsgTx{spend(4, func(tx *wire.MsgTx) { tx.TxOut[0].Value = -1 })}),
			"bad-txns-vout-negative",
		},
		{
			"too much", known.on([]*wire.MsgTx{spend(4, func(tx *wire.MsgTx) { tx.TxOut[0].Value = 21e14 + 1 })}),
			"bad-txns-vout-toolarge",
		},
		{"more out than in", known.on([]*wire.MsgTx{spending(blocks[4].txs[0], trueScript, -1)}), "bad-txns-in-belowout"},
		{"coinbase pays too much", known.on(nil, greedy), "bad-cb-amount"},
		{"version", known.on(nil, func(b *wire.MsgBlock) { b.Header.Version = 3 }), "bad-version(0x00000003)"},
		{"unsigned p2sh-p2wpkh", known.on(nested(blocks[5].txs[0])), "block-script-verify-flag-failed (Witness program hash mismatch)"},
	} {
		wantSubmit(t, e, test.name, test.block, test.want)
		if test.want == "" {
			must(t, e.Invalidate(&test.block.hash))
		}
	}
	wantTip(t, e, "at the end", known)
}

// swap puts the transactions of another block under the header.
func (m *made) swap(other *made) *made {
	return &made{hash: m.hash, height: m.height, time: m.time, txs: other.txs, raw: append(
		bytes.Clone(m.raw[:80]), other.raw[80:]...,
	)}
}

// nested pays to a P2WPKH program in P2SH and spends it without a witness.
func nested(from *wire.MsgTx) []*wire.MsgTx {
	program := append([]byte{0, 20}, btcutil.Hash160([]byte("nobody"))...)
	pay := append(append([]byte{0xa9, 20}, btcutil.Hash160(program)...), 0x87)
	first := spending(from, pay, 1000)
	second := spending(first, trueScript, 1000)
	second.TxIn[0].SignatureScript = append([]byte{22}, program...)
	return []*wire.MsgTx{first, second}
}

// Scripts that fail are named by the rule that they break.
func TestScriptWords(t *testing.T) {
	e, blocks := ripe(t)
	tip := blocks[len(blocks)-1]
	program := sha256.Sum256([]byte{0x51})
	wsh := append([]byte{0, 32}, program[:]...)
	nestedWSH := append(append([]byte{0xa9, 20}, btcutil.Hash160(wsh)...), 0x87)
	for i, test := range []struct {
		name      string
		pay       []byte
		sigScript []byte
		want      string
	}{
		{"false", []byte{0x00}, nil, "Script evaluated without error but finished with a false/empty top stack element"},
		{"return", []byte{0x51, 0x6a}, nil, "OP_RETURN was encountered"},
		{"empty p2sh-p2wsh", nestedWSH, append([]byte{34}, wsh...), "Witness program was passed an empty witness"},
		{"no witness", wsh, nil, "Witness program was passed an empty witness"},
	} {
		first := spending(blocks[i].txs[0], test.pay, 1000)
		second := spending(first, trueScript, 1000)
		second.TxIn[0].SignatureScript = test.sigScript
		wantSubmit(t, e, test.name, tip.on([]*wire.MsgTx{first, second}), "block-script-verify-flag-failed ("+test.want+")")
	}
}

// A transaction without inputs and outputs is read, and refused for lacking them.
func TestEmptyTransaction(t *testing.T) {
	e := fresh(t)
	block := genesis(t).on(nil)
	raw := append(bytes.Clone(block.raw[:80]), 2)
	raw = append(raw, block.raw[81:]...)
	empty := []byte{2, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	raw = append(raw, empty...)
	id := block.txs[0].TxHash()
	ids := append(id[:], chainhash.DoubleHashB(empty)...)
	copy(raw[36:68], chainhash.DoubleHashB(ids))
	for n := uint32(0); !meets(raw); n++ {
		binary.LittleEndian.PutUint32(raw[76:], n)
	}
	if got := answer(t, e.Submit(raw)); got != "bad-txns-vin-empty" {
		t.Errorf("got %q", got)
	}
}
