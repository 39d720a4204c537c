package nodemsg

import (
	"time"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/messages"
)

// GetPeerSync asks the actor that follows the peers' chains what it knows of
// each.
type GetPeerSync struct {
	messages.Control[map[int64]PeerSync]
}

// PeerSync is a peer's part in the download of blocks.
type PeerSync struct {
	PresyncedHeaders int32 // -1: no such synchronization is under way
	SyncedHeaders    int32 // -1: nothing is known
	SyncedBlocks     int32 // -1: nothing is known
	InFlight         []int32
	LastBlock        time.Time // zero: never
	CompactTo        bool      // the peer is asked to announce compact blocks at once
}

// GetPeerRelay asks the actor that relays transactions what it knows of each
// peer.
type GetPeerRelay struct {
	messages.Control[map[int64]PeerRelay]
}

// PeerRelay is a peer's part in the relay of transactions.
type PeerRelay struct {
	LastTx       time.Time      // zero: never
	MinFeeFilter btcutil.Amount // for 1000 virtual bytes
	LastInv      uint64         // the pool's sequence number when transactions were last announced
	ToAnnounce   int            // transactions that are to be
}
