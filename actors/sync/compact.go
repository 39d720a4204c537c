package sync

import (
	"math/big"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/poolview"
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

// blockRequests is what compact blocks need of the download.
type blockRequests interface {
	requestsOf(hash chainhash.Hash) []*blockRequest
	requestOf(p *peer, hash chainhash.Hash) *blockRequest
	addRequest(p *peer, b *chainview.Block) *blockRequest
	drop(r *blockRequest)
}

// compactBlocks makes blocks of compact ones and of the pool, announces blocks by compact
// ones, and chooses who announces them so to us (BIP152).
type compactBlocks struct {
	cfg      *Config
	log      logger
	chain    *chainState
	requests blockRequests

	pool          *poolview.View    // of which blocks are made
	highBandwidth []*peer           // to announce compact blocks at once, the latest last
	lastCompact   *codec.CmpctBlock // sent last
}

// forget forgets a peer that has left.
func (cb *compactBlocks) forget(p *peer) {
	cb.highBandwidth = slices.DeleteFunc(cb.highBandwidth, func(o *peer) bool { return o == p })
}

// compactReceived handles a compact block, and reports whether that goes on.
func (s *Sync) compactReceived(c actor.Context, p *peer, m *codec.CmpctBlock, handled func()) (pending bool) {
	if !s.chain.imported {
		s.log.debugf("Unexpected cmpctblock message received from peer %d", p.info.ID)
		return false
	}
	if why := s.compact.unwanted(p); why != "" {
		s.log.debugf("peer=%d sent us a compact block %s!", p.info.ID, why)
		return false
	}
	parent := s.chain.reader.Lookup(&m.Header.PrevBlock)
	if parent == nil {
		if !s.chain.initialDownload() {
			s.headers.ask(p, s.chain.best)
		}
		return false
	}
	if new(big.Int).Add(parent.Work(), consensus.TargetWork(m.Header.Bits)).Cmp(s.chain.leastWork()) < 0 {
		s.log.debugf("Ignoring low-work compact block from peer %d", p.info.ID)
		return false
	}
	h := newHeader(&m.Header, m.Payload)
	isNew := s.chain.reader.Lookup(&h.Hash) == nil
	s.accept(c, p, headersAnswer{
		peer: p.info.ID, list: []header{h}, isNew: isNew, compact: true, handled: handled,
		then: func(c actor.Context, p *peer) bool {
			return s.compactKnown(c, p, s.chain.reader.Lookup(&h.Hash), announced{m, isNew, handled})
		},
	})
	return true
}

// unwanted returns why no compact block of a peer is looked at, empty: they are.
func (cb *compactBlocks) unwanted(p *peer) string {
	switch {
	case !cb.cfg.Network.Traffic.StrictCompact:
		return ""
	case cb.cfg.BlocksOnly:
		return "even though we are blocksonly"
	case !p.speaksCompact:
		return "despite never having sent us a SENDCMPCT"
	}
	return ""
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
		s.headers.logNew(p, b, "cmpctblock ")
	}
	s.chain.learn(p, b.Hash)
	tip := s.chain.reader.Active().Tip()
	asked := s.download.requestOf(p, b.Hash) != nil
	switch {
	case s.chain.have(b) || s.download.buffer.has(&b.Hash):
	case !asked && !p.highBandwidth && s.cfg.Network.Traffic.StrictCompact:
		s.log.debugf("peer=%d, not marked as high-bandwidth, sent us an unsolicited compact block!", p.info.ID)
	case b.CompareWork(tip) <= 0, b.Status()&chainview.Pruned != 0:
		if asked {
			askFull(p, b)
		}
	case len(s.download.inFlight[b.Hash]) == 0 && !s.chain.canFetchDirectly():
	case b.Height <= tip.Height+compactAhead:
		return s.takeCompact(c, p, b, s.compact.received(p, b, m.CmpctBlock), m.handled)
	case asked:
		askFull(p, b)
	default:
		s.extended(p, b, headersAnswer{isNew: m.isNew, compact: true})
	}
	return false
}

// askFull asks for a block that is in flight in another way.
func askFull(p *peer, b *chainview.Block) {
	m := wire.NewMsgGetDataSizeHint(1)
	_ = m.AddInvVect(wire.NewInvVect(blockType(p), &b.Hash)) // one
	p.Send(m)
}

// requestCompact asks for a compact block.
func (d *download) requestCompact(p *peer, b *chainview.Block) {
	d.addRequest(p, b)
	d.log.debugf("Requesting block %v from  peer=%d", b.Hash, p.info.ID)
	m := wire.NewMsgGetDataSizeHint(1)
	_ = m.AddInvVect(wire.NewInvVect(invCompact, &b.Hash)) // one
	p.Send(m)
}

// received makes a block of a compact block. It returns nil if the compact block
// is of no use, or if transactions are missing, which it may ask the peer for.
func (cb *compactBlocks) received(p *peer, b *chainview.Block, m *codec.CmpctBlock) (raw []byte) {
	others := cb.requests.requestsOf(b.Hash)
	f := cb.requests.requestOf(p, b.Hash)
	if f == nil && (len(others) >= compactAtOnce || len(p.inFlight) >= perPeer) {
		return cb.reconstruct(b, m)
	}
	inFlight, first := len(others), len(others) == 0 || others[0].peer == p
	if f == nil {
		f = cb.requests.addRequest(p, b)
	} else if f.partial != nil {
		cb.log.debugf("Peer sent us compact block we were already syncing!")
		return nil
	}
	part, fault := newPartial(m, cb.pool.All())
	switch {
	case fault == compactInvalid:
		cb.requests.drop(f)
		p.Misbehaving("invalid compact block")
		return nil
	case fault == compactUnclear && first:
		askFull(p, b)
		return nil
	case fault == compactUnclear:
		cb.requests.drop(f)
		return nil
	}
	f.partial = part
	missing := part.missing()
	switch {
	case len(missing) == 0:
		return cb.completed(p, f, nil)
	case first || p.highBandwidth && (!p.isInbound() || inFlight < compactAtOnce-1 || cb.isAskedOutbound(b.Hash)):
		p.Send(&codec.GetBlockTxn{Block: b.Hash, Indexes: missing})
	default:
		cb.requests.drop(f)
	}
	return nil
}

