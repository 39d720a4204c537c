package sync

import (
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

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

// tick leaves a peer that stalls the window, or whose block takes too long. It reports
// whether it did.
func (d *download) tick(p *peer, now time.Time) (left bool) {
	switch {
	case !p.stallingSince.IsZero() && now.Sub(p.stallingSince) > d.stallAfter:
		d.log.printf("Peer is stalling block download, %s", p.info.Disconnecting())
		p.stallingSince = time.Time{}
		p.Disconnect("stalling block download")
		if d.stallAfter < maxStallAfter {
			d.stallAfter = min(2*d.stallAfter, maxStallAfter)
			d.log.debugf("Increased stalling timeout temporarily to %d seconds", int(d.stallAfter/time.Second))
		}
	case len(p.inFlight) > 0 && now.Sub(p.busySince) > d.blockTimeout():
		d.log.printf("Timeout downloading block %v, %s", p.inFlight[0].block.Hash, p.info.Disconnecting())
		p.Disconnect("timeout downloading block")
	default:
		return false
	}
	return true
}

// received notes that a block was right: whoever else was asked for it need not give it,
// and the time that peers have grows less again.
func (d *download) received(hash chainhash.Hash) {
	d.dropAll(hash)
	if d.stallAfter > stallAfter {
		d.stallAfter = max(stallAfter, d.stallAfter*85/100)
		d.log.debugf("Decreased stalling timeout to %d seconds", int(d.stallAfter/time.Second))
	}
}

// blockTimeout is how long a block may take, by how many peers share the line.
func (d *download) blockTimeout() time.Duration {
	spacing := d.cfg.Network.Params.TargetTimePerBlock
	return spacing + spacing/2*time.Duration(max(d.downloading-1, 0))
}

// watchTimeout leaves the one peer whose headers are asked for, if it is slow and
// there are others.
func (h *headersSync) watchTimeout(p *peer, now time.Time) {
	if !p.syncing || p.headersBy.IsZero() {
		return
	}
	if h.chain.age(h.chain.best) < recentHeaders {
		p.headersBy = time.Time{}
		return
	}
	if now.Before(p.headersBy) || h.syncing != 1 || h.peers.preferred()-digit(p.isPreferred()) < 1 {
		return
	}
	if p.info.Permissions.NoBan {
		h.log.printf("Timeout downloading headers from noban peer, not %s", p.info.Disconnecting())
		p.syncing, p.headersBy = false, time.Time{}
		h.syncing--
		return
	}
	h.log.printf("Timeout downloading headers, %s", p.info.Disconnecting())
	p.Disconnect("timeout downloading headers")
}

// protect keeps a few outbound peers with good chains from being watched.
func (h *headersSync) protect(p *peer) {
	if p.info.Type != p2p.OutboundFullRelay || p.best == nil || p.chain.protected || h.protected >= maxProtected ||
		p.best.CompareWork(h.chain.reader.Active().Tip()) < 0 {
		return
	}
	h.log.debugf("Protecting outbound peer=%d from eviction", p.info.ID)
	p.chain.protected = true
	h.protected++
}

// watchChain leaves an outbound peer that stays behind our chain.
func (h *headersSync) watchChain(p *peer, now time.Time) {
	w, tip := &p.chain, h.chain.reader.Active().Tip()
	switch {
	case w.protected || !p.isAutomatic() || !p.syncing:
	case p.best != nil && p.best.CompareWork(tip) >= 0:
		*w = chainWatch{}
	case w.until.IsZero() || w.at != nil && p.best != nil && p.best.CompareWork(w.at) >= 0:
		*w = chainWatch{until: now.Add(chainTimeout), at: tip}
	case !now.After(w.until):
	case w.asked:
		best := "<none>"
		if p.best != nil {
			best = p.best.Hash.String()
		}
		h.log.printf("Outbound peer has old chain, best known block = %s, %s", best, p.info.Disconnecting())
		p.Disconnect("outbound peer has old chain")
	default:
		if w.at != nil && w.at.Parent != nil {
			h.ask(p, w.at.Parent)
		}
		h.log.debugf("sending getheaders to outbound peer=%d to verify chain work", p.info.ID)
		w.asked = true
		w.until = now.Add(h.cfg.Network.Traffic.HeadersWithin)
	}
}
