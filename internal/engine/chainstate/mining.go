package chainstate

import (
	"bytes"
	"context"
	"math"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

// This file makes the parts of new blocks that every kind of chain has: the
// coinbase, its commitment to the witnesses, the nonce. It knows no chain and no disk.

// ParseBlockTxs reads serialized transactions. The error is a [*messages.RejectError].
func ParseBlockTxs(raw [][]byte) ([]*wire.MsgTx, error) {
	txs := make([]*wire.MsgTx, len(raw))
	for i, b := range raw {
		txs[i] = new(wire.MsgTx)
		if err := txs[i].Deserialize(bytes.NewReader(b)); err != nil {
			return nil, &messages.RejectError{Reason: "bad-tx", Debug: err.Error()}
		}
	}
	return txs, nil
}

// NewCoinbase pays the subsidy of the block at height and fees to script. Its input has the height (BIP34).
// Transactions given by hand leave their fees unclaimed, as with Core.
func NewCoinbase(net *dialect.Network, height int32, script []byte, fees btcutil.Amount) *wire.MsgTx {
	const oneByte = 16 // the script needs two, and heights up to this one take one
	builder := txscript.NewScriptBuilder().AddInt64(int64(height))
	if height <= oneByte || net.PaddedCoinbase {
		builder.AddOp(txscript.OP_0)
	}
	sig, err := builder.Script()
	if err != nil {
		panic(err) // five bytes cannot be too long
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: math.MaxUint32},
		SignatureScript:  sig,
		Sequence:         wire.MaxTxInSequenceNum - 1, // so that the lock time counts
	})
	tx.AddTxOut(wire.NewTxOut(int64(net.Subsidy(height)+fees), script))
	tx.LockTime = uint32(height - 1)
	return tx
}

// CommitWitnesses adds the output by which the coinbase, the first of the
// transactions, commits to the witnesses, with a nonce of zeros. The nonce is in the
// block where the rules are active.
func CommitWitnesses(txs []*wire.MsgTx, active bool) {
	ids := make([]chainhash.Hash, len(txs))
	for i, tx := range txs {
		ids[i] = tx.WitnessHash()
	}
	var nonce [chainhash.HashSize]byte
	root := consensus.Commitment(ids, nonce[:])
	coinbase := txs[0]
	if active {
		coinbase.TxIn[0].Witness = wire.TxWitness{nonce[:]}
	}
	coinbase.AddTxOut(wire.NewTxOut(0, slices.Concat(consensus.WitnessMagic[:], root[:])))
}

// FillWitnessNonce puts the nonce of zeros into a coinbase that commits to witnesses
// and lacks it, where the rules are active: BIP22 clients leave it out. It reports
// whether it did.
func FillWitnessNonce(coinbase *wire.MsgTx) bool {
	if len(coinbase.TxIn) == 0 || consensus.WitnessCommitment(coinbase) < 0 || coinbase.HasWitness() {
		return false
	}
	coinbase.TxIn[0].Witness = wire.TxWitness{make([]byte, chainhash.HashSize)}
	return true
}

// MerkleRoot returns the Merkle root of transactions.
func MerkleRoot(txs []*wire.MsgTx) chainhash.Hash {
	ids := make([]chainhash.Hash, len(txs))
	for i, tx := range txs {
		ids[i] = tx.TxHash()
	}
	root, _ := consensus.MerkleRoot(ids)
	return root
}

// Solve looks for a nonce from 0 on, and takes every hash off tries. As with Core, the
// last of the tries does not count even where it succeeds.
func Solve(ctx context.Context, header *wire.BlockHeader, tries *uint64) bool {
	limit := consensus.TargetOf(header.Bits)
	for header.Nonce = 0; *tries > 0 && header.Nonce < math.MaxUint32; header.Nonce++ {
		hash := header.BlockHash()
		if consensus.HashNumber(&hash).Cmp(limit) <= 0 {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		*tries--
	}
	return false
}
