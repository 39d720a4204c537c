package wallets

import (
	"cmp"
	"context"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/internal/walletfile"
)

var (
	errRescanning = codes.Errorf(codes.Wallet, "Wallet is currently rescanning. Abort existing rescan or wait.")
	errAborted    = codes.Errorf(codes.Misc, "Rescan aborted by user.")
	errGivenUp    = codes.Errorf(codes.Misc, "Rescan aborted.")
	errRescan     = codes.Errorf(
		codes.Wallet, "Wallet loading failed. Failed to rescan the wallet during initialization",
	)
)

// A scan is a rescan, or an import with its rescan, until it is answered. Meanwhile there is no other, and
// the wallet is not locked. A job carries it out; the actor reads these fields, so the job writes them in
// the actor.
type scan struct {
	w      *Wallet
	began  time.Time
	ctx    context.Context //nolint:containedctx // ends with an abort
	cancel context.CancelFunc

	reading  *reading  // nil: it has not begun, or is over
	over     bool      // the rescan is over
	adding   bool      // descriptors are being added
	checking *checking // nil: the rescan is no check
	refused  error     // why a check has ended early
}

// result is how a rescan ended.
type result struct {
	last    *int32           // height of the last block that was looked at
	failed  *chainview.Block // the last block that could not be read; nil: none
	away    bool             // for the node that has it does not answer
	aborted bool
}

func newScan(ends context.Context, w *Wallet) *scan {
	s := &scan{w: w, began: time.Now()}
	s.ctx, s.cancel = context.WithCancel(ends)
	return s
}

// beginScan begins a scan, unless there is one, or the key pool cannot be topped up, or prepare refuses it.
func (t *caller) beginScan(j *ask.Job, prepare func(*scan) error) (s *scan, err error) {
	return t.beginScanLocked(j, func(s *scan) error {
		if t.ledger.Vault().Locked() {
			return codes.ErrLocked
		}
		return prepare(s)
	})
}

// beginScanLocked is beginScan for a wallet that may be locked.
func (t *caller) beginScanLocked(j *ask.Job, prepare func(*scan) error) (s *scan, err error) {
	err = t.try(j, func() error {
		if t.scan != nil {
			return errRescanning
		}
		s = newScan(context.Background(), t.Wallet)
		t.scan = s
		err := prepare(s)
		if err != nil {
			s.cancel()
			t.scan = nil
		}
		return err
	})
	return s, err
}

// endScan ends a scan when what was found is on disk. It returns why not, else the error of the scan.
func (t *caller) endScan(j *ask.Job, err error) error {
	failed := t.saved(j)
	return cmp.Or(t.do(j, t.Wallet.endScan), failed, err)
}

// endScan ends the scan, and locks the wallet if its time has ended meanwhile.
func (w *Wallet) endScan() {
	w.scan.cancel()
	if w.scan.checking != nil {
		w.scan.checking.Close()
	}
	w.scan = nil
	w.lockLate()
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
	case s.reading == nil:
		return 0
	}
	return s.reading.progress()
}

// begin begins a rescan up to a height, nil for the tip. loading says that the wallet is being loaded.
func (s *scan) begin(from int32, stop *int32, loading bool) {
	s.reading = &reading{
		scan: s, Range: rescan.NewRange(from, stop, len(s.w.scripts())), loading: loading, saved: time.Now(),
	}
	variant := "slow variant inspecting all blocks"
	if s.w.cfg.Scheduler != nil {
		variant = "fast variant using block filters"
	}
	reader := s.w.cfg.Chain.Open()
	if b := reader.Active().At(from); b != nil {
		s.w.Logf("Rescan started from block %v... (%s)", b.Hash, variant)
	}
	if !loading {
		s.w.saveAt()
	}
}

// look carries out the rescan that has begun. After a rescan up to the tip that a client asked for, the
// pool is scanned.
func (s *scan) look(j *ask.Job) (res result, err error) {
	r, began := s.reading, time.Now()
	_ = j.Until(s.ctx, r.windows) // it ends early with an abort, or with the actor
	toTip := r.ToTip() && !r.loading
	err = s.w.do(j, func() {
		if toTip {
			s.w.Logf("Scanning current mempool transactions.")
		}
		res = result{last: r.Reached(), failed: r.failed, away: r.away, aborted: s.ctx.Err() != nil}
		if res.aborted {
			s.w.Logf("Rescan aborted at block %d. Progress=%f", r.Height(), r.progress())
		} else {
			s.w.Logf("Rescan completed in %15dms", time.Since(began).Milliseconds())
		}
		if s.checking != nil {
			s.checking.looked = r.Scripts()
		}
		s.reading, s.over = nil, true
		if !r.loading {
			s.w.saveAt()
		}
	})
	if err == nil && toTip {
		err = s.w.pool.scan(j)
	}
	return res, err
}

// lookFrom rescans the blocks from a time on, with rescan.Window as a margin. It returns the last block that could
// not be read, nil if there is none. An abort is an error.
func (s *scan) lookFrom(j *ask.Job, from int64) (failed *chainview.Block, err error) {
	err = s.w.do(j, func() {
		tip := s.w.ledger.Txs().Tip().Height
		first, found := rescan.FirstSince(s.w.cfg.Chain.Open().Active(), 0, from-rescan.Window)
		if !found || first > tip {
			s.w.Logf("RescanFromTime: Rescanning last 0 blocks")
			return
		}
		s.w.Logf("RescanFromTime: Rescanning last %d blocks", tip-first+1)
		s.begin(first, nil, false)
	})
	if err != nil || s.reading == nil {
		return nil, err
	}
	res, err := s.look(j)
	if err == nil && res.aborted {
		err = errAborted
	}
	return res.failed, err
}

// catchUp rescans what a wallet that is being loaded has missed. Its error is why the wallet cannot be loaded.
func (w *Wallet) catchUp(j *ask.Job, plan rescan.CatchUp) error {
	s := newScan(w.aborted, w)
	err := w.do(j, func() {
		w.Logf("Rescanning last %d blocks (from block %d)...", plan.Tip.Height-plan.From, plan.From)
		w.scan = s
		s.begin(plan.From, nil, true)
	})
	if err != nil {
		return err
	}
	res, err := s.look(j)
	if err != nil {
		return err
	}
	var b *batch
	err = w.try(j, func() error {
		w.endScan()
		switch {
		case res.failed != nil && rescan.IsPruned(res.failed):
			return rescan.ErrPruned
		case res.failed != nil || res.aborted:
			return errRescan
		}
		w.ledger.Txs().SaveBestBlock(rescan.LocatorOf(plan.Tip))
		b = w.save(nil)
		return nil
	})
	if err == nil {
		err = b.wait(j)
	}
	if w.loaded.Load() && w.fault.present() && b != nil && j.Context().Err() == nil {
		err = nil
	}
	return err
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
	if w.scan != nil && w.scan.reading != nil {
		block = block.Ancestor(min(w.scan.reading.Frontier()-1, block.Height))
	}
	return rescan.LocatorOf(block)
}
