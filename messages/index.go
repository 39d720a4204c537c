package messages

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// ErrIndexDisabled reports that the node keeps no block filter index.
var ErrIndexDisabled = refusal("block filter index is not enabled")

// GetIndexStatus asks how far the block filter index has come.
type GetIndexStatus struct{ Control[IndexStatus] }

// IndexStatus is the answer to [GetIndexStatus].
type IndexStatus struct {
	Synced        bool  // has reached the active tip once since the start
	Height        int32 // best block with a filter; -1: none
	Hash          chainhash.Hash
	WithoutProbes int // filters without probe lines, of which the index is about to make them
}

// WaitIndexed is answered when the index holds the filter of a block and those
// of all its ancestors.
//
// Errors: [ErrBlockNotFound]; what building the filter answered.
type WaitIndexed struct {
	Control[Done]

	Block chainhash.Hash
}

// WaitIndexIdle is answered when the index has followed every change of the
// chain that was announced before, provided that it had been in step.
type WaitIndexIdle struct{ Control[Done] }

// RepairFilter reports a filter that turned out to be damaged and asks for its
// segment to be re-made from the chain.
//
// Errors: what reading the block or writing the segment answered.
type RepairFilter struct {
	Control[Done]

	Block chainhash.Hash
}

// VerifyIndex reads every segment of the index and compares every filter with
// its recorded hash. Damaged segments are re-made.
type VerifyIndex struct{ Asks[VerifyResult] }

// VerifyResult is the answer to [VerifyIndex].
type VerifyResult struct {
	Segments int // read
	Rebuilt  int // damaged, and re-made
}
