package sync

import (
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// tipChanged notes what is to be announced to peers of a new tip.
func (s *Sync) tipChanged() {
	s.chain.findBest()
	active := s.chain.reader.Active()
	old, tip := s.chain.tip, active.Tip()
	s.chain.tip = tip
	if s.chain.initialDownload() || old == nil || old.Is(tip) {
		return
	}
	var blocks []*chainview.Block
	for b := range tip.Above(active.ForkHeight(old)) {
		if blocks = append([]*chainview.Block{b}, blocks...); len(blocks) == s.cfg.Network.Traffic.MaxAnnounced {
			break
		}
	}
	for _, p := range s.peers.list {
		p.announcements = append(p.announcements, blocks...)
	}
}

// A blockAnnouncer announces a block by a compact one, or reports that it cannot.
type blockAnnouncer interface {
	announce(p *peer, b *chainview.Block) bool
}

// An announcer tells peers of new blocks.
type announcer struct {
	log     logger
	chain   *chainState
	compact blockAnnouncer
}

// announce tells a peer of new blocks. It sends a compact block or headers if
// the peer asked for these and they connect to a block that the peer knows, and
// else the hash of the tip.
func (a *announcer) announce(p *peer) {
	list := p.announcements
	if len(list) == 0 {
		return
	}
	p.announcements = nil
	a.chain.relearn(p)
	if !p.wantsHeaders && (!p.wantsCompact || len(list) > 1) || len(list) > a.chain.cfg.Network.Traffic.MaxAnnounced {
		a.announceTip(p, list)
		return
	}
	fresh, ok := a.unknownTo(p, list)
	switch {
	case !ok:
		a.announceTip(p, list)
	case len(fresh) == 0:
	case len(fresh) == 1 && p.wantsCompact && a.compact.announce(p, fresh[0]):
		p.bestSent = fresh[0]
	case p.wantsHeaders:
		a.sendHeaders(p, fresh)
	default:
		a.announceTip(p, list)
	}
}

// unknownTo returns the blocks of a list that a peer does not know, which begin
// after a block that the peer knows. It reports false if the list is no part of
// the active chain, or if the peer knows no such block.
func (a *announcer) unknownTo(p *peer, list []*chainview.Block) (fresh []*chainview.Block, ok bool) {
	active := a.chain.reader.Active()
	var last *chainview.Block
	for _, b := range list {
		if !active.Contains(b) || last != nil && !b.Parent.Is(last) {
			return nil, false
		}
		last = b
		switch {
		case len(fresh) > 0:
			fresh = append(fresh, b)
		case p.has(b):
		case b.Parent == nil || p.has(b.Parent):
			fresh = append(fresh, b)
		default:
			return nil, false
		}
	}
	return fresh, true
}

func (a *announcer) sendHeaders(p *peer, blocks []*chainview.Block) {
	m := &codec.Headers{List: make([]wire.BlockHeader, len(blocks))}
	for i, b := range blocks {
		m.List[i] = b.Header()
		m.Payloads = append(m.Payloads, b.Payload())
	}
	last := blocks[len(blocks)-1]
	a.log.debugf("SendMessages: sending header %v to peer=%d", last.Hash, p.info.ID)
	p.Send(m)
	p.bestSent = last
}

// headersSent notes what a peer knows from the answer to its question.
func (s *Sync) headersSent(m peerhandle.HeadersSent) {
	if p, b := s.peers.byID(m.ID), s.chain.reader.Lookup(&m.Last); p != nil && b != nil {
		p.bestSent = b
	}
}

// announceTip tells a peer the hash of the last block.
func (a *announcer) announceTip(p *peer, list []*chainview.Block) {
	b := list[len(list)-1]
	if p.has(b) {
		return
	}
	a.log.debugf("SendMessages: sending inv peer=%d hash=%v", p.info.ID, b.Hash)
	m := wire.NewMsgInvSizeHint(1)
	_ = m.AddInvVect(wire.NewInvVect(wire.InvTypeBlock, &b.Hash)) // one
	p.Send(m)
}

// sayHeaders asks a peer, once it has a chain worth it, to announce blocks by
// headers.
func (h *headersSync) sayHeaders(p *peer) {
	if p.saidHeaders || p.info.Remote.Common < int32(wire.SendHeadersVersion) || p.best == nil ||
		p.best.Work().Cmp(h.cfg.MinimumWork) <= 0 {
		return
	}
	p.Send(wire.NewMsgSendHeaders())
	p.saidHeaders = true
}
