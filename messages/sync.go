package messages

import (
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Why [FetchBlock] and [FetchBlockFrom] are refused, in Core's words.
var (
	ErrNoPeer           = errors.New("Peer does not exist")              //nolint:staticcheck,revive // Core's text
	ErrPreSegwitPeer    = errors.New("Pre-SegWit peer")                  //nolint:staticcheck,revive // Core's text
	ErrAlreadyRequested = errors.New("Already requested from this peer") //nolint:staticcheck,revive // Core's text
	ErrImporting        = errors.New("Loading blocks ...")               //nolint:staticcheck,revive // Core's text

	// ErrNoSource reports that no connected peer has given the block.
	ErrNoSource = errors.New("no peer gave the block")
)

// AcceptHeaders makes headers part of the block tree, without their blocks.
// Asked of the chain.
//
// Errors: [*RejectError] for the first header that breaks a rule, or whose parent
// is unknown; those before it are in the tree then.
type AcceptHeaders struct {
	Asks[AcceptedHeaders]

	// Headers are serialized as in the network's message of that name, without
	// the number of transactions, parents first.
	Headers [][]byte
}

// AcceptedHeaders is the answer to [AcceptHeaders].
type AcceptedHeaders struct {
	Last chainhash.Hash // of the last header
	New  int            // how many were not known before
}

// AcceptBlock validates a block that a peer has sent, whose parent's block must be
// there, and connects it where it ends the chain with the most work. Requests of
// users go before it. It is answered when no kill of the process can lose the
// block; a loss of power may. Asked of the chain.
//
// Errors: [*RejectError].
type AcceptBlock struct {
	Asks[Done]

	Raw []byte // serialized block
}

// GetSyncState asks how far the node and its peers are. Asked of sync.
type GetSyncState struct{ Asks[SyncState] }

// SyncState is the answer to [GetSyncState].
type SyncState struct {
	InitialDownload bool
	Peers           map[int64]SyncPeer // by the peer's id
}

// SyncPeer is what is known of a peer's chain.
type SyncPeer struct {
	PresyncedHeaders int32   // height of a sync of headers whose work is not known yet, -1 when there is none
	SyncedHeaders    int32   // height of the last header that both have, -1 when unknown
	SyncedBlocks     int32   // height of the last block that both have, -1 when unknown
	InFlight         []int32 // heights of the blocks that were asked of it
	LastBlock        int64   // when it last gave a new valid block, in seconds since 1970; 0: never

	// High-bandwidth relay of compact blocks (BIP152): whether this node has
	// chosen the peer for it, and the peer this node.
	HighBandwidthTo, HighBandwidthFrom bool
}

// FetchBlockFrom asks a peer for a block, to be stored when it comes. It is
// answered when it was asked for. Asked of sync.
//
// Errors: [ErrNoPeer], [ErrPreSegwitPeer], [ErrAlreadyRequested], [ErrImporting].
type FetchBlockFrom struct {
	Asks[Done]

	Hash chainhash.Hash // of a known header
	Peer int64
}

// FetchBlock asks the peers for a block that is not on disk any more. The answer is
// the serialized block, checked to be the one of its known header; it is not
// stored. Asked of sync.
//
// Errors: [ErrBlockNotFound] for an unknown header, [ErrNoSource].
type FetchBlock struct {
	Asks[[]byte]

	Hash chainhash.Hash
}
