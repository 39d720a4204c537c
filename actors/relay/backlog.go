package relay

import (
	"maps"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/poolview"
)

// How much is announced to all inbound peers together, and to all outbound peers. The rest waits, so that a flood of
// transactions that pay little does not go out before those that pay more (Core 32).
const (
	// DefaultSendRate is how many transactions are announced in a second.
	DefaultSendRate = 14

	burst     = 30                 // seconds whose transactions may be announced at once
	bytesRate = 12_000_000 / 600.0 // of transactions in a second
	bytesAt   = 12_000_000         // that may be announced at the start
	maxBytes  = 50_000_000         // at once
	batch     = 5                  // seconds whose transactions are chosen together
)

// A backlog holds the transactions that the peers of one direction are yet to be told of.
type backlog struct {
	inbound     bool
	waiting     map[chainhash.Hash]struct{} // by wtxid
	txs, bytes  bucket
	enough      float64 // transactions for which the best of those that wait are looked for
	choosing    bool    // the pool is asked for the best
	chosenAmong []chainhash.Hash
}

// newBacklog returns a backlog of so many transactions a second, and times as much for peers that are told more often.
func newBacklog(inbound bool, rate int, times float64, now time.Time) *backlog {
	count := float64(rate) * burst
	return &backlog{
		inbound: inbound, waiting: make(map[chainhash.Hash]struct{}), enough: min(float64(rate)*batch, count),
		txs:   bucket{rate: float64(rate) * times, limit: count, level: count, at: now},
		bytes: bucket{rate: bytesRate * times, limit: maxBytes, level: bytesAt, at: now},
	}
}

// A bucket fills with time.
type bucket struct {
	rate, limit float64 // in a second, and at most
	level       float64
	at          time.Time
}

func (b *bucket) fill(now time.Time) {
	if d := now.Sub(b.at); d > 0 {
		b.level = min(b.level+d.Seconds()*b.rate, max(b.limit, b.level))
	}
	b.at = now
}

// room reports whether a transaction may be announced now.
func (b *backlog) room() bool { return b.txs.level >= 1 && b.bytes.level > 0 }

func (b *backlog) fill(now time.Time) {
	b.txs.fill(now)
	b.bytes.fill(now)
}

// A sender is the actor where it tells peers of transactions.
type sender struct{ *Relay }

// announce has all peers told of a transaction of the pool.
func (r sender) announce(wid chainhash.Hash) {
	tx := r.pool.ByWID(wid)
	if tx == nil {
		return
	}
	now := r.cfg.Now()
	for _, p := range r.peers {
		if p.info.Permissions.NoBan {
			p.note(tx)
		}
	}
	for _, b := range r.backlogs {
		b.fill(now)
		if len(b.waiting) == 0 && b.room() {
			r.hand(b, tx)
			continue
		}
		b.waiting[wid] = struct{}{}
	}
}

// note adds a transaction to those that a peer is to be told of, unless the peer has it. It reports whether it did.
func (p *peer) note(tx *poolview.Tx) bool {
	if _, noted := p.pending[tx.WID]; noted || !p.listens || p.known.has(p.name(tx)) || len(p.pending) >= maxPending {
		return false
	}
	p.pending[tx.WID] = struct{}{}
	return true
}

// hand gives a transaction to the peers of a backlog, each of which is told at its time. It costs nothing if no peer
// lacks it.
func (r sender) hand(b *backlog, tx *poolview.Tx) {
	given := false
	for _, p := range r.peers {
		if p.inbound() == b.inbound && !p.info.Permissions.NoBan && p.note(tx) {
			given = true
		}
	}
	if given {
		b.txs.level--
		b.bytes.level -= float64(tx.Tx.SerializeSize())
	}
}

