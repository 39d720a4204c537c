package sync

import (
	"cmp"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/headersync"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// A peer is what the node knows of a connected peer's chain, and of its own
// dealings with the peer.
type peer struct {
	peerhandle.Peer

	info peerhandle.Info

	best     *chainview.Block // the best block that it is known to have
	unknown  *chainhash.Hash  // a later block that it announced, whose header we lack
	common   *chainview.Block // last block that both have
	bestSent *chainview.Block // best header that was announced to it

	busy    bool                  // its last message is not done with yet
	waiting []peerhandle.Received // what came after that

	presync      *headersync.State // of a chain whose work is not known yet
	presyncStart *chainview.Block

	syncing        bool      // its headers are asked for
	headersStopped bool      // and it had none for a while, while our chain was old
	emptySince     time.Time // when it first had none; zero: the last time it had some
	headersBy      time.Time // when a first answer must have come; zero: any time
	asked          time.Time // when headers were last asked for, if they did not come yet
	invAsked       bool      // an inv made us ask for headers before their turn
	invWaits       bool      // it announced a block while it was asked for headers
	lastBlock      time.Time // when it last gave a new block
	chain          chainWatch
	saidHeaders    bool // sendheaders was sent
	wantsHeaders   bool // it wants blocks announced by headers
	wantsCompact   bool // … by compact blocks
	speaksCompact  bool // it can give compact blocks
	inFlight       []*blockRequest
	busySince      time.Time // since when the first of its requests is the first
	stallingSince  time.Time // zero: it does not hold up the window
	starved        bool      // it could be asked for more blocks, if the window were further
	announcements  []*chainview.Block
	highBandwidth  bool // it is asked to announce compact blocks at once
	lastTriedFetch time.Time
	recoverAfter   time.Time // no block whose witnesses must come again is asked for before
}

// serves reports whether it offers a service.
func (p *peer) serves(flag wire.ServiceFlag) bool { return p.info.Remote.Version.Services&flag == flag }

// servesBlocks reports whether it gives any blocks.
func (p *peer) servesBlocks() bool {
	return p.serves(wire.SFNodeNetwork) || p.serves(wire.SFNodeNetworkLimited)
}

// isLimited reports whether it gives recent blocks only.
func (p *peer) isLimited() bool {
	return !p.serves(wire.SFNodeNetwork) && p.serves(wire.SFNodeNetworkLimited)
}

func (p *peer) servesWitnesses() bool { return p.serves(wire.SFNodeWitness) }

// isPreferred reports whether blocks are rather taken from it than from others.
func (p *peer) isPreferred() bool {
	return (p.info.Type != p2p.Inbound || p.info.Permissions.NoBan) &&
		p.info.Type != p2p.AddrFetch && p.servesBlocks()
}

// isAutomatic reports whether the node chose the peer itself, so that it may
// choose another peer instead.
func (p *peer) isAutomatic() bool {
	return p.info.Type == p2p.OutboundFullRelay || p.info.Type == p2p.BlockRelayOnly
}

// has reports whether it knows a header.
func (p *peer) has(b *chainview.Block) bool {
	return p.best != nil && p.best.Ancestor(b.Height).Is(b) ||
		p.bestSent != nil && p.bestSent.Ancestor(b.Height).Is(b)
}

// rebase finds its blocks in another tree.
func (p *peer) rebase(reader chainview.Reader) {
	for _, at := range []**chainview.Block{&p.presyncStart, &p.best, &p.common, &p.bestSent, &p.chain.at} {
		if *at != nil {
			*at = reader.Lookup(&(*at).Hash)
		}
	}
	p.inFlight, p.announcements, p.presync = nil, nil, nil
}

// resumePeer drops the peer's waiting messages, and lets the peer be read on.
func (p *peer) resumePeer() {
	for _, m := range p.waiting {
		m.Handled()
	}
	p.waiting = nil
}

// A peerSet is the connected peers.
type peerSet struct{ list []*peer } // preferred ones first, then by id

func (ps *peerSet) add(p *peer) {
	ps.list = append(ps.list, p)
	slices.SortStableFunc(ps.list, func(a, b *peer) int {
		return cmp.Or(cmp.Compare(digit(b.isPreferred()), digit(a.isPreferred())), cmp.Compare(a.info.ID, b.info.ID))
	})
}

func digit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (ps *peerSet) remove(p *peer) {
	ps.list = slices.DeleteFunc(ps.list, func(o *peer) bool { return o == p })
}

func (ps *peerSet) has(p *peer) bool { return slices.Contains(ps.list, p) }

// byID returns a connected peer, nil when it is gone.
func (ps *peerSet) byID(id int64) *peer {
	for _, p := range ps.list {
		if p.info.ID == id {
			return p
		}
	}
	return nil
}

// preferred counts the preferred peers.
func (ps *peerSet) preferred() int {
	n := 0
	for _, p := range ps.list {
		n += digit(p.isPreferred())
	}
	return n
}
