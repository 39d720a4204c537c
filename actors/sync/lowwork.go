package sync

import (
	"math/big"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/headersync"
)

// isLowWork reports whether headers are too little work to be kept. Where there
// may be more behind them, a sync begins that finds out how much.
func (h *headersSync) isLowWork(p *peer, start *chainview.Block, list []header, full bool) bool {
	total := new(big.Int).Set(start.Work())
	for i := range list {
		total.Add(total, consensus.TargetWork(list[i].Bits))
	}
	least := h.chain.leastWork()
	if total.Cmp(least) >= 0 {
		return false
	}
	if !full {
		h.log.debugf("Ignoring low-work chain (height=%d) from peer=%d", int(start.Height)+len(list), p.info.ID)
		return true
	}
	p.presyncStart = start
	net := h.cfg.Network
	p.presync = headersync.New(net.Params, headersync.Lengths(net.HeaderSync), headersync.Start{
		Hash: start.Hash, Height: start.Height, Bits: start.Bits(), Work: start.Work(),
		Time: time.Unix(start.MedianTimePast(), 0),
	}, least, h.cfg.Now())
	h.log.debugf("Initial headers sync started with peer=%d: height=%d, max_commitments=%d, min_work=%064x",
		p.info.ID, start.Height, p.presync.Limit(), least)
	h.continueLowWork(p, list, full)
	return true
}

// continueLowWork hands headers to the sync of low work, if there is one. It
// returns those that may be kept, and whether their work is proven.
func (h *headersSync) continueLowWork(p *peer, list []header, full bool) (pass []header, proven bool) {
	if p.presync == nil {
		return list, false
	}
	sync := p.presync
	pass, more, ok := sync.Next(list, full)
	if sync.Over() {
		p.presync = nil
	}
	if !ok {
		h.log.debugf("Initial headers sync aborted with peer=%d", p.info.ID)
		return list, false
	}
	p.asked = time.Time{}
	if more {
		last := sync.Last()
		h.askLocated(p, append([]*chainhash.Hash{&last}, locator(p.presyncStart)...))
		h.log.debugf("more getheaders (from %v) to peer=%d", last, p.info.ID)
	}
	h.logPresync(sync)
	return pass, true
}

// logPresync logs how far the first reading of a chain has come.
func (h *headersSync) logPresync(sync *headersync.State) {
	height, at, ok := sync.Progress()
	now := h.cfg.Now()
	if !ok || now.Sub(h.progressLogged) < 250*time.Millisecond && !h.progressLogged.IsZero() {
		return
	}
	h.progressLogged = now
	left := float64(now.Sub(at)) / float64(h.cfg.Network.Params.TargetTimePerBlock)
	h.log.printf("Pre-synchronizing blockheaders, height: %d (~%.2f%%)", height, 100*float64(height)/(float64(height)+
		max(left, 0)))
}
