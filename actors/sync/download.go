package sync

import (
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
)

const (
	// perPeer is how many blocks are asked of a peer at a time (Core:
	// MAX_BLOCKS_IN_TRANSIT_PER_PEER).
	perPeer = 16

	// window is how many blocks are fetched beyond the last block that both the
	// peer and the node have (Core: BLOCK_DOWNLOAD_WINDOW).
	window = 1024

	// limitedBlocks is how many blocks a peer that has only recent blocks gives at
	// the least (Core: NODE_NETWORK_LIMITED_MIN_BLOCKS), less two for blocks that
	// come in the meantime.
	limitedBlocks = 288 - 2
)

// A blockRequest is a block that was asked of a peer.
type blockRequest struct {
	peer     *peer
	block    *chainview.Block
	partial  *partial // of a compact block that lacks transactions; nil: the block was asked for
	stripped bool     // it was asked for without its witnesses, as the peer may have deleted them
	recovers bool     // its witnesses must come again
}

// A download is the blocks that peers were asked for, and those that have come and wait
// for the chain.
type download struct {
	cfg   *Config
	log   logger
	chain *chainState

	inFlight    map[chainhash.Hash][]*blockRequest
	downloading int                     // peers with blocks in flight
	asked       map[chainhash.Hash]bool // blocks that a user asked for
	buffer      reorderBuffer
	stallAfter  time.Duration // how long a peer may hold up the window
	recovery    recovery
}

func newDownload(cfg *Config, log logger, chain *chainState) *download {
	return &download{
		cfg: cfg, log: log, chain: chain, inFlight: make(map[chainhash.Hash][]*blockRequest),
		asked: make(map[chainhash.Hash]bool), buffer: newReorderBuffer(), stallAfter: stallAfter,
	}
}

// clear forgets all requests and blocks: they are of another chain. The peers' own
// requests are forgotten with what else is known of their chains.
func (d *download) clear() {
	d.buffer.clear()
	d.recovery = recovery{}
	clear(d.inFlight)
	d.downloading = 0
}

// forget forgets a peer that has left.
func (d *download) forget(p *peer) {
	for len(p.inFlight) > 0 {
		d.drop(p.inFlight[0])
	}
}

// isWanted reports whether somebody was asked for a block.
func (d *download) isWanted(hash chainhash.Hash) bool { return len(d.inFlight[hash]) > 0 }

// requestsOf returns the requests for a block, the first one first.
func (d *download) requestsOf(hash chainhash.Hash) []*blockRequest { return d.inFlight[hash] }

// addRequest notes that a block is asked of a peer. It returns nil if it was already.
func (d *download) addRequest(p *peer, b *chainview.Block) *blockRequest {
	if d.requestOf(p, b.Hash) != nil {
		return nil
	}
	f := &blockRequest{peer: p, block: b}
	d.inFlight[b.Hash] = append(d.inFlight[b.Hash], f)
	p.inFlight = append(p.inFlight, f)
	if len(p.inFlight) == 1 {
		p.busySince = d.cfg.Now()
		d.downloading++
	}
	return f
}

func (d *download) requestOf(p *peer, hash chainhash.Hash) *blockRequest {
	for _, f := range d.inFlight[hash] {
		if f.peer == p {
			return f
		}
	}
	return nil
}

// dropOf forgets that a block was asked of a peer.
func (d *download) dropOf(p *peer, hash chainhash.Hash) {
	if f := d.requestOf(p, hash); f != nil {
		d.drop(f)
	}
}

// dropAll forgets that a block was asked for.
func (d *download) dropAll(hash chainhash.Hash) {
	for len(d.inFlight[hash]) > 0 {
		d.drop(d.inFlight[hash][0])
	}
}

