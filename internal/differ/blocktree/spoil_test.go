package blocktree

import (
	"bytes"
	"time"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/differ"
)

// A fault makes a block break a rule. After a fault of the first list the Merkle
// root is built again.
var faults = []func(*maker, *wire.MsgBlock, *block){
	func(_ *maker, b *wire.MsgBlock, _ *block) { b.Transactions[0].TxOut[0].Value += 1e10 },
	func(_ *maker, b *wire.MsgBlock, _ *block) {
		b.Transactions[0].TxIn[0].SignatureScript = []byte{2, 1, 1}
	},
	func(_ *maker, b *wire.MsgBlock, _ *block) { b.Transactions[0].TxIn[0].SignatureScript = []byte{1} },
	func(_ *maker, b *wire.MsgBlock, _ *block) {
		in := b.Transactions[0].TxIn[0]
		in.SignatureScript = append(in.SignatureScript, make([]byte, 101)...)
	},
	func(_ *maker, b *wire.MsgBlock, _ *block) {
		b.Transactions[0].LockTime, b.Transactions[0].TxIn[0].Sequence = 1<<20, 0
	},
	func(m *maker, b *wire.MsgBlock, p *block) {
		b.Transactions = append(b.Transactions, m.coinbase(p.height+1))
	},
	func(_ *maker, b *wire.MsgBlock, _ *block) { b.Transactions = b.Transactions[1:] },
	func(_ *maker, b *wire.MsgBlock, _ *block) {
		b.Transactions = append(b.Transactions, b.Transactions[len(b.Transactions)-1])
	},
	func(m *maker, b *wire.MsgBlock, _ *block) {
		n := len(b.Transactions)
		i, j := m.IntN(n), m.IntN(n)
		b.Transactions[i], b.Transactions[j] = b.Transactions[j], b.Transactions[i]
	},
	func(_ *maker, b *wire.MsgBlock, _ *block) {
		many := bytes.Repeat([]byte{txscript.OP_CHECKMULTISIG}, 1001)
		b.Transactions[0].AddTxOut(wire.NewTxOut(0, many))
	},
	func(_ *maker, b *wire.MsgBlock, _ *block) { b.Transactions[0].TxOut = nil },
	func(_ *maker, b *wire.MsgBlock, _ *block) { b.Transactions[0].AddTxOut(wire.NewTxOut(21e14+1, truth)) },
	func(m *maker, b *wire.MsgBlock, _ *block) {
		tx := b.Transactions[m.IntN(len(b.Transactions))]
		tx.AddTxIn(tx.TxIn[0])
	},
	func(_ *maker, b *wire.MsgBlock, _ *block) {
		tx := b.Transactions[len(b.Transactions)-1]
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: 0xffffffff}, Sequence: 0xffffffff})
	},
	func(m *maker, b *wire.MsgBlock, _ *block) {
		if m.IntN(10) == 0 { // it takes time
			b.Transactions[0].AddTxOut(wire.NewTxOut(0, make([]byte, 1_000_000)))
		}
	},
	func(_ *maker, b *wire.MsgBlock, _ *block) {
		b.Transactions[0].TxIn[0].Witness = wire.TxWitness{[]byte{1}}
	},
	func(_ *maker, b *wire.MsgBlock, _ *block) { b.Transactions[0].TxIn[0].Witness = nil },
	func(_ *maker, b *wire.MsgBlock, _ *block) {
		b.Transactions[0].TxOut = b.Transactions[0].TxOut[:1]
	},
	func(_ *maker, b *wire.MsgBlock, _ *block) {
		last := b.Transactions[0].TxOut[len(b.Transactions[0].TxOut)-1]
		last.PkScript = bytes.Clone(last.PkScript)
		last.PkScript[len(last.PkScript)-1] ^= 1
	},
	func(_ *maker, b *wire.MsgBlock, _ *block) {
		tx := b.Transactions[len(b.Transactions)-1]
		tx.TxIn[0].Witness = append(tx.TxIn[0].Witness, []byte{7})
	},
}

// headerFaults change the header alone.
var headerFaults = []func(*maker, *wire.MsgBlock, *block){
	func(m *maker, b *wire.MsgBlock, _ *block) { b.Header.MerkleRoot[m.IntN(32)] ^= 1 },
	func(m *maker, b *wire.MsgBlock, _ *block) { b.Header.Version = int32(m.IntN(5)) },
	func(m *maker, b *wire.MsgBlock, _ *block) { b.Header.Version = -int32(m.IntN(5)) },
	func(_ *maker, b *wire.MsgBlock, _ *block) { b.Header.Bits-- },
	func(m *maker, b *wire.MsgBlock, _ *block) {
		b.Header.Bits = []uint32{0, 0x20800000, 0x1e7fffff, 0xff7fffff}[m.IntN(4)]
	},
	func(m *maker, b *wire.MsgBlock, p *block) {
		b.Header.Timestamp = time.Unix(int64(p.time)-int64(m.IntN(8000)), 0)
	},
	func(_ *maker, b *wire.MsgBlock, _ *block) { b.Header.Timestamp = differ.Now().Add(3 * time.Hour) },
	func(m *maker, b *wire.MsgBlock, _ *block) { b.Header.PrevBlock[m.IntN(32)] ^= 1 },
	func(_ *maker, b *wire.MsgBlock, _ *block) {
		b.Transactions = append(b.Transactions, b.Transactions[len(b.Transactions)-1])
	},
	func(_ *maker, b *wire.MsgBlock, _ *block) { b.Transactions = nil },
	func(m *maker, b *wire.MsgBlock, _ *block) {
		tx := b.Transactions[m.IntN(len(b.Transactions))]
		tx.TxIn[0].Witness = append(tx.TxIn[0].Witness, []byte{7})
	},
}

// spoil breaks a rule, and reports whether it is that of the proof of work.
func (m *maker) spoil(b *wire.MsgBlock, parent *block) (unsolved bool) {
	switch m.IntN(12) {
	case 0:
		return true
	case 1, 2, 3, 4:
		headerFaults[m.IntN(len(headerFaults))](m, b, parent)
	default:
		faults[m.IntN(len(faults))](m, b, parent)
		b.Header.MerkleRoot = rootOf(b)
	}
	return b.Header.Bits != 0x207fffff && m.IntN(2) == 0
}
