package sync

import (
	"time"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
)

const (
	// stallAfter and maxStallAfter are how long a peer may hold up the window
	// (Core: BLOCK_STALLING_TIMEOUT_DEFAULT, …_MAX). The time grows with each peer
	// that is left for it, as the fault may be ours.
	stallAfter    = 2 * time.Second
	maxStallAfter = 64 * time.Second

	// headersTimeout and perHeader are how long the first sync of headers may
	// take (Core: HEADERS_DOWNLOAD_TIMEOUT_BASE, …_PER_HEADER).
	headersTimeout = 15 * time.Minute
	perHeader      = time.Millisecond

	// chainTimeout is how long an outbound peer may stay behind our tip (Core:
	// CHAIN_SYNC_TIMEOUT).
	chainTimeout = 20 * time.Minute

	// maxProtected is how many outbound peers are not left for that (Core:
	// MAX_OUTBOUND_PEERS_TO_PROTECT_FROM_DISCONNECT).
	maxProtected = 4
)

// chainWatch is the watch over an outbound peer whose chain is behind ours.
type chainWatch struct {
	until     time.Time        // when it must have caught up; zero: it is not behind
	at        *chainview.Block // our tip when the watch began
	asked     bool             // it was asked once more
	protected bool             // is not watched
}

// watch leaves peers that are too slow.
func (s *Sync) watch() {
	now := s.cfg.Now()
	s.watchFetches()
	for _, p := range s.peers {
		switch {
		case !p.stallingSince.IsZero() && now.Sub(p.stallingSince) > s.stallAfter:
			s.printf("Peer is stalling block download, %s", p.info.Disconnecting())
			p.stallingSince = time.Time{}
			p.Disconnect("stalling block download")
			if s.stallAfter < maxStallAfter {
				s.stallAfter = min(2*s.stallAfter, maxStallAfter)
				s.debugf("Increased stalling timeout temporarily to %d seconds", int(s.stallAfter/time.Second))
			}
		case len(p.inFlight) > 0 && now.Sub(p.busySince) > s.blockTimeout():
			s.printf("Timeout downloading block %v, %s", p.inFlight[0].block.Hash, p.info.Disconnecting())
			p.Disconnect("timeout downloading block")
		default:
			s.stopHeadersSync(p)
			s.watchHeaders(p, now)
			s.sayHeaders(p)
		}
	}
}

// blockTimeout is how long a block may take, by how many peers share the line.
func (s *Sync) blockTimeout() time.Duration {
	spacing := s.cfg.Network.Params.TargetTimePerBlock
	return spacing + spacing/2*time.Duration(max(s.downloading-1, 0))
}

// watchHeaders leaves the one peer whose headers are asked for, if it is slow and
// there are others.
func (s *Sync) watchHeaders(p *peer, now time.Time) {
	if !p.syncing || p.headersBy.IsZero() {
		return
	}
	if s.age(s.best) < DefaultMaxTipAge {
		p.headersBy = time.Time{}
		return
	}
	if now.Before(p.headersBy) || s.syncing != 1 || s.preferred()-digit(p.isPreferred()) < 1 {
		return
	}
	if p.info.Permissions.NoBan {
		s.printf("Timeout downloading headers from noban peer, not %s", p.info.Disconnecting())
		p.syncing, p.headersBy = false, time.Time{}
		s.syncing--
		return
	}
	s.printf("Timeout downloading headers, %s", p.info.Disconnecting())
	p.Disconnect("timeout downloading headers")
}

// protect keeps a few outbound peers with good chains from being watched.
func (s *Sync) protect(p *peer) {
	if p.info.Type != p2p.OutboundFullRelay || p.best == nil || p.chain.protected || s.protected >= maxProtected ||
		p.best.Work.Cmp(s.reader.Active().Tip().Work) < 0 {
		return
	}
	s.debugf("Protecting outbound peer=%d from eviction", p.info.ID)
	p.chain.protected = true
	s.protected++
}

// watchChain leaves an outbound peer that stays behind our chain.
func (s *Sync) watchChain(p *peer, now time.Time) {
	w, tip := &p.chain, s.reader.Active().Tip()
	switch {
	case w.protected || !p.isAutomatic() || !p.syncing:
	case p.best != nil && p.best.Work.Cmp(tip.Work) >= 0:
		*w = chainWatch{}
	case w.until.IsZero() || w.at != nil && p.best != nil && p.best.Work.Cmp(w.at.Work) >= 0:
		*w = chainWatch{until: now.Add(chainTimeout), at: tip}
	case !now.After(w.until):
	case w.asked:
		best := "<none>"
		if p.best != nil {
			best = p.best.Hash.String()
		}
		s.printf("Outbound peer has old chain, best known block = %s, %s", best, p.info.Disconnecting())
		p.Disconnect("outbound peer has old chain")
	default:
		if w.at != nil && w.at.Parent != nil {
			s.askHeaders(p, w.at.Parent)
		}
		s.debugf("sending getheaders to outbound peer=%d to verify chain work", p.info.ID)
		w.asked = true
		w.until = now.Add(headersWithin)
	}
}
