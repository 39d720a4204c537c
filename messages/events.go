package messages

import "context"

// ErrLagged ends a subscription whose reader was too slow, or that lost events because a part
// of the node failed: some are missing after those that it has read.
var ErrLagged = refusal("events were missed")

// ErrUnsubscribed reports a subscription that was closed.
var ErrUnsubscribed = refusal("subscription is closed")

// An EventKind is what an event is about.
type EventKind uint8

// The kinds of events, with the types of their news.
const (
	EventTip    EventKind = iota + 1 // [TipChanged]
	EventPool                        // [PoolChange], [PoolReset]
	EventWallet                      // [WalletChanged], [WalletTxChanged], [WalletRestored]
	EventScan                        // [ScanChanged]
	EventPeer                        // [PeerChanged]
	EventSearch                      // [SearchChanged], [SearchFound], [SearchPool]
)

// An Event is news of a node. Ids ascend; those that a subscription does not see are of
// other kinds.
type Event struct {
	ID   uint64
	News News
}

// News is what an event tells: one of the types that the kinds name.
type News interface{ Kind() EventKind }

// PoolReset says that the memory pool is empty and new.
type PoolReset struct{}

// WalletChanged says that a wallet was loaded, or is not loaded any more.
type WalletChanged struct {
	Name   string
	Loaded bool
}

// ScanChanged says that a block-filter scan has begun, how far it has come, or that it has
// ended.
type ScanChanged struct {
	ScanStatus
	Completed bool // it has ended, and was not aborted and did not fail
}

// PeerChanged says that a peer has shaken hands, or that it has left.
type PeerChanged struct {
	ID        int64
	Addr      string
	Inbound   bool
	Connected bool
}

// Kind implements [News].
func (TipChanged) Kind() EventKind { return EventTip }

// Kind implements [News].
func (PoolChange) Kind() EventKind { return EventPool }

// Kind implements [News].
func (PoolReset) Kind() EventKind { return EventPool }

// Kind implements [News].
func (WalletChanged) Kind() EventKind { return EventWallet }

// Kind implements [News].
func (WalletTxChanged) Kind() EventKind { return EventWallet }

// Kind implements [News].
func (ScanChanged) Kind() EventKind { return EventScan }

// Kind implements [News].
func (PeerChanged) Kind() EventKind { return EventPeer }

// A Subscription is read by one goroutine at a time. Events that are not read are kept, up to
// a number.
type Subscription interface {
	// Next waits for the next event and returns it. Errors: that of ctx, after which it
	// may be called again; [ErrLagged], [ErrUnsubscribed], and that the
	// actor has stopped, each after the events before.
	Next(ctx context.Context) (Event, error)

	// Close ends the subscription. It may be called at any time, and again.
	Close()
}
