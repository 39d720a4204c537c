package sync

import (
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/messages"
)

// schedule asks peers for the headers and blocks that are missing.
func (s *Sync) schedule() {
	if s.chain.reader == nil || !s.chain.imported {
		return
	}
	preferred, now := s.peers.preferred(), s.cfg.Now()
	for _, p := range s.peers.list {
		s.headers.sayHeaders(p)
		from := p.isPreferred()
		if !from && p.servesBlocks() && p.info.Type != p2p.AddrFetch && (preferred == 0 ||
			len(s.download.inFlight) == 0) {
			from = true
		}
		s.headers.start(p, from)
		s.headers.watchChain(p, now)
		s.announcer.announce(p)
		s.download.recoverFrom(p)
		if s.headersInFlight == 0 || s.chain.initialDownload() {
			s.download.fetchFor(p, from)
		}
	}
}

// watch leaves peers that are too slow.
func (s *Sync) watch() {
	now := s.cfg.Now()
	s.fetches.tick()
	for _, p := range s.peers.list {
		if s.download.tick(p, now) {
			continue
		}
		s.headers.stopHeadersSync(p)
		s.headers.watchTimeout(p, now)
	}
}

// fetchFrom asks a peer for a block, for a user.
func (s *Sync) fetchFrom(q nodemsg.FetchBlockFrom) error {
	if !s.chain.imported {
		return nodemsg.ErrImporting
	}
	b := s.chain.reader.Lookup(&q.Hash)
	if b == nil {
		return messages.ErrBlockNotFound
	}
	p := s.peers.byID(q.Peer)
	switch {
	case p == nil:
		return nodemsg.ErrNoPeer
	case !p.servesWitnesses():
		return nodemsg.ErrPreSegwitPeer
	case s.cfg.Network.FetchWork && !s.chain.hasWork(b):
		return nodemsg.ErrLittleWork
	}
	again := s.download.requestOf(p, q.Hash) != nil
	s.download.dropAll(q.Hash)
	s.download.asked[q.Hash] = true
	if again {
		s.download.addRequest(p, b)
		return nodemsg.ErrAlreadyRequested
	}
	s.download.request(p, []*chainview.Block{b})
	return nil
}
