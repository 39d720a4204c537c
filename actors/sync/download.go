package sync

import (
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
)

const (
	// perPeer is how many blocks are asked of a peer at a time (Core:
	// MAX_BLOCKS_IN_TRANSIT_PER_PEER).
	perPeer = 16

	// window is how far blocks are fetched after the last one that is there
	// (Core: BLOCK_DOWNLOAD_WINDOW).
	window = 1024

	// limitedBlocks is how many blocks a peer gives at the least that gives only
	// recent ones (Core: NODE_NETWORK_LIMITED_MIN_BLOCKS), less two for those that
	// come in the meantime.
	limitedBlocks = 288 - 2
)

// A blockRequest is a block that was asked of a peer.
type blockRequest struct {
	peer    *peer
	block   *chainview.Block
	partial *partial // of a compact block that lacks transactions; nil: the block was asked for
}

// addRequest notes that a block is asked of a peer. It returns nil if it was already.
func (s *Sync) addRequest(p *peer, b *chainview.Block) *blockRequest {
	if s.requestOf(p, b.Hash) != nil {
		return nil
	}
	f := &blockRequest{peer: p, block: b}
	s.inFlight[b.Hash] = append(s.inFlight[b.Hash], f)
	p.inFlight = append(p.inFlight, f)
	if len(p.inFlight) == 1 {
		p.busySince = s.cfg.Now()
		s.downloading++
	}
	return f
}

func (s *Sync) requestOf(p *peer, hash chainhash.Hash) *blockRequest {
	for _, f := range s.inFlight[hash] {
		if f.peer == p {
			return f
		}
	}
	return nil
}

// dropOf forgets that a block was asked of a peer.
func (s *Sync) dropOf(p *peer, hash chainhash.Hash) {
	if f := s.requestOf(p, hash); f != nil {
		s.drop(f)
	}
}

// dropAll forgets that a block was asked for.
func (s *Sync) dropAll(hash chainhash.Hash) {
	for len(s.inFlight[hash]) > 0 {
		s.drop(s.inFlight[hash][0])
	}
}

