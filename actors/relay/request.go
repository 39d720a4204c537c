package relay

import (
	"container/heap"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// Times and limits of requests (src/node/txdownloadman.h).
const (
	maxAnnounced   = 5000 // of one peer that is not allowed more
	maxInFlight    = 100  // requests to one peer, beyond which it waits longer
	inboundDelay   = 2 * time.Second
	txidDelay      = 2 * time.Second // where other peers know wtxids
	overloadDelay  = 2 * time.Second
	requestTimeout = time.Minute
)

// requests are the transactions that peers have announced and that are wanted. Each
// is asked of one peer at a time.
type requests struct {
	byHash map[chainhash.Hash]*txRequest
	queue  requestQueue // by the time of the next step
	count  uint64
}

// A txRequest is one transaction under one of its ids; the two ids may be equal.
type txRequest struct {
	hash  chainhash.Hash
	from  []*announcer
	asked *announcer // in flight; nil: none
	due   time.Time  // something is to be done
	order uint64     // in which they came
	place int        // in the queue; -1: none
}

// An announcer is a peer that has announced a transaction.
type announcer struct {
	peer  *peer
	wtxid bool      // it names the transaction by its wtxid
	ready time.Time // it may be asked
}

func newRequests() requests { return requests{byHash: make(map[chainhash.Hash]*txRequest)} }

// announced notes what a peer has announced.
func (q *requests) announced(p *peer, hash chainhash.Hash, wtxid bool, ready time.Time) {
	if _, duplicate := p.announced[hash]; duplicate {
		return
	}
	if len(p.announced) >= maxAnnounced && !p.info.Permissions.Relay {
		return
	}
	w := q.byHash[hash]
	if w == nil {
		q.count++
		w = &txRequest{hash: hash, place: -1, order: q.count}
		q.byHash[hash] = w
	}
	w.from = append(w.from, &announcer{p, wtxid, ready})
	p.announced[hash] = w
	q.plan(w)
}

// plan puts a request where it belongs in the queue.
func (q *requests) plan(w *txRequest) {
	switch {
	case len(w.from) == 0:
		q.remove(w)
		return
	case w.asked == nil:
		w.due = w.from[0].ready
		for _, o := range w.from {
			if o.ready.Before(w.due) {
				w.due = o.ready
			}
		}
	}
	if w.place < 0 {
		heap.Push(&q.queue, w)
		return
	}
	heap.Fix(&q.queue, w.place)
}

func (q *requests) remove(w *txRequest) {
	if w.asked != nil {
		w.asked.peer.inFlight--
		w.asked = nil
	}
	for _, o := range w.from {
		delete(o.peer.announced, w.hash)
	}
	w.from = nil
	if w.place >= 0 {
		heap.Remove(&q.queue, w.place)
	}
	delete(q.byHash, w.hash)
}

// peersOf returns a peer, unless it is nil, and all others that announce a transaction
// by one of its ids and were not asked in vain.
func (q *requests) peersOf(p *peer, hashes ...chainhash.Hash) []*peer {
	var list []*peer
	if p != nil {
		list = append(list, p)
	}
	for _, hash := range hashes {
		w := q.byHash[hash]
		if w == nil {
			continue
		}
		for _, o := range w.from {
			if !slices.Contains(list, o.peer) {
				list = append(list, o.peer)
			}
		}
	}
	return list
}

// forget ends the search for a transaction that is there now.
func (q *requests) forget(hashes ...chainhash.Hash) {
	for _, hash := range hashes {
		if w := q.byHash[hash]; w != nil {
			q.remove(w)
		}
	}
}

// failed takes a peer off a request: it does not have the transaction, or was too
// slow.
func (q *requests) failed(w *txRequest, p *peer) {
	delete(p.announced, w.hash)
	if w.asked != nil && w.asked.peer == p {
		p.inFlight--
		w.asked = nil
	}
	for i, o := range w.from {
		if o.peer == p {
			w.from = append(w.from[:i], w.from[i+1:]...)
			break
		}
	}
	q.plan(w)
}

// drop forgets a peer.
func (q *requests) drop(p *peer) {
	for _, w := range p.announced {
		q.failed(w, p)
	}
}

// next returns what is to be asked of peers now.
func (q *requests) next(now time.Time) map[*peer][]*txRequest {
	asks := make(map[*peer][]*txRequest)
	for len(q.queue) > 0 && !q.queue[0].due.After(now) {
		w := q.queue[0]
		if w.asked != nil {
			q.failed(w, w.asked.peer)
			continue
		}
		o := w.choose(now)
		w.asked, w.due = o, now.Add(requestTimeout)
		o.peer.inFlight++
		asks[o.peer] = append(asks[o.peer], w)
		heap.Fix(&q.queue, w.place)
	}
	return asks
}

// choose returns the first peer that may be asked, a preferred one if there is any.
func (w *txRequest) choose(now time.Time) *announcer {
	var best *announcer
	for _, o := range w.from {
		if !o.ready.After(now) && (best == nil || !best.peer.preferred() && o.peer.preferred()) {
			best = o
		}
	}
	return best
}

// requestQueue is a heap of requests by time.
type requestQueue []*txRequest //nolint:recvcheck // heap.Interface wants both

func (v requestQueue) Len() int { return len(v) }

func (v requestQueue) Less(i, j int) bool {
	if order := v[i].due.Compare(v[j].due); order != 0 {
		return order < 0
	}
	return v[i].order < v[j].order
}

func (v requestQueue) Swap(i, j int) {
	v[i], v[j] = v[j], v[i]
	v[i].place, v[j].place = i, j
}

func (v *requestQueue) Push(x any) {
	w := x.(*txRequest)
	w.place = len(*v)
	*v = append(*v, w)
}

func (v *requestQueue) Pop() any {
	last := len(*v) - 1
	w := (*v)[last]
	(*v)[last] = nil
	*v = (*v)[:last]
	w.place = -1
	return w
}

// request asks peers for the transactions that are due.
func (r *Relay) request(now time.Time) {
	for p, list := range r.requests.next(now) {
		msg := wire.NewMsgGetData()
		for _, w := range list {
			kind := p.txType()
			if w.asked.wtxid {
				kind = codec.InvWtx
			}
			_ = msg.AddInvVect(wire.NewInvVect(kind, &w.hash)) // no more than fit: see maxAnnounced
		}
		p.Send(msg)
	}
}

// readyAt returns when a peer may be asked for a transaction that it announces.
func (r *Relay) readyAt(p *peer, wtxid bool, now time.Time) time.Time {
	if !p.preferred() {
		now = now.Add(inboundDelay)
	}
	if !wtxid && anyWtxid(r.peers) {
		now = now.Add(txidDelay)
	}
	if p.inFlight >= maxInFlight && !p.info.Permissions.Relay {
		now = now.Add(overloadDelay)
	}
	return now
}

func anyWtxid(peers map[int64]*peer) bool {
	for _, p := range peers {
		if p.wtxid {
			return true
		}
	}
	return false
}
