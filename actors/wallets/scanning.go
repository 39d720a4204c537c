package wallets

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// catchUp rescans what a wallet that is being loaded has missed.
func (w *Wallet) catchUp(c actor.Context, plan catchUp) {
	corelog.Printf(w.cfg.Log, infoLevel, "[%s] Rescanning last %d blocks (from block %d)...",
		w.label(), plan.tip.Height-plan.from, plan.from)
	r := &rescan{from: plan.from, loading: true, done: func(res result) {
		if res.aborted || res.failed != nil {
			reason := errRescan
			if res.failed != nil && isPruned(res.failed) {
				reason = errPruned
			}
			w.refuse(c, reason)
			return
		}
		w.ledger.Txs().SaveBestBlock(locatorOf(plan.tip))
		w.save(c, func(err error) {
			if err == nil || w.isAttached() && w.fault.present() {
				w.attach(c)
			}
		})
	}}
	w.rescans.start(c, r)
	w.onAbort(r.cancel)
}

// rescanEnded passes on how a rescan went. After a rescan up to the tip that a
// client asked for, the pool is scanned first.
func (w *Wallet) rescanEnded(c actor.Context, r *rescan, res result) {
	if !r.loading {
		w.saveAt(c)
	}
	w.unlocker.lockLate(c)
	if r.loading || r.stop != nil {
		r.done(res)
		return
	}
	w.pool.scan(c, func() { r.done(res) })
}

// A scanView is a wallet as its rescans see it.
type scanView struct{ *Wallet }

// scripts implements scanned.
func (w scanView) scripts() [][]byte { return w.ledger.Keys().Scripts() }

// scan implements scanned.
func (w scanView) scan(b *txs.Block) { w.publisher.again(w.ledger.Txs().ScanBlock(b, w.cfg.now())) }

// saveScan implements scanned.
func (w scanView) saveScan(c actor.Context, position bool) {
	if position {
		w.saveAt(c)
		return
	}
	w.save(c, nil)
}

// awaitKeys implements scanned.
func (w scanView) awaitKeys(c actor.Context, then func()) bool {
	if !w.keygen.needsKeys() {
		return false
	}
	w.save(c, nil)
	w.keygen.after(c, then)
	return true
}

// usesKeys reports whether descriptors are being imported, or a rescan is running
// that tops up the key pool.
func (w *Wallet) usesKeys() bool {
	return w.imports.running() || w.rescans.running() && w.rescans.now.private
}

// An importView is a wallet as imports see it.
type importView struct{ *Wallet }

// importTimes are the times of the last block that the wallet has seen.
func (w importView) importTimes() keys.ImportTimes {
	tip := w.at(w.cfg.Chain.Open())
	return keys.ImportTimes{Tip: tip.Time().Unix(), Median: tip.MedianTimePast()}
}

// position is the locator of the last block that the wallet has seen
// completely. During a rescan this is the block before the rescan's frontier:
// if the process ends, the next load continues from there.
func (w *Wallet) position() walletfile.Locator {
	reader := w.cfg.Chain.Open()
	if reader == nil {
		return w.ledger.Txs().BestBlock()
	}
	tip := w.ledger.Txs().Tip()
	block := reader.Lookup(&tip.Hash)
	if block == nil {
		return w.ledger.Txs().BestBlock()
	}
	if w.again != nil {
		block = block.Parent
	}
	if w.rescans.running() {
		block = block.Ancestor(min(w.rescans.now.frontier()-1, block.Height))
	}
	return locatorOf(block)
}
