package peers

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// How addresses are relayed (src/net_processing.cpp).
const (
	addrInterval    = 30 * time.Second   // between messages with addresses, on average
	localInterval   = 24 * time.Hour     // between messages with the address of this node
	timePenalty     = 2 * time.Hour      // by which the time of an address is made older
	recentAddr      = 10 * time.Minute   // how new an address is that is relayed
	maxRelayedAddrs = 10                 // addresses of a message of which some are relayed
	minAddrTime     = 100_000_000        // times before this are none
	unknownAge      = 5 * 24 * time.Hour // taken for addresses without a good time
	fetchTimeout    = 10 * addrInterval  // for a peer that is connected for its addresses alone
	answerPercent   = 23                 // of the known addresses that a peer gets on request
	answerLife      = 21 * time.Hour     // how long the answer to that stays the same, at least
	answerSpread    = 6 * time.Hour      // and how much longer at most
)

// unwelcomer says which addresses are not spoken of.
type unwelcomer interface {
	isUnwelcome(a netaddr.Addr, now time.Time) bool
}

// An addrRelay exchanges addresses of nodes with the peers.
type addrRelay struct {
	*base

	book     *addrBook
	bans     unwelcomer
	networks *networks
	secret   *secret

	peers   []*addrPeer // that have shaken hands, by ascending id
	answers map[string]getAddrAnswer
}

func newAddrRelay(b *base, book *addrBook, bans unwelcomer, n *networks, s *secret) *addrRelay {
	return &addrRelay{
		base: b, book: book, bans: bans, networks: n, secret: s, answers: make(map[string]getAddrAnswer),
	}
}

// join begins with a peer that has shaken hands.
func (r *addrRelay) join(p *addrPeer) {
	now := r.cfg.Now()
	p.begin(now)
	r.peers = append(r.peers, p)
	if r.cfg.Network.Traffic.OwnAddressFirst {
		r.send(p, now)
	}
}

// leave ends with a peer.
func (r *addrRelay) leave(id int64) {
	r.peers = slices.DeleteFunc(r.peers, func(p *addrPeer) bool { return p.id == id })
}

// reset forgets all peers.
func (r *addrRelay) reset() { r.peers = nil }

// peer returns the relay's state of a peer, and false if the peer has left.
func (r *addrRelay) peer(id int64) (addrPeer, bool) {
	if i := slices.IndexFunc(r.peers, func(p *addrPeer) bool { return p.id == id }); i >= 0 {
		return *r.peers[i], true
	}
	return addrPeer{}, false
}

// receive takes a message of a peer about addresses.
func (r *addrRelay) receive(id int64, m wire.Message) {
	i := slices.IndexFunc(r.peers, func(p *addrPeer) bool { return p.id == id })
	if i < 0 {
		return
	}
	p := r.peers[i]
	switch m := m.(type) {
	case *codec.Addresses:
		r.handleAddr(p, m)
	case *wire.MsgGetAddr:
		r.answerGetAddr(p)
		r.send(p, r.cfg.Now())
	}
}

// handleAddr takes the addresses that a peer sends.
func (r *addrRelay) handleAddr(p *addrPeer, m *codec.Addresses) {
	if !p.enable() {
		r.debugf("ignoring %s message from %s peer=%d", m.Command(), p.typ, p.id)
		return
	}
	now := r.cfg.Now()
	p.refill(now)
	list := slices.Clone(m.List)
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	relayed := !p.asked && len(list) <= maxRelayedAddrs
	var good []codec.Address
	var processed, limited uint64
	for _, a := range list {
		if !p.spend() {
			limited++
			continue
		}
		if !r.accept(p, &a, now) {
			continue
		}
		processed++
		if relayed && isRecent(a, now) && a.Addr.IsRoutable() {
			r.relayAddr(p, a, now)
		}
		if r.networks.reaches(a.Addr.Network()) {
			good = append(good, a)
		}
	}
	p.processed += processed
	p.limited += limited
	r.debugf(
		"Received addr: %d addresses (%d processed, %d rate-limited) from peer=%d", len(list), processed, limited, p.id,
	)
	r.book.store(good, p.addr, timePenalty)
	if len(list) < codec.MaxAddresses {
		p.asked = false
	}
	if p.typ == p2p.AddrFetch && len(list) > 1 {
		p.conn.Disconnect("addrfetch connection completed")
	}
}

// accept reports whether an address is worth anything, and gives it a time that can
// be.
func (r *addrRelay) accept(p *addrPeer, a *codec.Address, now time.Time) bool {
	if a.Services&(wire.SFNodeNetwork|wire.SFNodeNetworkLimited) == 0 {
		return false
	}
	if a.Time <= minAddrTime || time.Unix(int64(a.Time), 0).After(now.Add(recentAddr)) {
		a.Time = uint32(now.Add(-unknownAge).Unix())
	}
	p.learn(a.Addr)
	return !r.bans.isUnwelcome(a.Addr, now)
}

// isRecent reports whether an address was seen a short time ago.
func isRecent(a codec.Address, now time.Time) bool {
	return time.Unix(int64(a.Time), 0).After(now.Add(-recentAddr))
}

