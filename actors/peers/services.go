package peers

import (
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/messages"
)

// fullNode is what a node must offer that blocks are asked of.
const fullNode = wire.SFNodeNetwork | wire.SFNodeWitness

// recentBlocks is how far behind, in blocks by the clock, a node may be that
// connects to others that keep the last blocks alone.
const recentBlocks = 144

// services is what the node offers now: not all blocks while those before a snapshot are to come, and not
// all witnesses once some were deleted.
func (b *base) services() wire.ServiceFlag {
	reader := b.cfg.Chain.Open()
	if reader == nil {
		return b.cfg.Services
	}
	return b.offer(reader, chainview.WitnessesOf(reader).Pruned)
}

// offer returns the services of the node with this chain; pruned says whether it has deleted witnesses.
func (b *base) offer(chain chainview.Reader, pruned bool) wire.ServiceFlag {
	offered := b.cfg.Services
	if chainview.AssumedOf(chain) != nil {
		offered &^= wire.SFNodeNetwork | b.cfg.Network.Archive
	}
	if pruned {
		offered = offered&^b.cfg.Network.Archive | b.cfg.Network.WitnessPruned
	}
	return offered
}

// A serviceLog logs changes of the node's services.
type serviceLog struct {
	*base

	last wire.ServiceFlag // what it offered when it was looked at last; 0: it was not yet
	open bool             // services may have been sent to peers
}

// look says which services the node has begun to offer, or offers no more, since it was called before, and at first
// since the chain was opened.
func (l *serviceLog) look() {
	reader := l.cfg.Chain.Open()
	if reader == nil {
		return
	}
	have, archive := chainview.WitnessesOf(reader), l.cfg.Network.Archive
	before, now := l.last, l.offer(reader, have.Pruned)
	if l.last = now; before == 0 {
		before = l.offer(reader, have.Pruned && !have.Begun)
	}
	gone, fresh := before&^now, now&^before
	if fresh&l.cfg.Network.WitnessPruned != 0 {
		withdraws, advertises := "Withdrawing NODE_ARCHIVE after witness compaction",
			"Advertising NODE_WITNESS_PRUNED after witness compaction"
		if !l.open {
			const early = "Witness compaction completed before networking startup; "
			withdraws, advertises = early+"withdrawing NODE_ARCHIVE", early+"advertising NODE_WITNESS_PRUNED"
		}
		if gone&archive != 0 {
			l.printf("%s", withdraws)
		}
		l.printf("%s", advertises)
	}
	if fresh&wire.SFNodeNetwork != 0 {
		l.printf("[snapshot] re-enabling NODE_NETWORK services")
		if fresh&archive != 0 {
			l.printf("[snapshot] re-enabling NODE_ARCHIVE services")
		}
	}
}

// desirable returns the services that this node wants of a node with the offered services.
func (b *base) desirable(offered wire.ServiceFlag) wire.ServiceFlag {
	if offered&wire.SFNodeNetworkLimited == 0 {
		return fullNode
	}
	reader := b.cfg.Chain.Open()
	if reader == nil {
		return fullNode
	}
	behind := b.cfg.Now().Sub(reader.Active().Tip().Time())
	if behind >= recentBlocks*b.cfg.Network.Params.TargetTimePerBlock {
		return fullNode
	}
	return wire.SFNodeNetworkLimited | wire.SFNodeWitness
}

// isChosen reports whether the node may choose a node for itself that is believed to offer these services.
func (b *base) isChosen(offered wire.ServiceFlag) bool {
	return b.desirable(offered)&^offered == 0 && !b.isUndesirable(offered)
}

// isUndesirable reports whether the node needs old witnesses, which a node that offers these services may
// have deleted. It needs them to validate all blocks, or to connect one again whose witnesses it has deleted.
func (b *base) isUndesirable(offered wire.ServiceFlag) bool {
	if offered&b.cfg.Network.WitnessPruned == 0 {
		return false
	}
	var have chainview.Witnesses
	if reader := b.cfg.Chain.Open(); reader != nil {
		have = chainview.WitnessesOf(reader)
	}
	if have.Pruned {
		return have.Wanted != nil
	}
	return b.cfg.Network.AssumeValid == chainhash.Hash{}
}

// refuse returns why a peer is left because of the services that it offers, nil if it is not. It may be called from
// anywhere.
func (e *entry) refuse(offered wire.ServiceFlag) error {
	b := e.conn.base
	var reason string
	switch archive := archiveServices(b.cfg.Network); {
	case (e.typ == p2p.OutboundFullRelay || e.typ == p2p.BlockRelayOnly) && b.isUndesirable(offered):
		reason = fmt.Sprintf("peer advertises NODE_WITNESS_PRUNED in full-validation mode (%08x)", uint64(offered))
		b.debugf("%s, %s", reason, e.disconnecting())
	case !e.archive:
		return nil
	case offered&b.cfg.Network.WitnessPruned != 0:
		reason = "Archive peer advertises NODE_WITNESS_PRUNED"
		b.printf("%s, %s", reason, e.disconnecting())
	case archive&^offered != 0:
		reason = fmt.Sprintf("Archive peer does not offer full archive services (%08x offered, %08x required)",
			uint64(offered), uint64(archive))
		b.printf("%s, %s", reason, e.disconnecting())
	default:
		return nil
	}
	return &p2p.ServicesError{Offered: offered, Reason: reason}
}

// archives counts the peers that give all blocks with their witnesses, and the nodes that are to.
func (s peerSet) archives(added []messages.AddedNode) (n messages.ArchiveCount) {
	for _, e := range s {
		if e.conn.peerServices(e.remote.Version.Services)&e.conn.cfg.Network.Archive != 0 {
			n.Offering++
		}
	}
	for _, a := range added {
		if !a.Archive {
			continue
		}
		if n.Configured++; a.Addr != "" {
			n.Reached++
		}
	}
	return n
}

// archiveServices are the services of a node that gives all blocks with their witnesses.
func archiveServices(n *dialect.Network) wire.ServiceFlag { return fullNode | n.Archive }
