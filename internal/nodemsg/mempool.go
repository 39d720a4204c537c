package nodemsg

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// OfferTx puts a transaction of a peer into the pool.
//
// Errors: [*messages.TxReject].
type OfferTx struct {
	messages.Asks[messages.Done]

	Tx *wire.MsgTx
}

// OfferPackage puts a child of a peer with its parents, which come first, into the
// pool.
type OfferPackage struct {
	messages.Asks[messages.PackageResult]

	Txs []*wire.MsgTx
}

// MarkBroadcast says that a peer has asked for a transaction of our own.
type MarkBroadcast struct{ ID chainhash.Hash }

// GetOrphans asks the actor that relays transactions for those that wait for their
// parents, by witness id.
type GetOrphans struct{ messages.Asks[[]Orphan] }

// Orphan is a transaction that waits for its parents.
type Orphan struct {
	Tx    *wire.MsgTx
	Peers []int64 // that announced it, ascending
}
