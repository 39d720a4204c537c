package messages

import (
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// The requests of this file are served by the peer table. Where transactions are not handed over privately
// (-privatebroadcast), all are answered with [ErrNotPrivate].

var (
	// ErrNotPrivate reports a node that hands no transactions over privately.
	ErrNotPrivate = refusal("private broadcast is not enabled")

	// ErrPrivateFull reports that as many transactions are handed over privately as may be.
	ErrPrivateFull = refusal("private broadcast queue is full")

	// ErrNotInPrivate reports a transaction that is not handed over privately.
	ErrNotInPrivate = refusal("transaction is not in the private broadcast queue")
)

// BroadcastPrivately hands a transaction to a few nodes, each by a connection of its own that does not tell
// where it comes from. That goes on until the network sends the transaction back; nothing of it is kept on
// the disk. A transaction that is handed over already stays as it is. Nobody judges it here: see
// SubmitTx.Test.
//
// Errors: [ErrNotPrivate], [ErrPrivateFull].
type BroadcastPrivately struct {
	Control[Done]

	Tx *wire.MsgTx
}

// GetPrivateBroadcasts asks for the transactions that are handed over privately, in the order in which they
// came.
//
// Errors: [ErrNotPrivate].
type GetPrivateBroadcasts struct {
	Control[[]PrivateBroadcast]
}

// PrivateBroadcast is a transaction that is handed over privately. It is not to be changed.
type PrivateBroadcast struct {
	Tx      *wire.MsgTx
	ID, WID chainhash.Hash
	Added   time.Time
	Sent    []PrivateSend
	Left    int // how often it may be handed over yet
}

// PrivateSend is a node that gets a transaction.
type PrivateSend struct {
	Peer     int64 // of the connection
	Addr     string
	At       time.Time // of the announcement
	Received time.Time // zero: not yet, or never
}

// AbortPrivateBroadcast takes the transactions of an id, with or without witnesses, out of those that are
// handed over privately, and is answered with these.
//
// Errors: [ErrNotPrivate], [ErrNotInPrivate].
type AbortPrivateBroadcast struct {
	Control[[]PrivateBroadcast]

	ID chainhash.Hash
}
