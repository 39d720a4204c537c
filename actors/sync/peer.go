package sync

import (
	"cmp"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/headersync"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/link"
)

// A peer is what is known of a peer's chain and of our dealings with it.
type peer struct {
	link.Peer

	info link.Info

	best     *chainview.Block // the best block that it is known to have
	unknown  *chainhash.Hash  // a later one that it announced, of which we lack the header
	common   *chainview.Block // last block that both have
	bestSent *chainview.Block // best header that it was told of

	busy    bool            // its last message is not done with yet
	waiting []link.Received // what came after that

	presync      *headersync.State // of a chain whose work is not known yet
	presyncStart *chainview.Block

	syncing        bool      // its headers are asked for
	headersStopped bool      // and it had none for a while, while our chain was old
	emptySince     time.Time // when it first had none; zero: the last time it had some
	headersBy      time.Time // when a first answer must have come; zero: any time
	asked          time.Time // when headers were last asked for, if they did not come yet
	invAsked       bool      // an inv made us ask for headers before their turn
	lastAnnounced  time.Time // when it last announced a better block
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

// isAutomatic reports whether the node chose the peer for itself, so that it may
// choose another one.
func (p *peer) isAutomatic() bool {
	return p.info.Type == p2p.OutboundFullRelay || p.info.Type == p2p.BlockRelayOnly
}

// has reports whether it knows a header.
func (p *peer) has(b *chainview.Block) bool {
	return p.best != nil && p.best.Ancestor(b.Height) == b || p.bestSent != nil && p.bestSent.Ancestor(b.Height) == b
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

// resumePeer lets go of what it has sent.
func (p *peer) resumePeer() {
	for _, m := range p.waiting {
		m.Handled()
	}
	p.waiting = nil
}

func (s *Sync) join(l link.Peer) {
	p := &peer{Peer: l, info: l.Info()}
	s.peers = append(s.peers, p)
	slices.SortStableFunc(s.peers, func(a, b *peer) int {
		return cmp.Or(cmp.Compare(digit(b.isPreferred()), digit(a.isPreferred())), cmp.Compare(a.info.ID, b.info.ID))
	})
}

func digit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *Sync) leave(id int64) {
	p := s.peer(id)
	if p == nil {
		return
	}
	s.peers = slices.DeleteFunc(s.peers, func(o *peer) bool { return o == p })
	s.highBandwidth = slices.DeleteFunc(s.highBandwidth, func(o *peer) bool { return o == p })
	p.resumePeer()
	if p.syncing && !p.headersStopped {
		s.syncing--
	}
	if p.chain.protected {
		s.protected--
	}
	for len(p.inFlight) > 0 {
		s.drop(p.inFlight[0])
	}
}

// peer returns a connected peer, nil when it is gone.
func (s *Sync) peer(id int64) *peer {
	for _, p := range s.peers {
		if p.info.ID == id {
			return p
		}
	}
	return nil
}

// preferred counts the preferred peers.
func (s *Sync) preferred() int {
	n := 0
	for _, p := range s.peers {
		n += digit(p.isPreferred())
	}
	return n
}

// learn notes that a peer has a block.
func (s *Sync) learn(p *peer, hash chainhash.Hash) {
	s.relearn(p)
	if b := s.reader.Lookup(&hash); b == nil {
		p.unknown = &hash
	} else if p.best == nil || b.Work.Cmp(p.best.Work) >= 0 {
		p.best = b
	}
}

// relearn looks whether the header of a peer's announcement has come.
func (s *Sync) relearn(p *peer) {
	if p.unknown == nil {
		return
	}
	if b := s.reader.Lookup(p.unknown); b != nil {
		if p.best == nil || b.Work.Cmp(p.best.Work) >= 0 {
			p.best = b
		}
		p.unknown = nil
	}
}

// peerStates is what getpeerinfo tells of the peers' chains.
func (s *Sync) peerStates() map[int64]nodemsg.PeerSync {
	states := make(map[int64]nodemsg.PeerSync, len(s.peers))
	for _, p := range s.peers {
		s.relearn(p)
		state := nodemsg.PeerSync{
			PresyncedHeaders: -1, SyncedHeaders: -1, SyncedBlocks: -1, InFlight: make([]int32, len(p.inFlight)),
			LastBlock: p.lastBlock, CompactTo: p.highBandwidth,
		}
		if p.presync != nil {
			if height, _, ok := p.presync.Progress(); ok {
				state.PresyncedHeaders = height
			}
		}
		if p.best != nil {
			state.SyncedHeaders = p.best.Height
		}
		if p.common != nil {
			state.SyncedBlocks = p.common.Height
		}
		for i, f := range p.inFlight {
			state.InFlight[i] = f.block.Height
		}
		states[p.info.ID] = state
	}
	return states
}
