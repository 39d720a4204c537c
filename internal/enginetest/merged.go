package enginetest

import (
	"bytes"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// A Proof makes the payload of a merge-mined block: a block of another chain, with a coinbase alone, that commits
// to this block alone. The targets are to be those of a regtest.
type Proof struct {
	Hash     chainhash.Hash // of the merge-mined block
	Internal bool           // the commitment is written as it is hashed, not as it is shown
	Unsolved bool           // the block of the other chain has no work

	// Gap stands behind the coinbase, where miners of some chains put the hash of the block of the other chain.
	Gap func(parent chainhash.Hash) []byte
}

// Payload returns the serialized payload.
func (p Proof) Payload() []byte {
	named := slices.Clone(p.Hash[:])
	if !p.Internal {
		slices.Reverse(named)
	}
	coinbase := wire.NewMsgTx(1)
	coinbase.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex},
		SignatureScript:  slices.Concat([]byte{44, 0xfa, 0xbe, 'm', 'm'}, named, []byte{1, 0, 0, 0, 7, 0, 0, 0}),
	})
	coinbase.AddTxOut(wire.NewTxOut(0, []byte{0x51}))
	parent := wire.BlockHeader{Version: 1, MerkleRoot: coinbase.TxHash(), Timestamp: time.Unix(1, 0), Bits: 0x207fffff}
	for hash := parent.BlockHash(); (hash[chainhash.HashSize-1] < 0x7f) == p.Unsolved; hash = parent.BlockHash() {
		parent.Nonce++
	}
	var raw bytes.Buffer // takes everything
	_ = coinbase.SerializeNoWitness(&raw)
	if p.Gap != nil {
		raw.Write(p.Gap(parent.BlockHash()))
	}
	raw.Write(make([]byte, 1+4+1+4)) // no branches
	_ = parent.Serialize(&raw)
	return raw.Bytes()
}
