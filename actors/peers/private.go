package peers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
)

const (
	// retryMin and retryMax bound the time after which it is looked again for transactions that have
	// waited long enough.
	retryMin = 2 * time.Minute
	retryMax = 3 * time.Minute

	// unreachableFor is how long nothing is tried while no network hides where connections come from.
	unreachableFor = 5 * time.Second
)

// A privateSender hands transactions of this node over without telling whose they are (-privatebroadcast).
type privateSender struct {
	*base

	queue    privateQueue
	torWorks bool         // a node in Tor was reached, so the proxy is Tor's and hides other connections too
	retry    time.Time    // when it is looked for transactions that have waited long enough
	judged   []*privateTx // that have, which the pool has yet to judge again
	nextDial time.Time    // not earlier
}

func newPrivateSender(b *base) *privateSender {
	return &privateSender{base: b, queue: newPrivateQueue(), retry: b.cfg.Now().Add(untilRetry())}
}

func untilRetry() time.Duration { return retryMin + rand.N(retryMax-retryMin) } //nolint:gosec // no secret

// reset forgets what is under way, when the actor's workers have been dropped.
func (s *privateSender) reset() { s.judged = nil }

// Messages of connections that hand over a transaction, and of others to which one came.
type (
	// privateMessage is what a peer of such a connection has said.
	privateMessage struct {
		id      int64
		message wire.Message
		handled func()
	}

	// sentBack is a transaction that a peer has sent.
	sentBack struct {
		tx   *wire.MsgTx
		from string
	}

	// staleJudged is what the pool says of a transaction that has waited long.
	staleJudged struct {
		tx  *privateTx
		err error
	}
)

func (t *Table) broadcastPrivately(q messages.BroadcastPrivately) (messages.Done, error) {
	if !t.cfg.Private {
		return messages.Done{}, messages.ErrNotPrivate
	}
	isNew, err := t.private.queue.add(q.Tx, t.cfg.Now())
	name := fmt.Sprintf("txid=%v, wtxid=%v", q.Tx.TxHash(), q.Tx.WitnessHash())
	switch {
	case err != nil:
		t.privatef("Rejecting private broadcast, queue full (cap=%d): %s", maxPrivate, name)
	case isNew:
		t.privatef("Requesting %d new connections due to %s", privateCopies, name)
	default:
		t.privatef("Ignoring unnecessary request to schedule an already scheduled transaction: %s", name)
	}
	return messages.Done{}, err
}

func (t *Table) listPrivate(messages.GetPrivateBroadcasts) ([]messages.PrivateBroadcast, error) {
	if !t.cfg.Private {
		return nil, messages.ErrNotPrivate
	}
	return t.private.queue.describe(), nil
}

func (t *Table) abortPrivate(q messages.AbortPrivateBroadcast) ([]messages.PrivateBroadcast, error) {
	if !t.cfg.Private {
		return nil, messages.ErrNotPrivate
	}
	found := t.private.queue.named(&q.ID)
	if len(found) == 0 {
		return nil, messages.ErrNotInPrivate
	}
	list := make([]messages.PrivateBroadcast, len(found))
	for i, tx := range found {
		t.private.queue.remove(tx)
		list[i] = tx.PrivateBroadcast
	}
	return list, nil
}

// advanceTimers brings the next look at what has waited long enough forward.
func (t *Table) advanceTimers(c actor.Context, m *ask.Call[messages.AdvanceTimers, messages.Done]) {
	t.private.retry = t.private.retry.Add(-m.Req.By)
	t.retryPrivate(c)
	m.Answer(messages.Done{}, nil)
}

