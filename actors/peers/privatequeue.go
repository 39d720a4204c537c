package peers

import (
	"maps"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
)

const (
	// privateCopies is how many nodes get a transaction at first (Core: NUM_PRIVATE_BROADCAST_PER_TX).
	privateCopies = 3

	// maxPrivate is how many transactions may wait at a time.
	maxPrivate = 10_000

	// maxCopies is how often a transaction is handed over at most. It stays in the queue then, until a caller sends it
	// once more.
	maxCopies = 1000

	// unsentFor is how long a transaction waits that no node has got, before it is tried again. unseenFor
	// is how long one waits for the network to send it back.
	unsentFor = 5 * time.Minute
	unseenFor = time.Minute
)

// A privateTx is a transaction that is handed over privately.
type privateTx struct {
	messages.PrivateBroadcast

	confirmed               int // nodes that have got it
	lastPicked, lastArrived time.Time
}

// isBefore reports whether the transaction is more urgent than another: it was handed over less often, or
// longer ago.
func (t *privateTx) isBefore(other *privateTx) bool {
	switch {
	case len(t.Sent) != len(other.Sent):
		return len(t.Sent) < len(other.Sent)
	case t.confirmed != other.confirmed:
		return t.confirmed < other.confirmed
	case !t.lastPicked.Equal(other.lastPicked):
		return t.lastPicked.Before(other.lastPicked)
	}
	return t.lastArrived.Before(other.lastArrived)
}

// A privateQueue holds the transactions that are handed over privately, in the order of their arrival. It
// knows the peers that get them, and the number of connections that are wanted.
type privateQueue struct {
	list   []*privateTx
	byWID  map[chainhash.Hash]*privateTx
	byPeer map[int64]*privateTx
	wanted int // connections yet to be made
}

func newPrivateQueue() privateQueue {
	return privateQueue{byWID: make(map[chainhash.Hash]*privateTx), byPeer: make(map[int64]*privateTx)}
}

// spent reports whether the transaction was handed over as often as may be.
func (t *privateTx) spent() bool { return len(t.Sent) >= maxCopies }

// add takes a transaction in, and reports whether it is new or was handed over as often as may be.
//
// Errors: [messages.ErrPrivateFull].
func (q *privateQueue) add(tx *wire.MsgTx, now time.Time) (isNew bool, err error) {
	wid := tx.WitnessHash()
	known := q.byWID[wid]
	if known != nil && known.spent() {
		q.drop(known)
		known = nil
	}
	switch {
	case known != nil:
		return false, nil
	case len(q.list) >= maxPrivate:
		return false, messages.ErrPrivateFull
	}
	t := &privateTx{PrivateBroadcast: messages.PrivateBroadcast{Tx: tx, ID: tx.TxHash(), WID: wid, Added: now}}
	q.list, q.byWID[wid] = append(q.list, t), t
	q.wanted += privateCopies
	return true, nil
}

// remove takes a transaction out. Connections that it would have needed are wanted no more.
func (q *privateQueue) remove(t *privateTx) {
	q.drop(t)
	q.wanted = max(q.wanted-max(privateCopies-t.confirmed, 0), 0)
}

// drop takes a transaction out.
func (q *privateQueue) drop(t *privateTx) {
	delete(q.byWID, t.WID)
	maps.DeleteFunc(q.byPeer, func(_ int64, other *privateTx) bool { return other == t })
	q.list = slices.DeleteFunc(q.list, func(other *privateTx) bool { return other == t })
}

// named returns the transactions of an id, by their witnesses or without.
func (q *privateQueue) named(id *chainhash.Hash) (list []*privateTx) {
	for _, t := range q.list {
		if t.ID == *id || t.WID == *id {
			list = append(list, t)
		}
	}
	return list
}

// pick chooses what a peer gets, nil for nothing.
func (q *privateQueue) pick(peer int64, addr netaddr.Addr, now time.Time) *privateTx {
	var first *privateTx
	for _, t := range q.list {
		if !t.spent() && (first == nil || t.isBefore(first)) {
			first = t
		}
	}
	if first != nil {
		first.Sent = append(first.Sent, messages.PrivateSend{Peer: peer, Addr: addr.String(), At: now})
		first.lastPicked = now
		q.byPeer[peer] = first
	}
	return first
}

// confirm notes that a peer has got its transaction.
func (q *privateQueue) confirm(peer int64, now time.Time) {
	t := q.byPeer[peer]
	if t == nil {
		return
	}
	i := slices.IndexFunc(t.Sent, func(s messages.PrivateSend) bool { return s.Peer == peer })
	t.Sent[i].Received, t.lastArrived = now, now
	t.confirmed++
	delete(q.byPeer, peer)
}

// left notes that a peer is gone. Another is wanted unless it has got its transaction.
func (q *privateQueue) left(peer int64, confirmed bool) {
	delete(q.byPeer, peer)
	if !confirmed && len(q.list) > 0 {
		q.wanted++
	}
}

// stale lists what has waited long enough.
func (q *privateQueue) stale(now time.Time) (list []*privateTx) {
	for _, t := range q.list {
		since, limit := t.Added, unsentFor
		if t.confirmed > 0 {
			since, limit = t.lastArrived, unseenFor
		}
		if !t.spent() && since.Before(now.Add(-limit)) {
			list = append(list, t)
		}
	}
	return list
}

// describe lists all transactions, for others to keep.
func (q *privateQueue) describe() []messages.PrivateBroadcast {
	list := make([]messages.PrivateBroadcast, len(q.list))
	for i, t := range q.list {
		list[i] = t.PrivateBroadcast
		list[i].Sent, list[i].Left = slices.Clone(t.Sent), maxCopies-len(t.Sent)
	}
	return list
}