// drain hands out what waits and may be announced now. Where that is not all, it asks the pool which is the best.
func (r sender) drain(c actor.Context, b *backlog, now time.Time) {
	b.fill(now)
	waiting := float64(len(b.waiting))
	switch {
	case waiting == 0 || b.choosing || !b.room() || b.txs.level < min(waiting, b.enough):
	case len(b.waiting) == 1:
		r.handOut(b, slices.Collect(maps.Keys(b.waiting)))
	default:
		b.choosing, b.chosenAmong = true, slices.Collect(maps.Keys(b.waiting))
		r.inOrder(c, b.chosenAmong, func(order []chainhash.Hash) any { return chosen{b, order} })
	}
}

// chosen brings what waits in a backlog, the best first.
type chosen struct {
	backlog *backlog
	order   []chainhash.Hash
}

func (r sender) chosen(m chosen) {
	b := m.backlog
	in := make(map[chainhash.Hash]struct{}, len(m.order))
	for _, wid := range m.order {
		in[wid] = struct{}{}
	}
	for _, wid := range b.chosenAmong {
		if _, is := in[wid]; !is {
			delete(b.waiting, wid) // it has left the pool
		}
	}
	b.choosing, b.chosenAmong = false, nil
	r.handOut(b, m.order)
}

// handOut hands out what waits, in an order, while there is room.
func (r sender) handOut(b *backlog, order []chainhash.Hash) {
	for _, wid := range order {
		if !b.room() {
			return
		}
		delete(b.waiting, wid)
		if tx := r.pool.ByWID(wid); tx != nil {
			r.hand(b, tx)
		}
	}
}

// inOrder has the pool tell in which order transactions are mined: those that pay most first, and none before its
// ancestors. If it does not answer, they come in the order in which they came.
func (r sender) inOrder(c actor.Context, wids []chainhash.Hash, then func([]chainhash.Hash) any) {
	ask.Then(r.ctx, c, r.cfg.Pool, nodemsg.SortTxs{WIDs: wids}, func(order []chainhash.Hash, err error) any {
		if err != nil {
			order = r.byArrival(wids)
		}
		return then(order)
	})
}

func (r sender) byArrival(wids []chainhash.Hash) (order []chainhash.Hash) {
	var list []*poolview.Tx
	for _, wid := range wids {
		if tx := r.pool.ByWID(wid); tx != nil {
			list = append(list, tx)
		}
	}
	sortBySequence(list)
	for _, tx := range list {
		order = append(order, tx.WID)
	}
	return order
}

// outgoing is what a peer is told of next.
type outgoing struct {
	to   *peer
	of   []*poolview.Tx
	pool bool // it answers a message of the peer
}

// sorted brings the order of what some peers are told of.
type sorted struct {
	list  []outgoing
	order []chainhash.Hash
}

// tell sends announcements, each in the order in which its transactions are mined. So neither the order in which they
// came shows nor comes a child before its parents.
func (r sender) tell(c actor.Context, list []outgoing) {
	all := make(map[chainhash.Hash]struct{})
	for _, a := range list {
		if len(a.of) < 2 {
			r.send(a)
			continue
		}
		for _, tx := range a.of {
			all[tx.WID] = struct{}{}
		}
	}
	if len(all) > 0 {
		list = slices.DeleteFunc(list, func(a outgoing) bool { return len(a.of) < 2 })
		r.inOrder(c, slices.Collect(maps.Keys(all)), func(order []chainhash.Hash) any { return sorted{list, order} })
	}
}

// sorted sends announcements whose order is known.
func (r sender) sorted(m sorted) {
	place := make(map[chainhash.Hash]int, len(m.order))
	for i, wid := range m.order {
		place[wid] = i
	}
	for _, a := range m.list {
		if r.peers[a.to.info.ID] != a.to {
			continue
		}
		a.of = slices.DeleteFunc(a.of, func(tx *poolview.Tx) bool {
			_, in := place[tx.WID]
			return !in || a.to.known.has(a.to.name(tx))
		})
		slices.SortFunc(a.of, func(x, y *poolview.Tx) int { return place[x.WID] - place[y.WID] })
		r.send(a)
	}
}

// send sends an announcement. The peer may ask for all transactions that have come until now.
func (r sender) send(a outgoing) {
	a.to.sendInv(a.of)
	a.to.noteInv(r.pool)
	if a.pool {
		a.to.handled()
	}
}
