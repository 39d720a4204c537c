package sync

import (
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
)

// mayLack reports whether a peer may have deleted the witnesses of a block of its chain: it offers only
// the witnesses of the last blocks.
func (cs *chainState) mayLack(p *peer, b *chainview.Block) bool {
	pruned := cs.cfg.Network.WitnessPruned
	return pruned != 0 && p.serves(pruned) && p.best != nil && b.Height < p.best.Height-cs.cfg.Network.StripDepth
}

// isLost reports whether a peer has nothing to give of a block of its chain: there may be witnesses, and it
// may have deleted them.
func (cs *chainState) isLost(p *peer, b *chainview.Block) bool {
	return cs.isSegwit(b.Height) && cs.mayLack(p, b)
}

// isOldOf reports whether a block is one of a peer's chain whose witnesses the peer may delete.
func (cs *chainState) isOldOf(p *peer, b *chainview.Block) bool {
	return p.best != nil && p.best.Height >= b.Height+cs.cfg.Network.StripDepth && p.best.Ancestor(b.Height).Is(b)
}

// lacked takes notice of a peer that does not have a block which it was asked for with its witnesses. It
// reports whether the peer may have deleted them: from then on it counts as a peer that does.
func (cs *chainState) lacked(p *peer, b *chainview.Block, log logger) bool {
	pruned := cs.cfg.Network.WitnessPruned
	if pruned == 0 || p.isLimited() || !cs.isOldOf(p, b) {
		return false
	}
	if p.serves(pruned) {
		return true
	}
	p.info.Remote.Version.Services |= pruned
	if shown := p.info.NoWitnesses; shown != nil {
		shown.Store(true)
	}
	if p.info.Archive {
		log.printf("Archive peer implies NODE_WITNESS_PRUNED via NOTFOUND, %s", p.info.Disconnecting())
		p.Disconnect("archive peer lacks witnesses")
	}
	return true
}

// notFound takes notice of blocks that a peer does not have.
func (d *download) notFound(p *peer, m *wire.MsgNotFound) {
	if !d.cfg.Network.LeavesForNotFound {
		return
	}
	for _, v := range m.InvList {
		f := d.requestOf(p, v.Hash)
		switch {
		case f == nil:
		case v.Type == wire.InvTypeWitnessBlock && !f.stripped && d.chain.lacked(p, f.block, d.log):
			d.drop(f)
		default:
			d.log.printf("Peer sent NOTFOUND for in-flight block %v, %s", v.Hash, p.info.Disconnecting())
			p.Disconnect("block not found")
		}
	}
}
