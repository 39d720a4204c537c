package sync

import (
	"bytes"
	"errors"
	"math/big"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// keepBlocks is how far ahead of the tip a block may be that nobody asked for
// (Core: MIN_BLOCKS_TO_KEEP).
const keepBlocks = 288

// blocksAnswer is what the chain says of blocks.
type blocksAnswer struct {
	submitted []*pendingBlock
	got       nodemsg.AcceptedBlocks
	err       error
}

// block handles a block of a peer, and reports whether that goes on.
func (s *Sync) block(c actor.Context, p *peer, raw []byte, handled func()) (pending bool) {
	if !s.chain.imported {
		s.log.debugf("Unexpected block message received from peer %d", p.info.ID)
		return false
	}
	if len(raw) < wire.MaxBlockHeaderPayload {
		return false // the session would not have it
	}
	hash := chainhash.DoubleHashH(raw[:wire.MaxBlockHeaderPayload])
	s.log.debugf("received block %v peer=%d", hash, p.info.ID)
	if f := s.download.requestOf(p, hash); f != nil && f.recovers {
		s.download.drop(f)
		s.restore(c, p, hash, arrival{raw: raw, recovers: true, handled: handled})
		return true
	}
	a := arrival{
		raw: raw, wanted: len(s.download.inFlight[hash]) > 0, storeUnlinked: s.download.asked[hash], handled: handled,
	}
	s.download.dropOf(p, hash)
	if s.fetches.received(p, hash, raw) && !a.wanted {
		return false
	}
	if known := s.chain.reader.Lookup(&hash); known != nil && !known.Status().Invalid() {
		return s.take(c, p, known, a)
	}
	var h wire.BlockHeader
	_ = h.Deserialize(bytes.NewReader(raw)) // so many bytes are there
	end := s.cfg.Network.HeaderLen(raw)
	if end < 0 || end > len(raw) {
		return false
	}
	parent := s.chain.reader.Lookup(&h.PrevBlock)
	if parent != nil && !a.wanted {
		work := new(big.Int).Add(parent.Work(), consensus.TargetWork(h.Bits))
		if work.Cmp(s.chain.leastWork()) < 0 {
			s.log.validationf(
				"AcceptBlockHeader: not adding new block header %v, missing anti-dos proof-of-work validation", hash,
			)
			return false
		}
	}
	s.accept(c, p, headersAnswer{
		peer: p.info.ID, list: []header{{BlockHeader: h, Hash: hash, Raw: raw[:end]}}, handled: handled,
		then: func(c actor.Context, p *peer) bool {
			return s.take(c, p, s.chain.reader.Lookup(&hash), a)
		},
	})
	return true
}

// An arrival is a block as it came.
type arrival struct {
	raw           []byte
	wanted        bool // it was asked for
	compact       bool // it was made of a compact block
	storeUnlinked bool // it is to be stored at once
	recovers      bool // its witnesses had to come again
	handled       func()
}

// take keeps a block whose header is known, if it is worth it, and hands it to the
// chain in its turn. It reports whether the peer is to wait for what becomes of the
// block: always but in the download of many.
func (s *Sync) take(c actor.Context, p *peer, b *chainview.Block, a arrival) (pending bool) {
	if b != nil && a.storeUnlinked && b.Status()&chainview.Pruned != 0 {
		s.restore(c, p, b.Hash, a)
		return true
	}
	if b == nil || s.chain.have(b) || s.download.buffer.has(&b.Hash) || b.Status().Invalid() {
		return false
	}
	if !a.wanted {
		if b.Status()&chainview.Pruned != 0 {
			return false
		}
		tip := s.chain.reader.Active().Tip()
		if b.CompareWork(tip) < 0 {
			s.chain.publishStale(b)
			return false
		}
		// Core has connected all that came before: what is on its way counts as connected.
		ahead := b.Height > tip.Height+keepBlocks && !s.download.buffer.isOnItsWay(&b.Parent.Hash)
		if ahead || b.Work().Cmp(s.cfg.MinimumWork) < 0 ||
			s.download.buffer.bytes > maxPendingBytes {
			return false
		}
	}
	// A block that is not downloaded in its order may wait long for its parent.
	h := &pendingBlock{block: b, raw: a.raw, peer: p.info.ID, compact: a.compact, storeUnlinked: a.storeUnlinked ||
		!a.wanted || s.chain.isBefore(b)}
	s.download.buffer.put(h, s.chain.have(b.Parent))
	if pending = h.ready && (!a.wanted || !s.chain.initialDownload()); pending {
		h.handled = a.handled
	}
	s.submit(c)
	return pending
}

// publishStale publishes a block that came too late to be of use.
func (cs *chainState) publishStale(b *chainview.Block) {
	if cs.cfg.Stale != nil && !cs.initialDownload() {
		cs.cfg.Stale.Publish(nodemsg.StaleBlock{Hash: b.Hash, Height: b.Height})
	}
}

// restore makes the chain store a block again that was pruned, as a user asked, or that has lost its witnesses.
func (s *Sync) restore(c actor.Context, p *peer, hash chainhash.Hash, a arrival) {
	id := p.info.ID
	then := func(_ messages.Done, err error) any { return restored{hash, id, a.handled, err} }
	if a.recovers {
		s.download.recovery.given = &hash
		ask.Then(s.ctx, c, s.cfg.Chain, nodemsg.RecoverWitnesses{Raw: a.raw}, then)
		return
	}
	ask.Then(s.ctx, c, s.cfg.Chain, nodemsg.RestoreBlock{Raw: a.raw}, then)
}

// restored is what the chain says of such a block.
type restored struct {
	hash    chainhash.Hash
	peer    int64
	handled func()
	err     error
}

func (s *Sync) restored(m restored) {
	wanted := chainview.WitnessesOf(s.chain.reader).Wanted
	s.download.recovery.answered(m.hash, m.err, wanted != nil && wanted.Hash == m.hash, s.cfg.Now())
	if p := s.peers.byID(m.peer); p != nil && m.err != nil {
		p.recoverAfter = s.cfg.Now().Add(recoverAgain)
		punish(p, m.err, false, "mutated block")
	}
	m.handled()
}

// submit hands blocks to the chain.
func (s *Sync) submit(c actor.Context) {
	next := s.download.buffer.next()
	if len(next) == 0 {
		return
	}
	raw := make([][]byte, len(next))
	for i, h := range next {
		raw[i] = h.raw
	}
	ask.Then(s.ctx, c, s.cfg.Chain, nodemsg.AcceptBlocks{Raw: raw}, func(got nodemsg.AcceptedBlocks, err error) any {
		return blocksAnswer{next, got, err}
	})
}

// blocksAccepted goes on after the chain has looked at blocks.
func (s *Sync) blocksAccepted(c actor.Context, a blocksAnswer) {
	if len(s.download.buffer.submitted) == 0 || s.download.buffer.submitted[0] != a.submitted[0] {
		return // of a chain that was reopened since
	}
	s.download.buffer.done()
	for i, h := range a.submitted {
		var reject *messages.RejectError
		switch {
		case a.err != nil:
			s.download.buffer.refused(h) // the chain failed, and its actor tells why
		case a.got.Refused[i] == nil:
			s.connected(s.peers.byID(h.peer), h)
		case errors.As(a.got.Refused[i], &reject):
			s.refused(s.peers.byID(h.peer), h, reject)
		}
	}
	s.refusedLate(a.got.Late)
	for _, h := range a.submitted {
		h.resumePeer()
	}
	s.submit(c)
}

// A giver is who sent a block that was taken and is not connected yet.
type giver struct {
	peer    int64
	compact bool
}

// maxGivers bounds the givers that are remembered.
const maxGivers = 4096

// rememberGiver notes who gave a block that may prove to break a rule later.
func (s *Sync) rememberGiver(h *pendingBlock) {
	if h.block.Status()&chainview.Valid != 0 {
		return
	}
	if len(s.givers) >= maxGivers {
		clear(s.givers)
	}
	s.givers[h.block.Hash] = giver{h.peer, h.compact}
}

// refusedLate leaves the peers that sent blocks which proved to be wrong.
func (s *Sync) refusedLate(late []nodemsg.LateRefusal) {
	for _, l := range late {
		s.chain.findBest()
		from, ok := s.givers[l.Hash]
		delete(s.givers, l.Hash)
		if p := s.peers.byID(from.peer); ok && p != nil {
			punish(p, l.Reason, from.compact, l.Reason.Error())
		}
	}
}

// connected notes that a block was right.
func (s *Sync) connected(p *peer, h *pendingBlock) {
	s.rememberGiver(h)
	s.download.received(h.block.Hash)
	if p == nil {
		return
	}
	p.lastBlock = s.cfg.Now()
	if !s.chain.initialDownload() && len(s.download.inFlight) == 0 && h.block.Status()&chainview.Valid != 0 {
		s.compact.choose(p)
	}
}

// refused leaves the peer that sent a wrong block, and what builds on it.
func (s *Sync) refused(p *peer, h *pendingBlock, reject *messages.RejectError) {
	s.download.buffer.refused(h)
	s.chain.findBest()
	if reject.Reason == noParent {
		return // it went with its parent
	}
	if p == nil {
		return
	}
	text := reject.Error()
	if isMutated(reject.Reason) {
		s.log.validationf("Block mutated: %v", reject)
		s.log.debugf("Received mutated block from peer=%d", p.info.ID)
		text = "mutated block"
	}
	punish(p, reject, h.compact, text)
}
