package peers

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// How addresses are relayed (src/net_processing.cpp).
const (
	addrRate     = 0.1                // addresses a second that a peer may tell
	addrBurst    = codec.MaxAddresses // that it may tell at once
	knownAddrs   = 5000               // that are remembered to be known to a peer
	sendAddrs    = 30 * time.Second   // between messages with addresses, on average
	sendLocal    = 24 * time.Hour     // between messages with the own address
	gossipTrust  = 2 * time.Hour      // by which the time of an address is made older
	freshAddr    = 10 * time.Minute   // how new an address is that is passed on
	mostPassedOn = 10                 // addresses of a message that is passed on
	validTime    = 100_000_000        // times before this are none
	unknownAge   = 5 * 24 * time.Hour // taken for addresses without a good time
	fetchWithin  = 10 * sendAddrs     // a peer must tell addresses that is there for them alone
	sharePercent = 23                 // of the known addresses that are told on request
	cacheFor     = 21 * time.Hour     // how long the answer to that stays the same, at least
	cacheSpread  = 6 * time.Hour
)

// A gossip is what passes between the node and a peer of addresses of nodes.
type gossip struct {
	enabled  bool
	tokens   float64 // addresses that the peer may tell now
	refilled time.Time
	taken    uint64
	limited  uint64
	asked    bool // the peer was asked for addresses
	answered bool // the peer's own request was

	known     map[netaddr.Addr]struct{}
	queue     []codec.Address
	next      time.Time // to send the queue
	nextLocal time.Time
}

// gossiped is a message of a peer about addresses.
type gossiped struct {
	id      int64
	message wire.Message
	handled func()
}

// gossiped takes or gives addresses.
func (t *Table) gossiped(m gossiped) {
	defer m.handled()
	e := t.byID(m.id)
	if e == nil {
		return
	}
	switch msg := m.message.(type) {
	case *codec.Addresses:
		t.hear(e, msg)
	case *wire.MsgGetAddr:
		t.share(e)
		t.flush(e, t.cfg.Now())
	}
}

// beginGossip readies the exchange of addresses when a peer has shaken hands.
func (t *Table) beginGossip(e *entry) {
	e.gossip.tokens, e.gossip.refilled = 1, t.cfg.Now()
	if e.typ != p2p.Inbound && e.typ != p2p.BlockRelayOnly {
		e.gossip.enabled, e.gossip.asked = true, true
		e.gossip.tokens += addrBurst
	}
}

// enable begins to relay addresses with a peer that speaks of them.
func (e *entry) enable() bool {
	if e.typ == p2p.BlockRelayOnly {
		return false
	}
	e.gossip.enabled = true
	return true
}

// hear takes the addresses that a peer tells.
func (t *Table) hear(e *entry, m *codec.Addresses) {
	if !e.enable() {
		t.debugf("ignoring %s message from %s peer=%d", m.Command(), e.typ, e.id)
		return
	}
	now := t.cfg.Now()
	g := &e.gossip
	g.refill(now)
	list := slices.Clone(m.List)
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	var good []codec.Address
	var taken, limited uint64
	for _, a := range list {
		switch {
		case g.tokens >= 1:
			g.tokens--
		case !e.allowed.Addr:
			limited++
			continue
		}
		if a.Services&(wire.SFNodeNetwork|wire.SFNodeNetworkLimited) == 0 {
			continue
		}
		if a.Time <= validTime || time.Unix(int64(a.Time), 0).After(now.Add(freshAddr)) {
			a.Time = uint32(now.Add(-unknownAge).Unix())
		}
		g.learn(a.Addr)
		if t.bans.isUnwelcome(a.Addr, now) {
			continue
		}
		taken++
		if time.Unix(int64(a.Time), 0).After(now.Add(-freshAddr)) && !g.asked && len(m.List) <= mostPassedOn && a.Addr.IsRoutable() {
			t.passOn(e, a, now)
		}
		if t.reaches(a.Addr.Network()) {
			good = append(good, a)
		}
	}
	g.taken += taken
	g.limited += limited
	t.debugf("Received addr: %d addresses (%d processed, %d rate-limited) from peer=%d", len(list), taken, limited, e.id)
	t.remember(good, e.addr, gossipTrust)
	if len(list) < codec.MaxAddresses {
		g.asked = false
	}
	if e.typ == p2p.AddrFetch && len(list) > 1 {
		t.debugf("addrfetch connection completed, %s", e.disconnecting())
		e.session.Close(errFetched)
	}
}

const errFetched closed = "addresses fetched"

// refill gives a peer room for further addresses.
func (g *gossip) refill(now time.Time) {
	if g.tokens < addrBurst {
		since := max(now.Sub(g.refilled), 0)
		g.tokens = min(g.tokens+since.Seconds()*addrRate, addrBurst)
	}
	g.refilled = now
}

// learn notes that the peer knows an address.
func (g *gossip) learn(a netaddr.Addr) {
	if g.known == nil || len(g.known) >= knownAddrs {
		g.known = make(map[netaddr.Addr]struct{})
	}
	g.known[a] = struct{}{}
}

func (g *gossip) knows(a netaddr.Addr) bool {
	_, ok := g.known[a]
	return ok
}

// remember puts addresses into the manager.
func (t *Table) remember(list []codec.Address, source netaddr.Addr, trust time.Duration) {
	added := 0
	for _, a := range list {
		if t.addrs.Add(a, source, trust, t.cfg.Now()) {
			added++
			t.addrDebugf("Added %v to new", a.Addr)
		}
	}
	if added > 0 {
		fresh, tried := t.addrs.Size(nil)
		t.addrDebugf("Added %d addresses (of %d) from %s: %d tried, %d new", added, len(list), source.Host(), tried, fresh)
		t.addrsChanged = true
	}
}

