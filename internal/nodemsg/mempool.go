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

// SortTxs asks the pool in which order transactions are mined: those that pay most first, and none before its
// ancestors. The answer leaves out transactions that are not in the pool.
type SortTxs struct {
	messages.Asks[[]chainhash.Hash] // by wtxid

	WIDs []chainhash.Hash
}

// GetTxSending asks the actor that relays transactions for the limits of its announcements to all peers together.
type GetTxSending struct{ messages.Control[TxSending] }

// TxSending is how many transactions are announced in a second, and how much may be announced now.
type TxSending struct {
	Rate              int
	Inbound, Outbound TxBacklog
}

// TxBacklog counts the transactions that peers are yet to be told of.
type TxBacklog struct {
	Waiting    int     // transactions
	Txs, Bytes float64 // that may be announced now, of transactions and their bytes
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
