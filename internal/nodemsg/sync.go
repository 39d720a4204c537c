package nodemsg

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/messages"
)

// AcceptHeaders makes headers part of the block tree, without their blocks.
// Asked of the chain.
//
// Errors: [*messages.RejectError] for the first header that breaks a rule, or whose parent
// is unknown; those before it are in the tree then.
type AcceptHeaders struct {
	messages.Asks[AcceptedHeaders]

	// Headers are serialized as in the network's message of that name, without
	// the number of transactions, parents first.
	Headers [][]byte
}

// AcceptedHeaders is the answer to [AcceptHeaders].
type AcceptedHeaders struct {
	Last chainhash.Hash // of the last header
	New  int            // how many were not known before
}

// AcceptBlocks validates blocks that peers have sent, whose parents' blocks must be
// there or come before them, and connects each where it ends the chain with the
// most work. Requests of users go before it. It is answered when no kill of the
// process can lose the blocks; a loss of power may. Asked of the chain.
type AcceptBlocks struct {
	messages.Asks[AcceptedBlocks]

	Raw [][]byte // serialized blocks
}

// AcceptedBlocks is the answer to [AcceptBlocks].
type AcceptedBlocks struct {
	// Refused has one place for each block: nil, or a [*messages.RejectError].
	Refused []error

	// Late are blocks that were taken before and proved to break a rule when these
	// had them connected.
	Late []LateRefusal
}

// A LateRefusal is what became of a block that had been taken.
type LateRefusal struct {
	Hash   chainhash.Hash
	Reason *messages.RejectError
}

// RestoreBlock stores a block again that was pruned. Asked of the chain.
//
// Errors: [*messages.RejectError].
type RestoreBlock struct {
	messages.Asks[messages.Done]

	Raw []byte // serialized block
}

// RecoverWitnesses takes a block again whose witnesses were deleted and are wanted (chainview.WitnessesOf). Asked of
// the chain.
//
// Errors: [*messages.RejectError], [ErrNotKept].
type RecoverWitnesses struct {
	messages.Asks[messages.Done]

	Raw []byte // serialized block
}

// GetSyncState asks how far the node is. Asked of sync.
type GetSyncState struct{ messages.Asks[SyncState] }

// SyncState is the answer to [GetSyncState].
type SyncState struct {
	// InitialDownload says that the node is on its first way to the network's
	// tip.
	InitialDownload bool
}

// FetchBlockFrom asks a peer for a block, to be stored when it comes. It is
// answered when it was asked for. Asked of sync.
//
// Errors: [ErrNoPeer], [ErrPreSegwitPeer], [ErrLittleWork], [ErrAlreadyRequested], [ErrImporting].
type FetchBlockFrom struct {
	messages.Asks[messages.Done]

	Hash chainhash.Hash // of a known header
	Peer int64
}

// FetchBlock asks the peers for a block that is not on disk any more. The answer is
// the serialized block, checked to be the one of its known header; it is not
// stored. Asked of sync.
//
// Errors: [messages.ErrBlockNotFound] for an unknown header, [ErrNoSource].
type FetchBlock struct {
	messages.Asks[[]byte]

	Hash chainhash.Hash
}
