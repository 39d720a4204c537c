package sync

import (
	"math/big"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/target"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/compact"
)

const (
	// compactAtOnce is from how many peers a compact block is completed at a time
	// (Core: MAX_CMPCTBLOCKS_INFLIGHT_PER_BLOCK).
	compactAtOnce = 3

	// compactPeers is how many peers are asked to announce compact blocks at once
	// (BIP152).
	compactPeers = 3

	// compactAhead is how far after the tip a block may be to be completed from
	// the pool.
	compactAhead = 2

	// invCompact asks for a compact block (BIP152), which btcd does not know.
	invCompact wire.InvType = 4
)

// compact handles a compact block, and reports whether that goes on.
func (s *Sync) compact(c actor.Context, p *peer, m *codec.CmpctBlock, handled func()) (pending bool) {
	if !s.imported {
		s.debugf("Unexpected cmpctblock message received from peer %d", p.info.ID)
		return false
	}
	parent := s.reader.Lookup(&m.Header.PrevBlock)
	if parent == nil {
		if !s.initialDownload() {
			s.askHeaders(p, s.best)
		}
		return false
	}
	if new(big.Int).Add(parent.Work, target.Work(m.Header.Bits)).Cmp(s.leastWork()) < 0 {
		s.debugf("Ignoring low-work compact block from peer %d", p.info.ID)
		return false
	}
	h := newHeader(&m.Header, m.Payload)
	isNew := s.reader.Lookup(&h.Hash) == nil
	s.accept(c, p, headersAnswer{
		peer: p.info.ID, list: []header{h}, isNew: isNew, compact: true, handled: handled,
		then: func(c actor.Context, p *peer) bool {
			return s.compactKnown(c, p, s.reader.Lookup(&h.Hash), announced{m, isNew, handled})
		},
	})
	return true
}

// An announced block is a compact block that a peer has sent.
type announced struct {
	*codec.CmpctBlock

	isNew   bool // its header was not known
	handled func()
}

// compactKnown goes on when the header of a compact block is known, and reports
// whether the block is now with the chain.
func (s *Sync) compactKnown(c actor.Context, p *peer, b *chainview.Block, m announced) (pending bool) {
	if m.isNew {
		s.logNew(p, b, "cmpctblock ")
	}
	s.learn(p, b.Hash)
	tip := s.reader.Active().Tip()
	if m.isNew && b.Work.Cmp(tip.Work) > 0 {
		p.lastAnnounced = s.cfg.Now()
	}
	asked := s.requestOf(p, b.Hash) != nil
	switch {
	case s.have(b) || s.buffer.has(&b.Hash):
	case b.Work.Cmp(tip.Work) <= 0:
		if asked {
			s.askFull(p, b)
		}
	case len(s.inFlight[b.Hash]) == 0 && !s.canFetchDirectly():
	case b.Height <= tip.Height+compactAhead:
		return s.reconstruct(c, p, b, m)
	case asked:
		s.askFull(p, b)
	default:
		s.extended(p, b, headersAnswer{isNew: m.isNew, compact: true})
	}
	return false
}

// askFull asks for a block that is in flight in another way.
func (*Sync) askFull(p *peer, b *chainview.Block) {
	m := wire.NewMsgGetDataSizeHint(1)
	_ = m.AddInvVect(wire.NewInvVect(blockType(p), &b.Hash)) // one
	p.Send(m)
}

// requestCompact asks for a compact block.
func (s *Sync) requestCompact(p *peer, b *chainview.Block) {
	s.addRequest(p, b)
	s.debugf("Requesting block %v from  peer=%d", b.Hash, p.info.ID)
	m := wire.NewMsgGetDataSizeHint(1)
	_ = m.AddInvVect(wire.NewInvVect(invCompact, &b.Hash)) // one
	p.Send(m)
}

// reconstruct makes a block of a compact one, or asks for what it lacks.
func (s *Sync) reconstruct(c actor.Context, p *peer, b *chainview.Block, m announced) (pending bool) {
	others := s.inFlight[b.Hash]
	f := s.requestOf(p, b.Hash)
	if f == nil && (len(others) >= compactAtOnce || len(p.inFlight) >= perPeer) {
		return s.reconstructAnyway(c, p, b, m)
	}
	inFlight, first := len(others), len(others) == 0 || others[0].peer == p
	if f == nil {
		f = s.addRequest(p, b)
	} else if f.partial != nil {
		s.debugf("Peer sent us compact block we were already syncing!")
		return false
	}
	part, fault := newPartial(m.CmpctBlock, s.pool.All())
	switch {
	case fault == compactInvalid:
		s.drop(f)
		p.Misbehaving("invalid compact block")
		return false
	case fault == compactUnclear && first:
		s.askFull(p, b)
		return false
	case fault == compactUnclear:
		s.drop(f)
		return false
	}
	f.partial = part
	missing := part.missing()
	switch {
	case len(missing) == 0:
		return s.completed(c, p, f, nil, m.handled)
	case first || p.highBandwidth && (!p.isInbound() || inFlight < compactAtOnce-1 || s.isAskedOutbound(b.Hash)):
		p.Send(&codec.GetBlockTxn{Block: b.Hash, Indexes: missing})
	default:
		s.drop(f)
	}
	return false
}

