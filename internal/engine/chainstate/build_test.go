package chainstate_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/messages"
)

// A made block is a block that a test built on regtest.
type made struct {
	hash   chainhash.Hash
	height int32
	time   uint32
	txs    []*wire.MsgTx
	raw    []byte
}

const coin = 100_000_000

var nonces uint32 // makes coinbases differ

// genesis is what regtest begins with.
func genesis(tb testing.TB) *made {
	tb.Helper()
	b := network(tb, "regtest").Params.GenesisBlock
	return &made{hash: b.BlockHash(), time: uint32(b.Header.Timestamp.Unix())}
}

// A change alters a block before it is solved.
type change func(*wire.MsgBlock)

// on builds a block of transactions, whose coinbase takes the subsidy.
func (m *made) on(txs []*wire.MsgTx, changes ...change) *made {
	nonces++
	height := m.height + 1
	sig, err := txscript.NewScriptBuilder().AddInt64(int64(height)).AddData(binary.LittleEndian.AppendUint32(
		nil, nonces,
	)).Script()
	if err != nil {
		panic(err)
	}
	coinbase := wire.NewMsgTx(2)
	coinbase.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: math.MaxUint32}, SignatureScript: sig, Sequence: math.MaxUint32,
	})
	coinbase.AddTxOut(wire.NewTxOut(50*coin>>(height/150), trueScript))
	block := &wire.MsgBlock{
		Header: wire.BlockHeader{
			Version: 0x20000000, PrevBlock: m.hash, Timestamp: time.Unix(int64(m.time)+60, 0), Bits: 0x207fffff,
		},
		Transactions: append([]*wire.MsgTx{coinbase}, txs...),
	}
	for _, tx := range txs {
		if tx.HasWitness() {
			commit(block)
			break
		}
	}
	block.Header.MerkleRoot = rootOf(block)
	for _, c := range changes {
		c(block)
	}
	return finish(block, height)
}

// finish solves a block.
func finish(block *wire.MsgBlock, height int32) *made {
	var raw bytes.Buffer
	if err := block.Serialize(&raw); err != nil {
		panic(err)
	}
	out := &made{height: height, time: uint32(block.Header.Timestamp.Unix()), txs: block.Transactions, raw: raw.Bytes()}
	for n := uint32(0); !meets(out.raw); n++ {
		binary.LittleEndian.PutUint32(out.raw[76:], n)
	}
	out.hash = chainhash.DoubleHashH(out.raw[:80])
	return out
}

func rootOf(block *wire.MsgBlock) chainhash.Hash {
	ids := make([]chainhash.Hash, len(block.Transactions))
	for i, tx := range block.Transactions {
		ids[i] = tx.TxHash()
	}
	root, _ := consensus.MerkleRoot(ids)
	return root
}

// commit has the coinbase commit to the witnesses.
func commit(block *wire.MsgBlock) {
	ids := make([]chainhash.Hash, len(block.Transactions))
	for i, tx := range block.Transactions {
		ids[i] = tx.WitnessHash()
	}
	ids[0] = chainhash.Hash{}
	root, _ := consensus.MerkleRoot(ids)
	nonce := make([]byte, 32)
	hash := chainhash.DoubleHashB(append(root[:], nonce...))
	coinbase := block.Transactions[0]
	coinbase.TxIn[0].Witness = wire.TxWitness{nonce}
	coinbase.AddTxOut(wire.NewTxOut(0, append(bytes.Clone(consensus.WitnessMagic[:]), hash...)))
}

// remake builds the root again after the transactions were changed.
func remake(f func(*wire.MsgBlock)) change {
	return func(b *wire.MsgBlock) {
		f(b)
		b.Header.MerkleRoot = rootOf(b)
	}
}

// greedy takes a satoshi more than there is.
func greedy(b *wire.MsgBlock) {
	remake(func(b *wire.MsgBlock) { b.Transactions[0].TxOut[0].Value++ })(b)
}

// chainOn builds n blocks.
func (m *made) chainOn(n int) []*made {
	var list []*made
	for range n {
		m = m.on(nil)
		list = append(list, m)
	}
	return list
}

// spending spends the first output of a transaction with no signature and pays it on
// but for the fee.
func spending(tx *wire.MsgTx, pay []byte, fee int64) *wire.MsgTx {
	out := wire.NewMsgTx(2)
	hash := tx.TxHash()
	out.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: hash}, Sequence: math.MaxUint32})
	out.AddTxOut(wire.NewTxOut(tx.TxOut[0].Value-fee, pay))
	return out
}

// answer is what submitblock answers: "" for an accepted block.
func answer(tb testing.TB, err error) string {
	tb.Helper()
	var reject *messages.RejectError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &reject):
		return reject.Reason
	}
	tb.Fatalf("the engine failed: %v", err)
	return ""
}

func submit(tb testing.TB, e *bitcoin.Engine, b *made) string {
	tb.Helper()
	return answer(tb, e.Submit(b.raw))
}

func wantSubmit(tb testing.TB, e *bitcoin.Engine, what string, b *made, want string) {
	tb.Helper()
	if got := submit(tb, e, b); got != want {
		tb.Errorf("%s: %q, want %q", what, got, want)
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func wantTip(tb testing.TB, e *bitcoin.Engine, what string, b *made) {
	tb.Helper()
	if tip := e.Reader().Active().Tip(); tip.Hash != b.hash {
		tb.Errorf("%s: tip is %v at height %d, want height %d", what, tip.Hash, tip.Height, b.height)
	}
}
