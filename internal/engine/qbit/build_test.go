package qbit

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
)

// anyone is a tree whose only script anyone satisfies.
var anyone = p2mr.NewLeaf([]byte{txscript.OP_TRUE})

// anyoneScript is the output script that pays to anyone.
func anyoneScript() []byte { return p2mr.OutputScript(anyone.Root()) }

// A block is a block that a test makes or changes.
type block struct {
	*pow.Header
	txs []*btcutil.Tx
}

// readBlock reads a serialized block.
func readBlock(raw []byte) (*block, error) {
	h, size, err := pow.ReadHeader(raw)
	if err != nil {
		return nil, err
	}
	txs, _, err := consensus.ReadTxs(raw, size)
	if err != nil {
		return nil, err
	}
	b := &block{Header: h}
	for _, tx := range txs.List {
		b.txs = append(b.txs, btcutil.NewTx(tx))
	}
	return b, nil
}

func (b *block) list() (txs []*wire.MsgTx) {
	for _, tx := range b.txs {
		txs = append(txs, tx.MsgTx())
	}
	return txs
}

func (b *block) root() chainhash.Hash { return chainstate.MerkleRoot(b.list()) }

// serialize returns the block as it is stored and sent.
func (b *block) serialize() []byte {
	var out bytes.Buffer // takes everything
	_ = b.Serialize(&out)
	out.Write(b.Payload)
	_ = wire.WriteVarInt(&out, 0, uint64(len(b.txs)))
	for _, tx := range b.txs {
		_ = tx.MsgTx().Serialize(&out)
	}
	return out.Bytes()
}

// A builder makes blocks on top of any block of an engine's tree.
type builder struct {
	tb     testing.TB
	e      *rig
	number uint64 // makes coinbases differ
}

// build makes a solved block that pays its coinbase to anyone. change may be nil.
func (b *builder) build(parent *chainview.Block, txs []*wire.MsgTx, change func(*block)) []byte {
	b.tb.Helper()
	made := &block{Header: &pow.Header{BlockHeader: wire.BlockHeader{
		Version: 0x20000000, PrevBlock: parent.Hash, Bits: parent.Bits(),
		Timestamp: time.Unix(max(parent.MedianTimePast(), parent.Time().Unix())+1, 0),
	}}}
	coinbase := chainstate.NewCoinbase(b.e.net, parent.Height+1, anyoneScript(), 0)
	b.number++
	in := coinbase.TxIn[0]
	in.SignatureScript = append(in.SignatureScript, binary.BigEndian.AppendUint64([]byte{8}, b.number)...)
	txs = slices.Insert(slices.Clone(txs), 0, coinbase)
	chainstate.CommitWitnesses(txs, true)
	for _, tx := range txs {
		made.txs = append(made.txs, btcutil.NewTx(tx))
	}
	if change != nil {
		change(made)
	}
	made.MerkleRoot = made.root()
	tries := ^uint64(0)
	if made.Payload == nil && !chainstate.Solve(b.tb.Context(), &made.BlockHeader, &tries) {
		b.tb.Fatal("not solved")
	}
	return made.serialize()
}

// add builds a block on top of parent, has it accepted, and returns it.
func (b *builder) add(parent *chainview.Block, txs ...*wire.MsgTx) *chainview.Block {
	b.tb.Helper()
	raw := b.build(parent, txs, nil)
	if err := b.e.Accept(raw); err != nil {
		b.tb.Fatal(err)
	}
	read, err := readBlock(raw)
	if err != nil {
		b.tb.Fatal(err)
	}
	return b.e.tree.Lookup(&read.Hash)
}

// chain adds n blocks without transactions.
func (b *builder) chain(parent *chainview.Block, n int) *chainview.Block {
	b.tb.Helper()
	for range n {
		parent = b.add(parent)
	}
	return parent
}

// spend takes an output that pays to anyone and pays it to two outputs of the same
// kind.
func spend(out wire.OutPoint, value int64) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{
		PreviousOutPoint: out, Sequence: wire.MaxTxInSequenceNum,
		Witness: wire.TxWitness{[]byte{txscript.OP_TRUE}, p2mr.ControlBlock{Version: p2mr.ScriptVersion}.Bytes()},
	})
	tx.AddTxOut(wire.NewTxOut(value/2, anyoneScript()))
	tx.AddTxOut(wire.NewTxOut(value-value/2, slices.Clone(anyoneScript())))
	return tx
}

// coinbaseOf returns the first output of a block's coinbase.
func (b *builder) coinbaseOf(at *chainview.Block) (wire.OutPoint, int64) {
	b.tb.Helper()
	raw, err := b.e.db.Block(&at.Hash)
	if err != nil {
		b.tb.Fatal(err)
	}
	read, err := readBlock(raw)
	if err != nil {
		b.tb.Fatal(err)
	}
	return wire.OutPoint{Hash: *read.txs[0].Hash()}, read.txs[0].MsgTx().TxOut[0].Value
}
