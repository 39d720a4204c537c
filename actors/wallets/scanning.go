package wallets

import (
	"cmp"
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// A scan is a rescan, or an import with its rescan, until it is answered. Meanwhile there is no other, and
// the wallet is not locked. A job carries it out; the actor reads these fields, so the job writes them in
// the actor.
type scan struct {
	w      *Wallet
	c      actor.Context
	began  time.Time
	ctx    context.Context //nolint:containedctx // ends with an abort
	cancel context.CancelFunc

	rescan *rescan  // nil: it has not begun, or is over
	over   bool     // the rescan is over
	adding bool     // descriptors are being added
	listed []func() // to be called when they are there
}

// result is how a rescan ended.
type result struct {
	last    *int32           // height of the last block that was looked at
	failed  *chainview.Block // the last block that could not be read; nil: none
	away    bool             // for the node that has it does not answer
	aborted bool
}

// beginScan begins a scan; there must be none.
func (w *Wallet) beginScan(c actor.Context) *scan {
	w.scan = &scan{w: w, c: c, began: time.Now()}
	w.scan.ctx, w.scan.cancel = context.WithCancel(context.Background())
	return w.scan
}

// endScan ends the scan, and locks the wallet if its time has ended meanwhile.
func (w *Wallet) endScan(c actor.Context) {
	w.scan.cancel()
	w.scan = nil
	w.lockLate(c)
}

// answerScan has a job carry a scan out. It answers a call when what was found is on disk.
func answerScan[Q messages.Request[R], R any](s *scan, call *ask.Call[Q, R], do func(j *ask.Job) (R, error)) {
	s.w.lanes.scans.Add(s.c, func(j *ask.Job) {
		got, err := do(j)
		_ = s.w.do(j, func() { // else the actor's end answers
			s.w.save(s.c, func(failed error) {
				s.w.endScan(s.c)
				call.Answer(got, cmp.Or(failed, err))
			})
		})
	})
}

// abort ends a scan early. It reports false where there is none, or it was aborted before.
func (s *scan) abort() bool {
	if s == nil || s.ctx.Err() != nil {
		return false
	}
	s.cancel()
	return true
}

// progress is the part of the rescan that is done, 0 to 1.
func (s *scan) progress() float64 {
	switch {
	case s.over:
		return 1
	case s.rescan == nil:
		return 0
	}
	return s.rescan.progress()
}

// begin begins a rescan.
func (s *scan) begin(r *rescan) {
	r.scan, r.next, r.saved, r.scripts = s, r.from, time.Now(), len(s.w.scripts())
	r.pass = passes{began: r.scripts, reached: r.from - 1}
	s.rescan = r
	variant := "slow variant inspecting all blocks"
	if s.w.cfg.Scheduler != nil {
		variant = "fast variant using block filters"
	}
	reader := s.w.cfg.Chain.Open()
	if b := reader.Active().At(r.from); b != nil {
		s.w.logf("Rescan started from block %v... (%s)", b.Hash, variant)
	}
	if !r.loading {
		s.w.saveAt(s.c)
	}
}

// look carries out the rescan that has begun. After a rescan up to the tip that a client asked for, the
// pool is scanned.
func (s *scan) look(j *ask.Job) (res result, err error) {
	r, began := s.rescan, time.Now()
	_ = j.Until(s.ctx, r.windows) // it ends early with an abort, or with the actor
	toTip := r.stop == nil && !r.loading
	err = s.w.do(j, func() {
		if toTip {
			s.w.logf("Scanning current mempool transactions.")
		}
		res = result{failed: r.failed, away: r.away, aborted: s.ctx.Err() != nil}
		if res.aborted {
			s.w.logf("Rescan aborted at block %d. Progress=%f", r.next, r.progress())
		} else {
			s.w.logf("Rescan completed in %15dms", time.Since(began).Milliseconds())
		}
		if last := max(r.next-1, r.pass.reached); last >= r.from {
			res.last = &last
		}
		s.rescan, s.over = nil, true
		if !r.loading {
			s.w.saveAt(s.c)
		}
	})
	if err == nil && toTip {
		err = s.w.await(j, func(then func(error)) { s.w.pool.scan(s.c, func() { then(nil) }) })
	}
	return res, err
}

// lookFrom rescans the blocks from a time on, with timestampWindow as a margin. It returns the last block that could
// not be read, nil if there is none. An abort is an error.
func (s *scan) lookFrom(j *ask.Job, from int64) (failed *chainview.Block, err error) {
	err = s.w.do(j, func() {
		tip := s.w.ledger.Txs().Tip().Height
		first, found := firstSince(s.w.cfg.Chain.Open().Active(), 0, from-timestampWindow)
		if !found || first > tip {
			s.w.logf("RescanFromTime: Rescanning last 0 blocks")
			return
		}
		s.w.logf("RescanFromTime: Rescanning last %d blocks", tip-first+1)
		s.begin(&rescan{from: first})
	})
	if err != nil || s.rescan == nil {
		return nil, err
	}
	res, err := s.look(j)
	if err == nil && res.aborted {
		err = errAborted
	}
	return res.failed, err
}

// catchUp rescans what a wallet that is being loaded has missed. Its error is why the wallet cannot be loaded.
func (w *Wallet) catchUp(j *ask.Job, c actor.Context, plan catchUp) error {
	var s *scan
	err := w.do(j, func() {
		w.logf("Rescanning last %d blocks (from block %d)...", plan.tip.Height-plan.from, plan.from)
		s = w.beginScan(c)
		s.begin(&rescan{from: plan.from, loading: true})
		w.onAbort(s.cancel)
	})
	if err != nil {
		return err
	}
	res, err := s.look(j)
	if err != nil {
		return err
	}
	return w.await(j, func(then func(error)) {
		w.endScan(c)
		switch {
		case res.failed != nil && isPruned(res.failed):
			then(errPruned)
		case res.failed != nil || res.aborted:
			then(errRescan)
		default:
			w.ledger.Txs().SaveBestBlock(locatorOf(plan.tip))
			w.save(c, func(err error) {
				if w.isAttached() && w.fault.present() {
					err = nil
				}
				then(err)
			})
		}
	})
}

// scripts are all scripts of the wallet, those derived later behind the others.
func (w *Wallet) scripts() [][]byte { return w.ledger.Keys().Scripts() }

// usesKeys reports whether descriptors are being imported, or a rescan is running
// that tops up the key pool.
func (w *Wallet) usesKeys() bool { return w.scan != nil }

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
	if w.scan != nil && w.scan.rescan != nil {
		block = block.Ancestor(min(w.scan.rescan.frontier()-1, block.Height))
	}
	return locatorOf(block)
}