// connectPrivately makes connections for the transactions that wait.
func (t *Table) connectPrivately(c actor.Context, now time.Time) {
	s := t.private
	for s.queue.wanted > t.dialer.dialing(p2p.PrivateBroadcast) && !now.Before(s.nextDial) &&
		t.dialer.has(p2p.PrivateBroadcast) < maxPrivateConns &&
		t.dialer.dialing(p2p.PrivateBroadcast) < maxPrivateDials {
		networks := t.dialer.privateNetworks(s.torWorks)
		if len(networks) == 0 {
			t.cfg.Log.Warn("Unable to open -privatebroadcast connections: neither Tor nor I2P is reachable")
			s.nextDial = now.Add(unreachableFor)
			return
		}
		a := t.dialer.choosePrivate(networks)
		if a == nil {
			t.privatef("Connections needed but addrman keeps returning bad addresses, will retry")
			return
		}
		t.dial(c, a)
	}
}

// dialed notes that a connection was made, or not.
func (s *privateSender) dialed(a *attempt, err error) {
	q := &s.queue
	switch {
	case err == nil:
		q.wanted = max(q.wanted-1, 0)
		s.privatef("Socket connected to %s; remaining connections to open: %d", a.name(), q.wanted)
	case q.wanted == 0:
		s.privatef("Failed to connect to %s, will not retry, no more connections needed", a.name())
	default:
		s.privatef("Failed to connect to %s, will retry to a different address; remaining connections to open: %d",
			a.name(), q.wanted)
	}
}

// privateJoined offers a peer the most urgent transaction.
func (t *Table) privateJoined(e *entry) {
	tx := t.private.queue.pick(e.id, e.addr, t.cfg.Now())
	if tx == nil {
		t.privatef("Disconnecting: no more transactions for private broadcast (connected in vain), %s", t.peerName(e))
		e.session.Close(errInVain)
		return
	}
	wid := ""
	if tx.Tx.HasWitness() {
		wid = fmt.Sprintf(", wtxid=%v", tx.WID)
	}
	t.privatef("P2P handshake completed, sending INV for txid=%v%s, %s", tx.ID, wid, t.peerName(e))
	e.conn.Send(&wire.MsgInv{InvList: []*wire.InvVect{{Type: wire.InvTypeTx, Hash: tx.ID}}})
}

func (b *base) peerName(e *entry) string { return p2p.PeerName(e.id, b.logSuffix(e.name)) }

// left notes that a connection has ended which was to hand over a transaction.
func (s *privateSender) left(e *entry) {
	if e.typ == p2p.PrivateBroadcast {
		s.queue.left(e.id, e.confirmed)
	}
}

// privateReceived handles what a peer has said to which a transaction was offered.
func (t *Table) privateReceived(m privateMessage) {
	defer m.handled()
	e := t.peers.byID(m.id)
	if e == nil {
		return
	}
	switch msg := m.message.(type) {
	case *wire.MsgGetData:
		t.private.handOver(e, msg)
	case *wire.MsgPong:
		t.private.queue.confirm(e.id, t.cfg.Now())
		e.confirmed = true
		t.privatef("Got a PONG (the transaction will probably reach the network), marking for disconnect, %s",
			t.peerName(e))
		e.session.Close(errHandedOver)
	}
}

// handOver sends a peer the transaction that was offered to it, and a ping, whose answer says that it has come.
func (s *privateSender) handOver(e *entry, m *wire.MsgGetData) {
	tx := s.queue.byPeer[e.id]
	switch {
	case tx == nil:
		s.privatef("Disconnecting: got GETDATA without sending an INV, %s", s.peerName(e))
		e.session.Close(errInVain)
	case len(m.InvList) != 1 || m.InvList[0].Hash != tx.ID ||
		m.InvList[0].Type != wire.InvTypeTx && m.InvList[0].Type != wire.InvTypeWitnessTx:
		s.privatef("Disconnecting: got an unexpected GETDATA message, %s", s.peerName(e))
		e.session.Close(errInVain)
	default:
		e.conn.Send(tx.Tx)
		e.session.Ping()
	}
}

// sentBack ends what the network has passed on.
func (s *privateSender) sentBack(m sentBack) {
	if tx := s.queue.byWID[m.tx.WitnessHash()]; tx != nil {
		s.privatef("Received our privately broadcast transaction (txid=%v) from the network from %s; stopping "+
			"private broadcast attempts", tx.ID, m.from)
		s.queue.remove(tx)
	}
}

