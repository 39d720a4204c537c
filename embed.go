package trawl

import (
	"context"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/part"
	"github.com/seed61375155/trawl/messages"
)

// A Ref addresses one of the node's actors.
type Ref = ask.Ref

// ErrClosed reports that the node was closed, or has failed: then the cause is wrapped too.
var ErrClosed = part.ErrClosed

// Errors of [Ask], beside those that a request documents.
var (
	ErrStopped   = ask.ErrStopped   // the actor stopped before it answered
	ErrRestarted = ask.ErrRestarted // the actor failed while it held the request
	ErrUnhandled = ask.ErrUnhandled // the actor does not serve this request
	ErrAbsent    = ask.ErrAbsent    // the node runs without this actor
)

// Ask sends a request of package messages to an actor and waits for its answer,
// whose type the request names. It returns in any case: with the answer, with
// the error of ctx, or with one of the errors above.
//
// From inside an actor of the host, which must not wait, use protoactor's
// RequestFuture with the same message and the PID of the Ref; the reply is the
// answer, or an error.
func Ask[Q messages.Request[R], R any](ctx context.Context, to *Ref, q Q) (R, error) {
	return ask.Ask(ctx, to, q)
}

// Descriptors returns what descriptors and addresses of the node's network look like.
func (n *Node) Descriptors() *descriptor.Network { return n.net.Descriptors() }

// Chain returns the actor that owns the chain. It serves the requests of
// messages/chain.go.
func (n *Node) Chain() *Ref { return n.set.Ref(chainPart) }

// TxBuilder returns the actor that builds transactions. It serves the requests of
// messages/tx.go.
func (n *Node) TxBuilder() *Ref { return n.set.Ref(txbuilderPart) }

// Mempool returns the actor that owns the pool of unconfirmed transactions. It
// serves the requests of messages/mempool.go.
func (n *Node) Mempool() *Ref { return n.set.Ref(mempoolPart) }

// Wallets returns the actor that loads, creates and restores wallets, absent when
// the node keeps none. It serves the requests of messages/wallets.go.
func (n *Node) Wallets() *Ref { return n.set.Ref(walletsPart) }

// Wallet returns the actor of a loaded wallet, nil when it is not loaded. It
// serves the requests of messages/wallet.go and messages/wallettx.go.
func (n *Node) Wallet(name string) *Ref {
	return n.walletDir.Lookup(name)
}

// Peers returns the actor that owns the connections to peers, absent when the node
// has none. It serves the requests of messages/peers.go.
func (n *Node) Peers() *Ref { return n.set.Ref(peersPart) }

// Indexer returns the actor that keeps the block filter index, absent when there
// is none. It serves the requests of messages/index.go.
func (n *Node) Indexer() *Ref { return n.set.Ref(indexerPart) }

// Scanner returns the actor that runs scans, absent when there is no index. It
// serves the requests of messages/scan.go.
func (n *Node) Scanner() *Ref { return n.set.Ref(scannerPart) }
