package sync

import (
	"bytes"
	"errors"
	"log/slog"
	"math/big"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/target"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/headersync"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/messages"
)

const (
	// headersWithin is how long a peer may take to answer getheaders before it is
	// asked again (Core: HEADERS_RESPONSE_TIME).
	headersWithin = 2 * time.Minute

	// nearTip is how many blocks a chain may leave ours before our tip and still
	// be taken in whatever its work.
	nearTip = 144
)

type header = headersync.Header

func parseHeaders(m *codec.Headers) []header {
	list := make([]header, len(m.List))
	for i := range m.List {
		list[i] = newHeader(&m.List[i], m.Payload(i))
	}
	return list
}

func newHeader(h *wire.BlockHeader, payload []byte) header {
	raw := bytes.NewBuffer(make([]byte, 0, wire.MaxBlockHeaderPayload+len(payload)))
	_ = h.Serialize(raw) // to memory
	hash := chainhash.DoubleHashH(raw.Bytes())
	raw.Write(payload)
	return header{BlockHeader: *h, Hash: hash, Raw: raw.Bytes()}
}

// headersAnswer is what the chain says of headers.
type headersAnswer struct {
	to    *Sync // who asked: an actor that was restarted may hear of it
	peer  int64
	list  []header
	full  bool // the peer may have more
	isNew bool // the last one was not known
	// they come from a sync of low work, which asks for the next itself
	synced  bool
	compact bool                                      // they come with a compact block
	then    func(actor.Context, *peer) (pending bool) // nil: as headers
	handled func()
	err     error
}

// headers handles headers of a peer, and reports whether that goes on.
func (s *Sync) headers(c actor.Context, p *peer, list []header, handled func()) (pending bool) {
	if !s.imported {
		s.debugf("Unexpected headers message received from peer %d", p.info.ID)
		return false
	}
	if len(list) == 0 {
		p.asked = time.Time{}
		p.presync = nil
		if p.emptySince.IsZero() {
			p.emptySince = s.cfg.Now()
		}
		return false
	}
	p.emptySince = time.Time{}
	if reason := s.checkHeaders(list); reason != "" {
		p.Misbehaving(reason)
		return false
	}
	a := headersAnswer{peer: p.info.ID, full: len(list) == codec.MaxHeaders, handled: handled}
	list, proven := s.continueLowWork(p, list, a.full)
	if len(list) == 0 {
		return false
	}
	a.synced = p.presync != nil
	start := s.reader.Lookup(&list[0].PrevBlock)
	if start == nil {
		s.unconnected(p, list)
		return false
	}
	p.asked = time.Time{}
	last := s.reader.Lookup(&list[len(list)-1].Hash)
	a.isNew = last == nil
	proven = proven || p.info.Permissions.NoBan || last != nil && s.isOnBest(last)
	if !proven && s.isLowWork(p, start, list, a.full) {
		return false
	}
	a.list = list
	s.accept(c, p, a)
	return true
}

// stopHeadersSync lets another peer be asked for headers where this one has had none that are
// new for a while. Core goes on to wait for it, a quarter of an hour at least.
func (s *Sync) stopHeadersSync(p *peer) {
	since := p.emptySince
	if p.syncing && !p.headersStopped && !since.IsZero() && s.cfg.Now().Sub(since) > headersWithin &&
		s.age(s.best) >= DefaultMaxTipAge {
		p.headersStopped, p.headersBy = true, time.Time{}
		s.syncing--
	}
}

// checkHeaders returns what is wrong with headers that no honest peer sends.
func (s *Sync) checkHeaders(list []header) string {
	for i := range list {
		if !s.cfg.Network.Proves(list[i].Raw) {
			return "header with invalid proof of work"
		}
	}
	for i := 1; i < len(list); i++ {
		if list[i].PrevBlock != list[i-1].Hash {
			return "non-continuous headers sequence"
		}
	}
	return ""
}

// isOnBest reports whether a header is part of the best chain of headers, or of
// blocks.
func (s *Sync) isOnBest(b *chainview.Block) bool {
	return s.best.Ancestor(b.Height) == b || s.reader.Active().Contains(b)
}

// leastWork is the work that a chain must have before its headers are kept.
func (s *Sync) leastWork() *big.Int {
	tip := s.reader.Active().Tip()
	near := target.Work(tip.Header.Bits)
	near.Mul(near, big.NewInt(nearTip))
	near.Sub(tip.Work, near)
	if near.Cmp(s.cfg.MinimumWork) < 0 {
		return s.cfg.MinimumWork
	}
	return near
}

// unconnected asks for what is between our headers and those of a peer, which may
// be an announcement.
func (s *Sync) unconnected(p *peer, list []header) {
	if s.askHeaders(p, s.best) {
		s.debugf("received header %v: missing prev block %v, sending getheaders (%d) to end (peer=%d)",
			list[0].Hash, list[0].PrevBlock, s.best.Height, p.info.ID)
	}
	s.learn(p, list[len(list)-1].Hash)
}

// accept asks the chain to take headers.
func (s *Sync) accept(c actor.Context, p *peer, a headersAnswer) {
	p.busy = true
	a.to = s
	s.headersInFlight++
	raw := make([][]byte, len(a.list))
	for i := range a.list {
		raw[i] = a.list[i].Raw
	}
	ask.Then(s.ctx, c, s.cfg.Chain, nodemsg.AcceptHeaders{Headers: raw},
		func(_ nodemsg.AcceptedHeaders, err error) any {
			a.err = err
			return a
		})
}

