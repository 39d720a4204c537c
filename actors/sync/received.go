package sync

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// received takes a message of a peer, in its turn.
func (s *Sync) received(c actor.Context, m peerhandle.Received) {
	p := s.peers.byID(m.Peer.Info().ID)
	switch {
	case p == nil:
		m.Handled()
	case p.busy || len(p.waiting) > 0 || s.mustWait(m):
		p.waiting = append(p.waiting, m)
	default:
		s.message(c, p, m)
	}
}

// mustWait reports whether a message waits until the chain has looked at another
// peer's headers. They stand in the tree before that peer was asked for their blocks:
// who only mentions them must not be asked first. Blocks themselves need not wait.
func (s *Sync) mustWait(m peerhandle.Received) bool {
	if s.headersInFlight == 0 {
		return false
	}
	switch m.Message.Message.(type) {
	case *wire.MsgBlock, *codec.Block, *wire.MsgPing:
		return false
	default:
		return true
	}
}

// message handles a message. Where that takes longer, the peer is busy until done.
func (s *Sync) message(c actor.Context, p *peer, m peerhandle.Received) {
	pending := false
	switch msg := m.Message.Message.(type) {
	case *wire.MsgSendHeaders:
		p.wantsHeaders = true
	case *codec.SendCmpct:
		switch {
		case msg.Odd && s.cfg.Network.Traffic.StrictCompact:
			p.Misbehaving("invalid sendcmpct announce field")
		case msg.Version == codec.CmpctVersion:
			p.speaksCompact, p.wantsCompact = true, msg.HighBandwidth
		}
	case *wire.MsgInv:
		s.inventory(p, msg)
	case *wire.MsgNotFound:
		s.fetches.notFound(p, msg)
		s.download.notFound(p, msg)
	case *wire.MsgPing:
		pending = s.download.buffer.after(p.info.ID, m.Handled)
	case *codec.Headers:
		pending = s.headersReceived(c, p, parseHeaders(msg), m.Handled)
	case *codec.CmpctBlock:
		pending = s.compactReceived(c, p, msg, m.Handled)
	case *codec.BlockTxn:
		pending = s.blockTxs(c, p, msg, m.Handled)
	case *codec.Block:
		pending = s.block(c, p, msg.Raw, m.Handled)
	case *wire.MsgBlock:
		pending = s.block(c, p, blockBytes(m.Message.Payload, msg.SerializeSize()), m.Handled)
	}
	if !pending {
		m.Handled()
	}
}

// blockBytes returns the bytes of a block without any that follow it.
func blockBytes(payload []byte, size int) []byte { return payload[:min(len(payload), size)] }

// done ends the wait for what a peer sent, and handles what it sent after it.
func (s *Sync) done(c actor.Context, p *peer, handled func()) {
	handled()
	p.busy = false
	s.resume(c)
}

// resume handles what has waited.
func (s *Sync) resume(c actor.Context) {
	for _, p := range slices.Clone(s.peers.list) {
		for len(p.waiting) > 0 && !p.busy && !s.mustWait(p.waiting[0]) {
			m := p.waiting[0]
			p.waiting = p.waiting[1:]
			s.message(c, p, m)
		}
	}
}

// inventory looks at the blocks that a peer announces. Headers of them are asked
// for: the last one is the highest.
func (s *Sync) inventory(p *peer, m *wire.MsgInv) {
	if !s.chain.imported {
		return
	}
	var last *chainhash.Hash
	for _, v := range m.InvList {
		if v.Type != wire.InvTypeBlock && v.Type != wire.InvTypeWitnessBlock {
			continue
		}
		known := s.chain.reader.Lookup(&v.Hash)
		have := known != nil
		s.log.debugf("got inv: block %v  %s peer=%d", v.Hash, haveOrNew(have), p.info.ID)
		s.chain.learn(p, v.Hash)
		if !have && len(s.download.inFlight[v.Hash]) == 0 {
			last = &v.Hash
		}
	}
	if last == nil || !p.syncing && (p.invAsked || *last == s.headers.lastInv) {
		return
	}
	if s.headers.ask(p, s.chain.best) {
		s.log.debugf("getheaders (%d) %v to peer=%d", s.chain.best.Height, last, p.info.ID)
	} else {
		p.invWaits = true
	}
	if !p.syncing {
		p.invAsked = true
		s.headers.lastInv = *last
	}
}

func haveOrNew(have bool) string {
	if have {
		return "have"
	}
	return "new"
}