// retryPrivate looks for transactions that have waited long enough, when it is time.
func (t *Table) retryPrivate(c actor.Context) {
	s, now := t.private, t.cfg.Now()
	if !t.cfg.Private || now.Before(s.retry) {
		return
	}
	s.retry = now.Add(untilRetry())
	if len(s.judged) == 0 { // else the last look has not ended
		s.judged = s.queue.stale(now)
		t.judgeStale(c)
	}
}

// judgeStale has the pool judge the next transaction that has waited: it may be mined by now, or spent otherwise.
func (t *Table) judgeStale(c actor.Context) {
	s := t.private
	for len(s.judged) > 0 {
		tx := s.judged[0]
		if s.queue.byWID[tx.WID] == tx {
			q := messages.TestTxs{Txs: []*wire.MsgTx{tx.Tx}}
			ask.Then(t.ctx, c, t.cfg.Pool, q, func(got messages.PackageResult, err error) any {
				if err == nil && got.Failed != nil {
					err = got.Failed
				}
				return staleJudged{tx, err}
			})
			return
		}
		s.judged = s.judged[1:]
	}
}

// staleJudged tries a transaction again, or gives it up.
func (t *Table) staleJudged(c actor.Context, m staleJudged) {
	s := t.private
	if len(s.judged) == 0 || s.judged[0] != m.tx {
		return
	}
	s.judged = s.judged[1:]
	if s.queue.byWID[m.tx.WID] == m.tx {
		t.tryAgain(m.tx, m.err)
	}
	t.judgeStale(c)
}

// tryAgain has a transaction handed over again, unless the pool refuses it. If the pool did not judge at all, the next
// look asks again.
func (t *Table) tryAgain(tx *privateTx, err error) {
	if tx.spent() {
		return
	}
	if _, refused := errors.AsType[*messages.TxReject](err); err != nil && !refused {
		return
	}
	if err != nil {
		t.privatef("Giving up broadcast attempts for txid=%v wtxid=%v: %v", tx.ID, tx.WID, err)
		t.private.queue.drop(tx)
		return
	}
	t.privatef("Reattempting broadcast of stale txid=%v wtxid=%v", tx.ID, tx.WID)
	t.private.queue.wanted++
}

const (
	// maxPrivateConns is how many connections hand over transactions at a time (Core:
	// MAX_PRIVATE_BROADCAST_CONNECTIONS), and maxPrivateDials how many of them are made.
	maxPrivateConns = 64
	maxPrivateDials = 3

	// privateChoices is how many addresses are looked at for one to connect to, until the next tick.
	privateChoices = 10
)

// privateNetworks lists the networks whose connections tell nobody where they come from.
func (d *dialer) privateNetworks(torWorks bool) (list []netaddr.Network) {
	if d.networks.usable(netaddr.Onion) {
		list = append(list, netaddr.Onion)
		for _, clear := range []netaddr.Network{netaddr.IPv4, netaddr.IPv6} {
			if torWorks && d.networks.usable(clear) {
				list = append(list, clear)
			}
		}
	}
	if d.networks.usable(netaddr.I2P) {
		list = append(list, netaddr.I2P)
	}
	return list
}

// choosePrivate chooses an address to connect to for a transaction; nil: none was found.
func (d *dialer) choosePrivate(networks []netaddr.Network) *attempt {
	now := d.cfg.Now()
	for range privateChoices {
		network := networks[rand.N(len(networks))] //nolint:gosec // no secret
		a, ok := d.book.addrs.Select(false, func(n netaddr.Network) bool { return n == network }, now)
		if !ok || !a.Addr.IsValid() || a.Addr.IsLocal() || d.isThisNode(a.Addr) || d.bans.isUnwelcome(a.Addr, now) {
			continue
		}
		if d.mayDial(&attempt{addr: a.Addr}) == nil {
			return d.attemptOf(codec.Address{
				Time: uint32(a.Seen.Unix()), Services: a.Services, Addr: a.Addr,
			}, p2p.PrivateBroadcast)
		}
	}
	return nil
}