func (s *Sync) headersAccepted(c actor.Context, a headersAnswer) {
	if a.to != s {
		a.handled()
		return
	}
	s.headersInFlight--
	s.findBest()
	p := s.peer(a.peer)
	if p == nil {
		a.handled()
		s.resume(c)
		return
	}
	last := s.reader.Lookup(&a.list[len(a.list)-1].Hash)
	switch {
	case a.err != nil:
		s.logRefused(&a)
		s.punish(p, a.err, a.compact, s.headerText(&a))
	case last == nil:
	case a.then != nil:
		if a.then(c, p) {
			a.handled = func() {} // somebody else calls it
		}
	default:
		if a.isNew {
			s.logNew(p, last, "")
		}
		s.extended(p, last, a)
	}
	s.done(c, p, a.handled)
}

// logNew logs a header that was not known, with the word for how it came: who has it
// when shows which nodes hold blocks back. It is an everyday line in the initial download.
func (s *Sync) logNew(p *peer, b *chainview.Block, how string) {
	log, level := s.cfg.Log, slog.LevelInfo
	if s.initialDownload() {
		log, level = log.With(slog.String(corelog.CategoryKey, "validation")), slog.LevelDebug
	}
	corelog.Printf(log, level, "Saw new %sheader hash=%v height=%d %s", how, b.Hash, b.Height, p2p.PeerName(
		p.info.ID, p.info.LogAddr,
	))
}

// logRefused logs which header was refused, and why.
func (s *Sync) logRefused(a *headersAnswer) {
	var reject *messages.RejectError
	if !errors.As(a.err, &reject) {
		return
	}
	for i := range a.list {
		if hash := &a.list[i].Hash; s.reader.Lookup(hash) == nil {
			corelog.Printf(s.cfg.Log.With(slog.String(corelog.CategoryKey, "validation")), slog.LevelDebug,
				"AcceptBlockHeader: Consensus::ContextualCheckBlockHeader: %v, %v", hash, reject)
			return
		}
	}
}

// headerText is what is said of a peer whose header is refused.
func (s *Sync) headerText(a *headersAnswer) string {
	switch {
	case a.compact:
		return "invalid header via cmpctblock"
	case a.then != nil:
		corelog.Printf(s.cfg.Log, slog.LevelError, "ProcessNewBlock: AcceptBlock FAILED (%v)", a.err)
		return a.err.Error()
	default:
		return "invalid header received"
	}
}

// logHeaders logs how far the headers have come, while the chain is far behind.
func (s *Sync) logHeaders(last *chainview.Block) {
	if !s.initialDownload() {
		return
	}
	left := float64(s.age(last)) / float64(s.cfg.Network.Params.TargetTimePerBlock)
	s.printf("Synchronizing blockheaders, height: %d (~%.2f%%)", last.Height,
		100*float64(last.Height)/(float64(last.Height)+max(left, 0)))
}

// extended goes on after a peer's headers were taken.
func (s *Sync) extended(p *peer, last *chainview.Block, a headersAnswer) {
	if a.full && !a.synced && s.askHeaders(p, last) {
		s.debugf(
			"more getheaders (%d) to end to peer=%d (startheight:%d)", last.Height, p.info.ID,
			p.info.Remote.Version.StartHeight,
		)
	}
	if a.isNew {
		s.logHeaders(last)
	}
	s.learn(p, last.Hash)
	tip := s.reader.Active().Tip()
	if a.isNew && last.Work.Cmp(tip.Work) > 0 {
		p.lastAnnounced = s.cfg.Now()
	}
	if s.initialDownload() && !a.full && p.best != nil && p.best.Work.Cmp(s.cfg.MinimumWork) < 0 && p.isAutomatic() {
		s.printf("outbound peer headers chain has insufficient work, %s", p.info.Disconnecting())
		p.Disconnect("headers chain has insufficient work")
		return
	}
	s.protect(p)
	s.fetchDirectly(p, last)
}

// askHeaders asks a peer for the headers after a block, unless it was asked lately
// and has not answered.
func (s *Sync) askHeaders(p *peer, from *chainview.Block) bool {
	return s.askLocated(p, locator(from))
}

func (s *Sync) askLocated(p *peer, locator []*chainhash.Hash) bool {
	now := s.cfg.Now()
	if !p.asked.IsZero() && now.Sub(p.asked) <= headersWithin {
		return false
	}
	p.asked = now
	p.Send(&wire.MsgGetHeaders{ProtocolVersion: codec.ProtocolVersion, BlockLocatorHashes: locator})
	return true
}

// locator names blocks of the chain that ends in b: the last ones, then ever fewer.
func locator(b *chainview.Block) []*chainhash.Hash {
	var hashes []*chainhash.Hash
	step := int32(1)
	for at := b; at != nil; {
		hashes = append(hashes, &at.Hash)
		if at.Height == 0 {
			break
		}
		at = at.Ancestor(max(at.Height-step, 0))
		if len(hashes) > 10 {
			step *= 2
		}
	}
	return hashes
}

// punish leaves a peer that sent what breaks a rule, where no honest peer would
// have sent it.
func (*Sync) punish(p *peer, err error, compact bool, text string) {
	var reject *messages.RejectError
	if !errors.As(err, &reject) {
		return // it was the chain that failed
	}
	switch kind(reject.Reason) {
	case harmless:
	case cached:
		if !compact && !p.isInbound() {
			p.Misbehaving(text)
		}
	case badBody:
		if !compact {
			p.Misbehaving(text)
		}
	case badHeader:
		p.Misbehaving(text)
	}
}