// reconstruct makes a block of a compact block, nil if the pool lacks
// transactions.
func (cb *compactBlocks) reconstruct(b *chainview.Block, m *codec.CmpctBlock) (raw []byte) {
	part, fault := newPartial(m, cb.pool.All())
	if fault != compactFine {
		return nil
	}
	if raw, fault = part.complete(nil, cb.chain.isSegwit(b.Height)); fault != compactFine {
		return nil
	}
	return raw
}

// isAskedOutbound reports whether an outbound peer was asked for a block.
func (cb *compactBlocks) isAskedOutbound(hash chainhash.Hash) bool {
	return slices.ContainsFunc(cb.requests.requestsOf(hash), func(f *blockRequest) bool { return !f.peer.isInbound() })
}

// blockTxs takes the transactions that a compact block lacked.
func (s *Sync) blockTxs(c actor.Context, p *peer, m *codec.BlockTxn, handled func()) (pending bool) {
	if !s.chain.imported {
		s.log.debugf("Unexpected blocktxn message received from peer %d", p.info.ID)
		return false
	}
	b, raw := s.compact.missing(p, m)
	return s.takeCompact(c, p, b, raw, handled)
}

// takeCompact takes a block that was made of a compact one; raw is nil while there is none.
func (s *Sync) takeCompact(c actor.Context, p *peer, b *chainview.Block, raw []byte, handled func()) (pending bool) {
	return raw != nil && s.take(c, p, b, arrival{raw: raw, wanted: true, compact: true, handled: handled})
}

// missing takes the transactions that a compact block lacked. raw is nil where they make
// no block.
func (cb *compactBlocks) missing(p *peer, m *codec.BlockTxn) (b *chainview.Block, raw []byte) {
	f := cb.requests.requestOf(p, m.Block)
	switch {
	case f == nil || f.partial == nil:
		cb.log.debugf("Peer %d sent us block transactions for block we weren't expecting", p.info.ID)
	case f.partial.spent:
		cb.requests.drop(f)
		p.Misbehaving("previous compact block reconstruction attempt failed")
	default:
		return f.block, cb.completed(p, f, m.Txs)
	}
	return nil, nil
}

// completed makes a block of a compact block whose missing transactions have
// come, nil if they make no block.
func (cb *compactBlocks) completed(p *peer, f *blockRequest, txs []*wire.MsgTx) []byte {
	b := f.block
	raw, fault := f.partial.complete(txs, cb.chain.isSegwit(b.Height))
	switch {
	case fault == compactFine:
		cb.requests.drop(f)
		return raw
	case fault == compactInvalid:
		cb.requests.drop(f)
		p.Misbehaving("invalid compact block/non-matching block transactions")
	case cb.requests.requestsOf(b.Hash)[0] == f:
		askFull(p, b)
	default:
		cb.requests.drop(f)
		cb.log.debugf(
			"Peer %d sent us a compact block but it failed to reconstruct, waiting on first download to complete",
			p.info.ID,
		)
	}
	return nil
}

// announce announces a block by a compact one. It reports false where the block
// cannot be read.
func (cb *compactBlocks) announce(p *peer, b *chainview.Block) bool {
	if cb.lastCompact == nil || cb.lastCompact.Header.BlockHash() != b.Hash {
		block, err := cb.chain.reader.Block(&b.Hash)
		if err != nil || len(block.Transactions) == 0 {
			return false
		}
		cb.lastCompact = codec.NewCmpctBlock(block, b.Payload())
	}
	cb.log.debugf("SendMessages sending header-and-ids %v to peer=%d", b.Hash, p.info.ID)
	p.Send(cb.lastCompact)
	return true
}

// choose asks a peer that gave a new block to announce compact blocks at
// once, and the one to stop that did so longest ago.
func (cb *compactBlocks) choose(p *peer) {
	if !p.speaksCompact || cb.cfg.BlocksOnly {
		return
	}
	if i := slices.Index(cb.highBandwidth, p); i >= 0 {
		cb.highBandwidth = append(slices.Delete(cb.highBandwidth, i, i+1), p)
		return
	}
	if len(cb.highBandwidth) >= compactPeers {
		cb.keepOutbound(p)
		last := cb.highBandwidth[0]
		last.highBandwidth = false
		last.Send(&codec.SendCmpct{Version: codec.CmpctVersion})
		cb.highBandwidth = slices.Delete(cb.highBandwidth, 0, 1)
	}
	p.highBandwidth = true
	p.Send(&codec.SendCmpct{HighBandwidth: true, Version: codec.CmpctVersion})
	cb.highBandwidth = append(cb.highBandwidth, p)
}

// keepOutbound sees to it that an inbound peer does not take the place of the only
// outbound one.
func (cb *compactBlocks) keepOutbound(p *peer) {
	outbound := 0
	for _, o := range cb.highBandwidth {
		outbound += digit(!o.isInbound())
	}
	if p.isInbound() && outbound == 1 && !cb.highBandwidth[0].isInbound() {
		cb.highBandwidth[0], cb.highBandwidth[1] = cb.highBandwidth[1], cb.highBandwidth[0]
	}
}