// passOn passes an address on to two peers, which are the same ones for a day, so
// that telling it again and again spreads it no further.
func (t *Table) passOn(from *entry, a codec.Address, now time.Time) {
	reachable := t.reaches(a.Addr.Network())
	text := a.Addr.String()
	day := uint64(now.Unix()+int64(t.hash(text, 0)%(1<<32))) / uint64(24*60*60)
	count := 2
	if !reachable && t.hash(text, day)&1 == 0 {
		count = 1
	}
	var able []*entry
	for _, e := range t.peers {
		if e != from && e.gossip.enabled && e.established && e.takes(a.Addr) {
			able = append(able, e)
		}
	}
	slices.SortFunc(able, func(x, y *entry) int {
		if t.hash(text, day, uint64(x.id)) < t.hash(text, day, uint64(y.id)) {
			return -1
		}
		return 1
	})
	for _, e := range able[:min(count, len(able))] {
		e.push(a)
	}
}

// takes reports whether a peer can be told of an address.
func (e *entry) takes(a netaddr.Addr) bool { return e.remote.AddrV2 || a.IsV1Compatible() }

// push queues an address for a peer.
func (e *entry) push(a codec.Address) {
	g := &e.gossip
	if !a.Addr.IsValid() || g.knows(a.Addr) || !e.takes(a.Addr) {
		return
	}
	if len(g.queue) >= codec.MaxAddresses {
		g.queue[rand.IntN(len(g.queue))] = a //nolint:gosec // no secret
		return
	}
	g.queue = append(g.queue, a)
}

// share answers getaddr.
func (t *Table) share(e *entry) {
	switch {
	case e.typ != p2p.Inbound:
		t.debugf("Ignoring \"getaddr\" from %s connection. peer=%d", e.typ, e.id)
		return
	case !e.enable():
		return
	case e.gossip.answered:
		t.debugf("Ignoring repeated \"getaddr\". peer=%d", e.id)
		return
	}
	e.gossip.answered = true
	e.gossip.queue = nil
	list := t.told(e)
	for _, a := range list {
		e.push(codec.Address{Time: uint32(a.Seen.Unix()), Services: a.Services, Addr: a.Addr})
	}
}

// An answer is what peers of one kind are told who ask for addresses. It stays the
// same for a while, so that nobody can read the whole table by asking often.
type answer struct {
	list    []addrman.Address
	expires time.Time
}

// told returns what a peer is told who asks for addresses.
func (t *Table) told(e *entry) []addrman.Address {
	now := t.cfg.Now()
	sample := func() []addrman.Address {
		list := t.addrs.Sample(codec.MaxAddresses, sharePercent, nil, now)
		return slices.DeleteFunc(list, func(a addrman.Address) bool {
			return t.bans.isUnwelcome(a.Addr, now)
		})
	}
	if e.allowed.Addr {
		return sample()
	}
	key := strings.Join([]string{e.network(), e.bind.String()}, " ")
	a := t.answers[key]
	if a.expires.Before(now) {
		spread := time.Duration(rand.Int64N(int64(cacheSpread))) //nolint:gosec // no secret
		a = answer{sample(), now.Add(cacheFor + spread)}
		t.answers[key] = a
	}
	return a.list
}

// sendAddrs sends the peers the addresses that wait for them, where it is time.
func (t *Table) sendAddrs() {
	now := t.cfg.Now()
	for _, e := range t.peers {
		t.flush(e, now)
		if e.typ == p2p.AddrFetch && now.Sub(e.line.info.Since) > fetchWithin {
			t.debugf("addrfetch connection timeout, %s", e.disconnecting())
			e.session.Close(errFetched)
		}
	}
}

// flush sends a peer the addresses that wait for it, if it is time.
func (t *Table) flush(e *entry, now time.Time) {
	g := &e.gossip
	if !e.established || !g.enabled {
		return
	}
	t.advertise(e, now)
	if !now.After(g.next) {
		return
	}
	g.next = now.Add(exponential(sendAddrs))
	queue := g.queue
	g.queue = nil
	queue = slices.DeleteFunc(queue, func(a codec.Address) bool {
		known := g.knows(a.Addr)
		g.learn(a.Addr)
		return known
	})
	if len(queue) > 0 {
		e.line.Send(&codec.Addresses{V2: e.remote.AddrV2, List: queue})
	}
}

// advertise queues the node's own address, when it is time.
func (t *Table) advertise(e *entry, now time.Time) {
	g := &e.gossip
	if len(t.cfg.Listeners) == 0 || len(t.cfg.Local) == 0 || !g.nextLocal.Before(now) {
		return
	}
	if !g.nextLocal.IsZero() {
		g.known = nil // so that it goes out once more
	}
	g.nextLocal = now.Add(exponential(sendLocal))
	best := t.cfg.Local[0]
	for _, l := range t.cfg.Local {
		if l.Addr.Network() == e.addr.Network() && (best.Addr.Network() != e.addr.Network() || l.Score > best.Score) {
			best = l
		}
	}
	t.debugf("Advertising address %v to peer=%d", best.Addr, e.id)
	e.push(codec.Address{Time: uint32(now.Unix()), Services: t.cfg.Services, Addr: best.Addr})
}

// exponential returns a random time whose average is mean, so that nobody can tell
// from when something was sent when it came.
func exponential(mean time.Duration) time.Duration {
	return time.Duration(math.Round(rand.ExpFloat64() * float64(mean)))
}