func (s *Sync) drop(f *blockRequest) {
	hash, p := f.block.Hash, f.peer
	left := slices.DeleteFunc(s.inFlight[hash], func(o *blockRequest) bool { return o == f })
	if s.inFlight[hash] = left; len(left) == 0 {
		delete(s.inFlight, hash)
	}
	if len(p.inFlight) > 0 && p.inFlight[0] == f {
		p.busySince = later(p.busySince, s.cfg.Now())
	}
	p.inFlight = slices.DeleteFunc(p.inFlight, func(o *blockRequest) bool { return o == f })
	if len(p.inFlight) == 0 {
		s.downloading--
	}
	p.stallingSince = time.Time{}
	if len(left) == 0 {
		delete(s.asked, hash)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// schedule asks peers for the headers and blocks that are missing.
func (s *Sync) schedule() {
	if s.reader == nil || !s.imported {
		return
	}
	preferred, now := s.preferred(), s.cfg.Now()
	for _, p := range s.peers {
		from := p.isPreferred()
		if !from && p.servesBlocks() && p.info.Type != p2p.AddrFetch && (preferred == 0 || len(s.inFlight) == 0) {
			from = true
		}
		s.startHeaders(p, from)
		s.watchChain(p, now)
		s.announce(p)
		if s.headersInFlight == 0 || s.initialDownload() {
			s.fetchFor(p, from)
		}
	}
}

// startHeaders begins to sync headers with a peer: with one, until the best header
// is recent.
func (s *Sync) startHeaders(p *peer, from bool) {
	if p.syncing || !p.servesBlocks() {
		return
	}
	if (s.syncing > 0 || !from) && s.age(s.best) >= DefaultMaxTipAge {
		return
	}
	s.findBest() // headers come from elsewhere too
	start := s.best
	if start.Parent != nil {
		start = start.Parent // so that the answer is not empty
	}
	if !s.askHeaders(p, start) {
		return
	}
	s.debugf(
		"initial getheaders (%d) to peer=%d (startheight:%d)", start.Height, p.info.ID,
		p.info.Remote.Version.StartHeight,
	)
	p.syncing = true
	s.syncing++
	spacing := s.cfg.Network.Params.TargetTimePerBlock
	headers := int64(s.age(s.best) / spacing)
	p.headersBy = s.cfg.Now().Add(headersTimeout + time.Duration(headers)*perHeader)
}

// fetchFor asks a peer for blocks, when half of those asked for before have come:
// so that one message asks for many.
func (s *Sync) fetchFor(p *peer, from bool) {
	budget := perPeer - len(p.inFlight)
	if budget < perPeer/2 || !p.servesBlocks() || (!from || p.isLimited()) && s.initialDownload() {
		return
	}
	if p.starved && s.cfg.Now().Sub(p.lastTriedFetch) < retryFetch && len(p.inFlight) > 0 {
		return
	}
	blocks, staller := s.missing(p, budget)
	p.starved, p.lastTriedFetch = len(blocks) < budget, s.cfg.Now()
	s.request(p, blocks)
	if len(p.inFlight) == 0 && staller != nil && staller.stallingSince.IsZero() {
		staller.stallingSince = s.cfg.Now()
		s.debugf("Stall started peer=%d", staller.info.ID)
	}
}

// retryFetch is how long a peer that is busy, and of whom no more could be asked,
// is not looked at again: the window is long to walk.
const retryFetch = 20 * time.Millisecond

// request asks a peer for blocks.
func (s *Sync) request(p *peer, blocks []*chainview.Block) {
	if len(blocks) == 0 {
		return
	}
	m := wire.NewMsgGetDataSizeHint(uint(len(blocks)))
	for _, b := range blocks {
		s.addRequest(p, b)
		_ = m.AddInvVect(wire.NewInvVect(blockType(p), &b.Hash)) // few
		s.debugf("Requesting block %v (%d) peer=%d", b.Hash, b.Height, p.info.ID)
	}
	p.Send(m)
}

func blockType(p *peer) wire.InvType {
	if p.servesWitnesses() {
		return wire.InvTypeWitnessBlock
	}
	return wire.InvTypeBlock
}

// missing returns blocks that a peer has and the node lacks, lowest first. staller
// is who holds up the window, where there are none only because of its end.
func (s *Sync) missing(p *peer, count int) (blocks []*chainview.Block, staller *peer) {
	s.relearn(p)
	active := s.reader.Active()
	if p.best == nil || p.best.Work.Cmp(active.Tip().Work) < 0 || p.best.Work.Cmp(s.cfg.MinimumWork) < 0 {
		return nil, nil
	}
	if p.common == nil {
		p.common = active.At(min(p.best.Height, active.Height()))
	}
	if p.best.Ancestor(p.common.Height) != p.common {
		p.common = commonBlock(p.common, p.best)
	}
	if p.common == p.best {
		return nil, nil
	}
	if s.buffer.bytes > maxPendingBytes {
		count = min(count, 1)
	}
	return s.walk(p, count)
}

// walk looks for missing blocks within the window.
func (s *Sync) walk(p *peer, count int) (blocks []*chainview.Block, staller *peer) {
	end := p.common.Height + window
	top := min(p.best.Height, end+1)
	full := s.buffer.bytes > maxPendingBytes
	var waitingFor *peer
	for _, b := range branch(p.best.Ancestor(top), p.common) {
		switch {
		case b.Status().Invalid(), !p.servesWitnesses() && s.cfg.Network.Active("segwit", b.Height):
			return blocks, nil
		case s.have(b):
			if p.common.Height == b.Height-1 {
				p.common = b
			}
			continue
		case s.buffer.has(&b.Hash):
			if full {
				return blocks, nil // beyond the first that is missing
			}
			continue
		case len(s.inFlight[b.Hash]) > 0:
			if waitingFor == nil {
				waitingFor = s.inFlight[b.Hash][0].peer
			}
			if full {
				return blocks, nil
			}
			continue
		case b.Height > end:
			if len(blocks) == 0 && waitingFor != p {
				return nil, waitingFor
			}
			return blocks, nil
		case p.isLimited() && p.best.Height-b.Height >= limitedBlocks:
			continue
		}
		if blocks = append(blocks, b); len(blocks) == count {
			return blocks, nil
		}
	}
	return blocks, nil
}

// branch returns the blocks after base up to top, lowest first.
func branch(top, base *chainview.Block) []*chainview.Block {
	list := make([]*chainview.Block, max(top.Height-base.Height, 0))
	for b := top; b.Height > base.Height; b = b.Parent {
		list[b.Height-base.Height-1] = b
	}
	return list
}

// commonBlock returns the last block that two chains share.
func commonBlock(a, b *chainview.Block) *chainview.Block {
	if a.Height > b.Height {
		a = a.Ancestor(b.Height)
	}
	b = b.Ancestor(a.Height)
	for a != b {
		a, b = a.Parent, b.Parent
	}
	return a
}

// canFetchDirectly reports whether the tip is so recent that a new block is
// probably the next one.
func (s *Sync) canFetchDirectly() bool {
	return s.age(s.reader.Active().Tip()) < 20*s.cfg.Network.Params.TargetTimePerBlock
}

// fetchDirectly asks a peer for the blocks of a chain that it has just announced,
// where the node is close to it.
func (s *Sync) fetchDirectly(p *peer, last *chainview.Block) {
	active := s.reader.Active()
	if !s.canFetchDirectly() || last.Status().Invalid() || active.Tip().Work.Cmp(last.Work) > 0 {
		return
	}
	var blocks []*chainview.Block
	b := last
	for ; !active.Contains(b) && len(blocks) <= perPeer; b = b.Parent {
		if s.have(b) || s.buffer.has(&b.Hash) || len(s.inFlight[b.Hash]) > 0 ||
			!p.servesWitnesses() && s.cfg.Network.Active("segwit", b.Height) {
			continue
		}
		blocks = append(blocks, b)
	}
	if !active.Contains(b) {
		s.debugf("Large reorg, won't direct fetch to %v (%d)", last.Hash, last.Height)
		return
	}
	slices.Reverse(blocks)
	blocks = blocks[:min(len(blocks), max(perPeer-len(p.inFlight), 0))]
	if len(blocks) > 1 {
		s.debugf("Downloading blocks toward %v (%d) via headers direct fetch", last.Hash, last.Height)
	}
	if len(blocks) == 1 && p.speaksCompact && !s.cfg.BlocksOnly && len(s.inFlight) == 0 && s.have(last.Parent) &&
		!last.Parent.Status().Invalid() {
		s.requestCompact(p, blocks[0])
		return
	}
	s.request(p, blocks)
}