// reconstructAnyway tries to make a block that others were asked for.
func (s *Sync) reconstructAnyway(c actor.Context, p *peer, b *chainview.Block, m announced) (pending bool) {
	part, fault := newPartial(m.CmpctBlock, s.pool.All())
	if fault != compactFine {
		return false
	}
	raw, fault := part.complete(nil, s.isSegwit(b.Height))
	return fault == compactFine && s.take(c, p, b, arrival{raw: raw, wanted: true, compact: true, handled: m.handled})
}

// isAskedOutbound reports whether an outbound peer was asked for a block.
func (s *Sync) isAskedOutbound(hash chainhash.Hash) bool {
	return slices.ContainsFunc(s.inFlight[hash], func(f *blockRequest) bool { return !f.peer.isInbound() })
}

// blockTxs takes the transactions that a compact block lacked.
func (s *Sync) blockTxs(c actor.Context, p *peer, m *codec.BlockTxn, handled func()) (pending bool) {
	if !s.imported {
		s.debugf("Unexpected blocktxn message received from peer %d", p.info.ID)
		return false
	}
	f := s.requestOf(p, m.Block)
	switch {
	case f == nil || f.partial == nil:
		s.debugf("Peer %d sent us block transactions for block we weren't expecting", p.info.ID)
	case f.partial.spent:
		s.drop(f)
		p.Misbehaving("previous compact block reconstruction attempt failed")
	default:
		return s.completed(c, p, f, m.Txs, handled)
	}
	return false
}

// completed makes a block of a compact one whose transactions have come.
func (s *Sync) completed(c actor.Context, p *peer, f *blockRequest, txs []*wire.MsgTx, handled func()) (pending bool) {
	b := f.block
	raw, fault := f.partial.complete(txs, s.isSegwit(b.Height))
	switch {
	case fault == compactFine:
		s.drop(f)
		return s.take(c, p, b, arrival{raw: raw, wanted: true, compact: true, handled: handled})
	case fault == compactInvalid:
		s.drop(f)
		p.Misbehaving("invalid compact block/non-matching block transactions")
	case s.inFlight[b.Hash][0] == f:
		s.askFull(p, b)
	default:
		s.drop(f)
		s.debugf(
			"Peer %d sent us a compact block but it failed to reconstruct, waiting on first download to complete",
			p.info.ID,
		)
	}
	return false
}

// sendCompact announces a block by a compact one. It reports false where the block
// cannot be read.
func (s *Sync) sendCompact(p *peer, b *chainview.Block) bool {
	if s.lastCompact == nil || s.lastCompact.Header.BlockHash() != b.Hash {
		block, err := s.reader.Block(&b.Hash)
		if err != nil || len(block.Transactions) == 0 {
			return false
		}
		s.lastCompact = compact.Of(block, b.Payload)
	}
	s.debugf("SendMessages sending header-and-ids %v to peer=%d", b.Hash, p.info.ID)
	p.Send(s.lastCompact)
	return true
}

// chooseHighBandwidth asks a peer that gave a new block to announce compact blocks at
// once, and the one to stop that did so longest ago.
func (s *Sync) chooseHighBandwidth(p *peer) {
	if !p.speaksCompact || s.cfg.BlocksOnly {
		return
	}
	if i := slices.Index(s.highBandwidth, p); i >= 0 {
		s.highBandwidth = append(slices.Delete(s.highBandwidth, i, i+1), p)
		return
	}
	if len(s.highBandwidth) >= compactPeers {
		s.keepOutbound(p)
		last := s.highBandwidth[0]
		last.highBandwidth = false
		last.Send(&codec.SendCmpct{Version: codec.CmpctVersion})
		s.highBandwidth = slices.Delete(s.highBandwidth, 0, 1)
	}
	p.highBandwidth = true
	p.Send(&codec.SendCmpct{HighBandwidth: true, Version: codec.CmpctVersion})
	s.highBandwidth = append(s.highBandwidth, p)
}

// keepOutbound sees to it that an inbound peer does not take the place of the only
// outbound one.
func (s *Sync) keepOutbound(p *peer) {
	outbound := 0
	for _, o := range s.highBandwidth {
		outbound += digit(!o.isInbound())
	}
	if p.isInbound() && outbound == 1 && !s.highBandwidth[0].isInbound() {
		s.highBandwidth[0], s.highBandwidth[1] = s.highBandwidth[1], s.highBandwidth[0]
	}
}
