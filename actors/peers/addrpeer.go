package peers

import (
	"math/rand/v2"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

const (
	// addrRate and addrBurst are how many addresses a peer may send: a second, and
	// at once.
	addrRate  = 0.1
	addrBurst = codec.MaxAddresses

	// maxKnownAddrs is how many addresses are remembered that a peer knows.
	maxKnownAddrs = 5000
)

// An addrConn is the connection to a peer, as the relay of addresses sees it.
type addrConn interface {
	Send(m wire.Message)
	Disconnect(reason string)
}

// An addrPeer is a peer that has shaken hands, and what has passed between it and
// the node of addresses of nodes.
type addrPeer struct {
	conn      addrConn
	id        int64
	typ       p2p.ConnectionType
	addr      netaddr.Addr
	cacheKey  string // of the answer to its getaddr
	unlimited bool   // may send and ask for as many addresses as it likes
	v2        bool   // knows addresses in the form of BIP155
	since     time.Time

	enabled   bool    // addresses are relayed with it
	tokens    float64 // addresses that it may send now
	refilled  time.Time
	processed uint64
	limited   uint64
	asked     bool // it was asked for addresses
	answered  bool // its own request for addresses was

	known     map[netaddr.Addr]struct{}
	queue     []codec.Address
	next      time.Time // to send the queue
	nextLocal time.Time // to queue the address of this node
}

// begin readies the exchange of addresses when the peer has shaken hands.
func (p *addrPeer) begin(now time.Time) {
	p.tokens, p.refilled = 1, now
	if p.typ != p2p.Inbound && p.typ != p2p.BlockRelayOnly {
		p.enabled, p.asked = true, true
		p.tokens += addrBurst
	}
}

// enable begins to relay addresses with a peer that has sent an address message. It reports
// false if none are relayed with peers of its type.
func (p *addrPeer) enable() bool {
	if p.typ == p2p.BlockRelayOnly {
		return false
	}
	p.enabled = true
	return true
}

// refill lets the peer send further addresses.
func (p *addrPeer) refill(now time.Time) {
	if p.tokens < addrBurst {
		since := max(now.Sub(p.refilled), 0)
		p.tokens = min(p.tokens+since.Seconds()*addrRate, addrBurst)
	}
	p.refilled = now
}

// spend reports whether the peer may send one more address, which is then counted.
func (p *addrPeer) spend() bool {
	if p.tokens >= 1 {
		p.tokens--
		return true
	}
	return p.unlimited
}

// learn notes that the peer knows an address.
func (p *addrPeer) learn(a netaddr.Addr) {
	if p.known == nil || len(p.known) >= maxKnownAddrs {
		p.known = make(map[netaddr.Addr]struct{})
	}
	p.known[a] = struct{}{}
}

func (p *addrPeer) knows(a netaddr.Addr) bool {
	_, ok := p.known[a]
	return ok
}

// takes reports whether an address can be sent to the peer.
func (p *addrPeer) takes(a netaddr.Addr) bool { return p.v2 || a.IsV1Compatible() }

// push queues an address for the peer.
func (p *addrPeer) push(a codec.Address) {
	if !a.Addr.IsValid() || p.knows(a.Addr) || !p.takes(a.Addr) {
		return
	}
	if len(p.queue) >= codec.MaxAddresses {
		p.queue[rand.IntN(len(p.queue))] = a //nolint:gosec // no secret
		return
	}
	p.queue = append(p.queue, a)
}

// flush sends what is queued and the peer does not know yet.
func (p *addrPeer) flush() {
	var list []codec.Address
	for _, a := range p.queue {
		if !p.knows(a.Addr) {
			p.learn(a.Addr)
			list = append(list, a)
		}
	}
	p.queue = nil
	if len(list) > 0 {
		p.conn.Send(&codec.Addresses{V2: p.v2, List: list})
	}
}