// relayAddr passes an address on to two peers, which are the same ones for a day:
// an address that comes again and again spreads no further.
func (r *addrRelay) relayAddr(from *addrPeer, a codec.Address, now time.Time) {
	text := a.Addr.String()
	day := uint64(now.Unix()+int64(r.secret.hash(text, 0)%(1<<32))) / uint64(24*60*60)
	count := 2
	if !r.networks.reaches(a.Addr.Network()) && r.secret.hash(text, day)&1 == 0 {
		count = 1
	}
	var able []*addrPeer
	for _, p := range r.peers {
		if p != from && p.enabled && p.takes(a.Addr) {
			able = append(able, p)
		}
	}
	slices.SortFunc(able, func(x, y *addrPeer) int {
		if r.secret.hash(text, day, uint64(x.id)) < r.secret.hash(text, day, uint64(y.id)) {
			return -1
		}
		return 1
	})
	for _, p := range able[:min(count, len(able))] {
		p.push(a)
	}
}

// answerGetAddr queues the answer to getaddr.
func (r *addrRelay) answerGetAddr(p *addrPeer) {
	switch {
	case p.typ != p2p.Inbound:
		r.debugf("Ignoring \"getaddr\" from %s connection. peer=%d", p.typ, p.id)
		return
	case !p.enable():
		return
	case p.answered:
		r.debugf("Ignoring repeated \"getaddr\". peer=%d", p.id)
		return
	}
	p.answered = true
	p.queue = nil
	for _, a := range r.getAddrAnswer(p) {
		p.push(codec.Address{Time: uint32(a.Seen.Unix()), Services: a.Services, Addr: a.Addr})
	}
}

// A getAddrAnswer is the answer to peers of one kind that ask for addresses. It stays the same
// for a while, so that nobody can read the whole table by asking often.
type getAddrAnswer struct {
	list    []addrman.Address
	expires time.Time
}

// getAddrAnswer returns the answer to a peer that asks for addresses.
func (r *addrRelay) getAddrAnswer(p *addrPeer) []addrman.Address {
	now := r.cfg.Now()
	if p.unlimited {
		return r.sample(now)
	}
	a := r.answers[p.cacheKey]
	if a.expires.Before(now) {
		spread := time.Duration(rand.Int64N(int64(answerSpread))) //nolint:gosec // no secret
		a = getAddrAnswer{r.sample(now), now.Add(answerLife + spread)}
		r.answers[p.cacheKey] = a
	}
	return a.list
}

// sample returns some of the known addresses.
func (r *addrRelay) sample(now time.Time) []addrman.Address {
	list := r.book.addrs.Sample(codec.MaxAddresses, answerPercent, nil, now)
	return slices.DeleteFunc(list, func(a addrman.Address) bool { return r.bans.isUnwelcome(a.Addr, now) })
}

// sendDue sends the peers their queued addresses, if it is time. It disconnects AddrFetch peers
// after fetchTimeout.
func (r *addrRelay) sendDue() {
	now := r.cfg.Now()
	for _, p := range r.peers {
		r.send(p, now)
		if p.typ == p2p.AddrFetch && now.Sub(p.since) > fetchTimeout {
			p.conn.Disconnect("addrfetch connection timeout")
		}
	}
}

// send sends a peer its queued addresses, if it is time.
func (r *addrRelay) send(p *addrPeer, now time.Time) {
	if !p.enabled {
		return
	}
	r.advertise(p, now)
	if now.After(p.next) {
		p.next = now.Add(exponential(addrInterval))
		p.flush()
	}
}

// advertise queues the address of this node, if it is time.
func (r *addrRelay) advertise(p *addrPeer, now time.Time) {
	if len(r.cfg.Listeners) == 0 || len(r.local.list) == 0 || !p.nextLocal.Before(now) {
		return
	}
	first := p.nextLocal.IsZero()
	if !first {
		p.known = nil // so that it goes out once more
	}
	p.nextLocal = now.Add(exponential(localInterval))
	best := r.local.list[0]
	for _, l := range r.local.list {
		same, better := l.Addr.Network() == p.addr.Network(), l.Score > best.Score
		if same && (better || best.Addr.Network() != p.addr.Network()) {
			best = l
		}
	}
	r.debugf("Advertising address %v to peer=%d", best.Addr, p.id)
	own := codec.Address{Time: uint32(now.Unix()), Services: r.cfg.Services, Addr: best.Addr}
	switch {
	case !first || !r.cfg.Network.Traffic.OwnAddressFirst:
		p.push(own)
	case p.takes(own.Addr): // by itself, so that a peer that takes few addresses at first takes this one
		p.conn.Send(&codec.Addresses{V2: p.v2, List: []codec.Address{own}})
	}
}

// exponential returns a random time whose average is mean. So the time at which a message is
// sent does not reveal when its content arrived.
func exponential(mean time.Duration) time.Duration {
	return time.Duration(math.Round(rand.ExpFloat64() * float64(mean)))
}