func (d *download) drop(f *blockRequest) {
	hash, p := f.block.Hash, f.peer
	left := slices.DeleteFunc(d.inFlight[hash], func(o *blockRequest) bool { return o == f })
	if d.inFlight[hash] = left; len(left) == 0 {
		delete(d.inFlight, hash)
	}
	if slices.Index(p.inFlight, f) == 0 {
		p.busySince = later(p.busySince, d.cfg.Now())
	}
	p.inFlight = slices.DeleteFunc(p.inFlight, func(o *blockRequest) bool { return o == f })
	if len(p.inFlight) == 0 {
		d.downloading--
	}
	p.stallingSince = time.Time{}
	if len(left) == 0 {
		delete(d.asked, hash)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fetchFor asks a peer for blocks once half of the blocks asked for before have
// come, so that each message asks for many.
func (d *download) fetchFor(p *peer, from bool) {
	budget := perPeer - len(p.inFlight)
	if budget < perPeer/2 || !p.servesBlocks() || (!from || p.isLimited()) && d.chain.initialDownload() {
		return
	}
	if p.starved && d.cfg.Now().Sub(p.lastTriedFetch) < retryFetch && len(p.inFlight) > 0 {
		return
	}
	blocks, staller := d.missing(p, budget)
	blocks = append(blocks, d.before(p, budget-len(blocks))...)
	p.starved, p.lastTriedFetch = len(blocks) < budget, d.cfg.Now()
	d.request(p, blocks)
	if len(p.inFlight) == 0 && staller != nil && staller.stallingSince.IsZero() {
		staller.stallingSince = d.cfg.Now()
		d.log.debugf("Stall started peer=%d", staller.info.ID)
	}
}

// retryFetch is how long a peer that is busy, and of whom no more could be asked,
// is not looked at again: the window is long to walk.
const retryFetch = 20 * time.Millisecond

// request asks a peer for blocks.
func (d *download) request(p *peer, blocks []*chainview.Block) {
	if len(blocks) == 0 {
		return
	}
	m := wire.NewMsgGetDataSizeHint(uint(len(blocks)))
	for _, b := range blocks {
		f, typ := d.addRequest(p, b), blockType(p)
		if f != nil && d.chain.mayLack(p, b) && !d.chain.isSegwit(b.Height) {
			f.stripped, typ = true, wire.InvTypeBlock
		}
		_ = m.AddInvVect(wire.NewInvVect(typ, &b.Hash)) // few
		d.log.debugf("Requesting block %v (%d) peer=%d", b.Hash, b.Height, p.info.ID)
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
// is the peer that holds up the window, if there are no blocks only because the
// window ends.
func (d *download) missing(p *peer, count int) (blocks []*chainview.Block, staller *peer) {
	d.chain.relearn(p)
	active := d.chain.reader.Active()
	if p.best == nil || p.best.CompareWork(active.Tip()) < 0 || p.best.Work().Cmp(d.cfg.MinimumWork) < 0 {
		return nil, nil
	}
	fork := p.best.Ancestor(active.ForkHeight(p.best))
	if p.common == nil || p.common.Height < fork.Height || !p.best.Ancestor(p.common.Height).Is(p.common) {
		p.common = fork
	}
	if p.common.Is(p.best) {
		return nil, nil
	}
	if d.buffer.isFull() {
		count = min(count, 1)
	}
	return d.walk(p, count)
}

// walk looks for missing blocks within the window.
func (d *download) walk(p *peer, count int) (blocks []*chainview.Block, staller *peer) {
	end := p.common.Height + window
	top := min(p.best.Height, end+1)
	full := d.buffer.isFull()
	var waitingFor *peer
	ours := false // the chain has yet to take the first block that is missing
	for _, b := range branch(p.best.Ancestor(top), p.common.Height) {
		switch {
		case b.Status().Invalid(), !p.servesWitnesses() && d.chain.isSegwit(b.Height):
			return blocks, nil
		case d.chain.have(b):
			if p.common.Height == b.Height-1 {
				p.common = b
			}
			continue
		case d.buffer.has(&b.Hash):
			ours = ours || waitingFor == nil && len(blocks) == 0
			if full {
				return blocks, nil // beyond the first that is missing
			}
			continue
		case len(d.inFlight[b.Hash]) > 0:
			if waitingFor == nil {
				waitingFor = d.inFlight[b.Hash][0].peer
			}
			if full {
				return blocks, nil
			}
			continue
		case b.Height > end:
			if len(blocks) == 0 && waitingFor != p && !ours {
				return nil, waitingFor
			}
			return blocks, nil
		case p.isLimited() && p.best.Height-b.Height >= limitedBlocks, d.chain.isLost(p, b):
			continue
		}
		if blocks = append(blocks, b); len(blocks) == count {
			return blocks, nil
		}
	}
	return blocks, nil
}

// before returns blocks that a peer has and the node lacks before the snapshot that its chain
// begins with, lowest first, when the node's tip is no less than the peer's. They are stored as they
// come: nothing waits for those before them but the validation in the background.
func (d *download) before(p *peer, count int) (blocks []*chainview.Block) {
	a := chainview.AssumedOf(d.chain.reader)
	if a == nil || count <= 0 || p.isLimited() || p.best == nil || !p.best.Ancestor(a.Base.Height).Is(a.Base) ||
		p.best.CompareWork(d.chain.reader.Active().Tip()) > 0 {
		return nil
	}
	from := a.Base.ForkHeight(a.Validated)
	top := a.Base.Ancestor(min(from+window, a.Base.Height))
	for _, b := range branch(top, from) {
		if d.chain.have(b) || d.buffer.has(&b.Hash) || len(d.inFlight[b.Hash]) > 0 || d.chain.isLost(p, b) ||
			!p.servesWitnesses() && d.chain.isSegwit(b.Height) {
			continue
		}
		if blocks = append(blocks, b); len(blocks) == count {
			break
		}
	}
	return blocks
}

// branch returns the blocks above a height up to top, lowest first.
func branch(top *chainview.Block, height int32) []*chainview.Block {
	list := slices.Collect(top.Above(height))
	slices.Reverse(list)
	return list
}

// fetchDirectly asks a peer for the blocks of a chain that it has just announced,
// if the node's tip is recent.
func (d *download) fetchDirectly(p *peer, last *chainview.Block) {
	active := d.chain.reader.Active()
	if !d.chain.canFetchDirectly() || last.Status().Invalid() || active.Tip().CompareWork(last) > 0 ||
		d.cfg.Network.DirectFetchWork && last.Work().Cmp(d.cfg.MinimumWork) < 0 {
		return
	}
	var blocks []*chainview.Block
	b := last
	for ; !active.Contains(b) && len(blocks) <= perPeer; b = b.Parent {
		if d.chain.have(b) || d.buffer.has(&b.Hash) || len(d.inFlight[b.Hash]) > 0 || d.chain.isLost(p, b) ||
			!p.servesWitnesses() && d.chain.isSegwit(b.Height) {
			continue
		}
		blocks = append(blocks, b)
	}
	if !active.Contains(b) {
		d.log.debugf("Large reorg, won't direct fetch to %v (%d)", last.Hash, last.Height)
		return
	}
	slices.Reverse(blocks)
	blocks = blocks[:min(len(blocks), max(perPeer-len(p.inFlight), 0))]
	if len(blocks) > 1 {
		d.log.debugf("Downloading blocks toward %v (%d) via headers direct fetch", last.Hash, last.Height)
	}
	if len(blocks) == 1 && p.speaksCompact && !d.cfg.BlocksOnly && len(d.inFlight) == 0 && d.chain.have(last.Parent) &&
		!last.Parent.Status().Invalid() {
		d.requestCompact(p, blocks[0])
		return
	}
	d.request(p, blocks)
}
