package messages

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// CreateAuxBlock asks for a block to be mined together with those of another chain. The block is made as by
// [MakeTemplate] and kept in memory for [SubmitAuxBlock], until the tip changes or the block is too old. When
// too many blocks are kept, the oldest is dropped.
//
// Errors: those of [MakeTemplate]; [ErrNotMergeMined].
type CreateAuxBlock struct {
	Asks[AuxBlock]

	Script []byte
	Txs    [][]byte // serialized
	Fees   int64
	On     chainhash.Hash
}

// AuxBlock is a block that waits for the proof that a block of another chain names it.
type AuxBlock struct {
	Hash   chainhash.Hash
	Parent chainhash.Hash
	Height int32
	Bits   uint32 // compact target that the block of the other chain has to meet
	Value  int64  // what the coinbase pays
}

// SubmitAuxBlock hands in the proof for a block that was made by [CreateAuxBlock], and submits it. A block that is
// refused can be tried again. It is answered as [SubmitBlock].
//
// Errors: those of [SubmitBlock]; [*RejectError] with the reason "stale-prevblk" for a block that is not kept.
type SubmitAuxBlock struct {
	Asks[Done]

	Hash    chainhash.Hash
	Payload []byte // in the layout of blocks
}
