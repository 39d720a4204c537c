package sync

import (
	"bytes"
	"errors"
	"log/slog"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/headersync"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/messages"
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

// A headersSync learns the headers that the peers have, and leaves peers that have
// too few headers.
type headersSync struct {
	cfg   *Config
	log   logger
	chain *chainState
	peers *peerSet

	syncing        int            // peers whose headers are asked for
	protected      int            // peers that are not left for a chain behind ours
	lastInv        chainhash.Hash // whose headers were asked for last
	progressLogged time.Time      // when a sync of low work was logged
}

// forget forgets a peer that has left.
func (h *headersSync) forget(p *peer) {
	if p.syncing && !p.headersStopped {
		h.syncing--
	}
	if p.chain.protected {
		h.protected--
	}
}

// received takes headers of a peer. It reports false where none of them are for the chain.
func (h *headersSync) received(p *peer, list []header) (a headersAnswer, ok bool) {
	if len(list) == 0 {
		p.asked = time.Time{}
		p.presync = nil
		if p.emptySince.IsZero() {
			p.emptySince = h.cfg.Now()
		}
		return a, false
	}
	p.emptySince = time.Time{}
	if reason := h.check(list); reason != "" {
		p.Misbehaving(reason)
		return a, false
	}
	a = headersAnswer{peer: p.info.ID, full: len(list) == codec.MaxHeaders}
	list, proven := h.continueLowWork(p, list, a.full)
	if len(list) == 0 {
		return a, false
	}
	a.synced = p.presync != nil
	start := h.chain.reader.Lookup(&list[0].PrevBlock)
	if start == nil {
		h.unconnected(p, list)
		return a, false
	}
	p.asked = time.Time{}
	last := h.chain.reader.Lookup(&list[len(list)-1].Hash)
	a.isNew = last == nil
	proven = proven || p.info.Permissions.NoBan || last != nil && h.chain.isOnBest(last)
	if !proven && h.isLowWork(p, start, list, a.full) {
		return a, false
	}
	a.list = list
	return a, true
}

// start begins to sync headers with a peer: with one, until the best header
// is recent.
func (h *headersSync) start(p *peer, from bool) {
	if p.syncing || !p.servesBlocks() {
		return
	}
	if (h.syncing > 0 || !from) && h.chain.age(h.chain.best) >= recentHeaders {
		return
	}
	h.chain.findBest() // headers come from elsewhere too
	start := h.chain.best
	if start.Parent != nil {
		start = start.Parent // so that the answer is not empty
	}
	if !h.ask(p, start) {
		return
	}
	h.log.debugf(
		"initial getheaders (%d) to peer=%d (startheight:%d)", start.Height, p.info.ID,
		p.info.Remote.Version.StartHeight,
	)
	p.syncing = true
	h.syncing++
	spacing := h.cfg.Network.Params.TargetTimePerBlock
	headers := int64(h.chain.age(h.chain.best) / spacing)
	p.headersBy = h.cfg.Now().Add(headersTimeout + time.Duration(headers)*perHeader)
}

// stopHeadersSync lets another peer be asked for headers where this one has had none that are
// new for a while. Core goes on to wait for it, a quarter of an hour at least.
func (h *headersSync) stopHeadersSync(p *peer) {
	since, within := p.emptySince, h.cfg.Network.Traffic.HeadersWithin
	if p.syncing && !p.headersStopped && !since.IsZero() && h.cfg.Now().Sub(since) > within &&
		h.chain.age(h.chain.best) >= recentHeaders {
		p.headersStopped, p.headersBy = true, time.Time{}
		h.syncing--
	}
}

// check returns what is wrong with headers that no honest peer sends.
func (h *headersSync) check(list []header) string {
	for i := range list {
		if !h.cfg.Network.Proves(list[i].Raw) {
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

// unconnected asks a peer for the headers between ours and its list, which may be
// an announcement.
func (h *headersSync) unconnected(p *peer, list []header) {
	if h.ask(p, h.chain.best) {
		h.log.debugf("received header %v: missing prev block %v, sending getheaders (%d) to end (peer=%d)",
			list[0].Hash, list[0].PrevBlock, h.chain.best.Height, p.info.ID)
	}
	h.chain.learn(p, list[len(list)-1].Hash)
}

// logNew logs a header that was not known, with the word for how it came. The
// times at which peers have a header show which nodes hold blocks back. In the
// initial download the line is an everyday matter, and is logged for debugging
// only.
func (h *headersSync) logNew(p *peer, b *chainview.Block, how string) {
	log, level := h.cfg.Log, slog.LevelInfo
	if h.chain.initialDownload() {
		log, level = log.With(slog.String(corelog.CategoryKey, "validation")), slog.LevelDebug
	}
	corelog.Printf(log, level, "Saw new %sheader hash=%v height=%d %s", how, b.Hash, b.Height, p2p.PeerName(
		p.info.ID, p.info.LogAddr,
	))
}

// logRefused logs which header was refused, and why.
func (h *headersSync) logRefused(p *peer, a *headersAnswer) {
	var reject *messages.RejectError
	if !errors.As(a.err, &reject) {
		return
	}
	if kind(reject.Reason) == cached && !p.isInbound() && a.then == nil {
		corelog.Printf(h.cfg.Log, slog.LevelWarn, "block %v was previously marked invalid (received from peer=%d). "+
			"If this happens with all peers, consider database corruption (that -reindex may fix) or a potential "+
			"consensus incompatibility.", h.invalid(a), p.info.ID)
	}
	for i := range a.list {
		if hash := &a.list[i].Hash; h.chain.reader.Lookup(hash) == nil {
			h.log.validationf("AcceptBlockHeader: Consensus::ContextualCheckBlockHeader: %v, %v", hash, reject)
			return
		}
	}
}

// invalid returns the first of the headers that is known to be invalid.
func (h *headersSync) invalid(a *headersAnswer) chainhash.Hash {
	for i := range a.list {
		if b := h.chain.reader.Lookup(&a.list[i].Hash); b != nil && b.Status().Invalid() {
			return b.Hash
		}
	}
	return a.list[len(a.list)-1].Hash
}

// refusalText is what is said of a peer whose header is refused.
func (h *headersSync) refusalText(a *headersAnswer) string {
	switch {
	case a.compact:
		return "invalid header via cmpctblock"
	case a.then != nil:
		corelog.Printf(h.cfg.Log, slog.LevelError, "ProcessNewBlock: AcceptBlock FAILED (%v)", a.err)
		return a.err.Error()
	default:
		return "invalid header received"
	}
}

// logHeaders logs how far the headers have come, while the chain is far behind.
func (h *headersSync) logHeaders(last *chainview.Block) {
	if !h.chain.initialDownload() {
		return
	}
	left := float64(h.chain.age(last)) / float64(h.cfg.Network.Params.TargetTimePerBlock)
	h.log.printf("Synchronizing blockheaders, height: %d (~%.2f%%)", last.Height,
		100*float64(last.Height)/(float64(last.Height)+max(left, 0)))
}

// ask asks a peer for the headers after a block, unless it was asked lately
// and has not answered.
func (h *headersSync) ask(p *peer, from *chainview.Block) bool {
	return h.askLocated(p, locator(from))
}

// askForInv asks for the headers of a block that a peer has announced while it was asked
// for others: those that came may be from before the announcement.
func (h *headersSync) askForInv(p *peer) {
	if p.unknown == nil || h.chain.reader.Lookup(p.unknown) != nil {
		p.invWaits = false
	}
	if p.invWaits && h.ask(p, h.chain.best) {
		h.log.debugf("getheaders (%d) %v to peer=%d", h.chain.best.Height, p.unknown, p.info.ID)
		p.invWaits = false
	}
}

func (h *headersSync) askLocated(p *peer, locator []*chainhash.Hash) bool {
	now := h.cfg.Now()
	if !p.asked.IsZero() && now.Sub(p.asked) <= h.cfg.Network.Traffic.HeadersWithin {
		return false
	}
	p.asked = now
	p.Send(&wire.MsgGetHeaders{ProtocolVersion: uint32(h.cfg.Network.ProtocolVersion), BlockLocatorHashes: locator})
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
