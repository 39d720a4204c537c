package sync

import (
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// fetchWithin is how long a peer may take to give an old block before the next one
// is asked.
const fetchWithin = 20 * time.Second

// A fetch is a block that is asked of one peer after the other, for somebody who
// needs it and does not keep it.
type fetch struct {
	block *chainview.Block
	calls []*fetchCall
	tried map[int64]bool
	peer  *peer // that is asked
	since time.Time
}

// fetchFrom asks a peer for a block, for a user.
func (s *Sync) fetchFrom(q nodemsg.FetchBlockFrom) error {
	if !s.imported {
		return nodemsg.ErrImporting
	}
	b := s.reader.Lookup(&q.Hash)
	if b == nil {
		return messages.ErrBlockNotFound
	}
	p := s.peer(q.Peer)
	switch {
	case p == nil:
		return nodemsg.ErrNoPeer
	case !p.servesWitnesses():
		return nodemsg.ErrPreSegwitPeer
	}
	again := s.requestOf(p, q.Hash) != nil
	s.dropAll(q.Hash)
	s.asked[q.Hash] = true
	if again {
		s.addRequest(p, b)
		return nodemsg.ErrAlreadyRequested
	}
	s.request(p, []*chainview.Block{b})
	return nil
}

// fetch asks the peers for a block, for whoever needs it.
func (s *Sync) fetch(m *fetchCall) {
	b := s.reader.Lookup(&m.Req.Hash)
	if b == nil {
		m.Answer(nil, messages.ErrBlockNotFound)
		return
	}
	l := s.fetches[b.Hash]
	if l == nil {
		l = &fetch{block: b, tried: make(map[int64]bool)}
		s.fetches[b.Hash] = l
		s.askNext(l)
	}
	if s.fetches[b.Hash] != l {
		m.Answer(nil, nodemsg.ErrNoSource)
		return
	}
	l.calls = append(l.calls, m)
}

// askNext asks the next peer that may have a block, or gives up.
func (s *Sync) askNext(l *fetch) {
	l.calls = slices.DeleteFunc(l.calls, func(c *fetchCall) bool { return c.Ctx.Err() != nil })
	for _, p := range s.peers {
		if l.tried[p.info.ID] || !s.mayGive(p, l.block) {
			continue
		}
		l.tried[p.info.ID] = true
		l.peer, l.since = p, s.cfg.Now()
		m := wire.NewMsgGetDataSizeHint(1)
		_ = m.AddInvVect(wire.NewInvVect(wire.InvTypeWitnessBlock, &l.block.Hash)) // one
		p.Send(m)
		return
	}
	delete(s.fetches, l.block.Hash)
	for _, c := range l.calls {
		c.Answer(nil, nodemsg.ErrNoSource)
	}
}

// mayGive reports whether a peer probably has a block.
func (*Sync) mayGive(p *peer, b *chainview.Block) bool {
	if !p.servesBlocks() || !p.servesWitnesses() {
		return false
	}
	height := p.info.Remote.Version.StartHeight
	if p.best != nil {
		height = p.best.Height
		if p.best.Ancestor(b.Height) != b {
			return false
		}
	}
	return height >= b.Height && (!p.isLimited() || height-b.Height < limitedBlocks)
}

// fetched hands a block to those who need it, and reports whether there are any.
func (s *Sync) fetched(p *peer, hash chainhash.Hash, raw []byte) bool {
	l := s.fetches[hash]
	if l == nil {
		return false
	}
	block, _, err := s.cfg.Network.ReadBlock(raw)
	if err != nil || !belongs(block, s.isSegwit(l.block.Height)) {
		p.Misbehaving("mutated block")
		if l.peer == p {
			s.askNext(l)
		}
		return true
	}
	delete(s.fetches, hash)
	for _, c := range l.calls {
		c.Answer(raw, nil)
	}
	return true
}

// notFound takes back what a peer does not have.
func (s *Sync) notFound(p *peer, m *wire.MsgNotFound) {
	for _, v := range m.InvList {
		if l := s.fetches[v.Hash]; l != nil && l.peer == p {
			s.askNext(l)
		}
	}
}

// watchFetches asks other peers for what was not given in time, or whose giver has
// left.
func (s *Sync) watchFetches() {
	for _, l := range s.fetches {
		if !slices.Contains(s.peers, l.peer) || s.cfg.Now().Sub(l.since) > fetchWithin {
			s.askNext(l)
		}
	}
}
