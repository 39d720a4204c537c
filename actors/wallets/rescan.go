package wallets

import (
	"context"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/wallet/txs"
)

const (
	// indexWait is how long a rescan waits for filters that are yet to be built
	// before it reads the blocks instead.
	indexWait = 2 * time.Second

	// reportEvery is how often a rescan is saved and the log told of it.
	reportEvery = time.Minute
)

// A rescan looks through the blocks of a range for what concerns the wallet, in
// ascending height. What it finds does not depend on whether there are filters.
//
// It goes by windows. The filters of a window are matched on all cores with all
// the scripts that the wallet has; then the blocks that match are read and
// handed to the ledger, lowest first. When one of them tops the key pool up, the
// blocks after it were tested with too few scripts: their filters are matched
// again with the new ones before anything else happens.
//
// Each window is pinned to the chain that the ledger is on when it begins. If
// that chain is left, the rescan goes on from the last common block.
type rescan struct {
	from, next int32  // next: first height that is not done
	stop       *int32 // last height; nil: the tip, which is followed
	last       int32  // as known now
	private    bool   // with the keys unlocked, which stay so
	loading    bool   // of a wallet that is being loaded
	done       func(result)

	ctx     context.Context //nolint:containedctx // ends the workers
	cancel  context.CancelFunc
	began   time.Time
	saved   time.Time
	failed  *chainview.Block // last one that could not be read
	aborted bool

	// The window.
	reader  chainview.Reader
	active  *chainview.Chain
	pin     *chainview.Block // its last block; nil: no window
	todo    []*chainview.Block
	scripts int         // of the ledger, that its filters were matched with
	pass    *match.Pass // nil: nothing is being matched
	blind   bool        // its filters cannot be had: all blocks are read

	running int
	workers []*ask.Worker
}

// result is how a rescan ended.
type result struct {
	last    *int32 // height of the last block that was looked at
	failed  *chainview.Block
	aborted bool
}

// Messages of a rescan to its actor.
type (
	windowReady struct {
		rescan *rescan
		err    error
	}
	passReady struct {
		rescan *rescan
		pass   *match.Pass
	}
	passDone struct {
		pass *match.Pass
		of   *rescan
		err  error
	}
	rescanRead struct {
		rescan *rescan
		blocks []*txs.Block
		err    error
	}
	rescanAborted struct{ rescan *rescan }
)

func (r *rescan) drop() {
	r.cancel()
	for _, worker := range r.workers {
		worker.Drop()
	}
}

// abort tells a rescan to end; false when it was told before.
func (r *rescan) abort() bool {
	first := !r.aborted
	r.aborted = true
	r.cancel()
	return first
}

// rescanning takes the messages of rescans. It reports false for others.
func (w *Wallet) rescanning(c actor.Context) bool {
	switch m := c.Message().(type) {
	case windowReady:
		w.ifRunning(m.rescan, func() { w.windowReady(c, m.err) })
	case passReady:
		w.reported(m.rescan)
		w.ifRunning(m.rescan, func() { w.passReady(c, m.pass) })
	case passDone:
		w.reported(m.of)
		w.ifRunning(m.of, func() { w.passDone(c, m) })
	case rescanRead:
		w.reported(m.rescan)
		w.ifRunning(m.rescan, func() { w.scan(c, m) })
	case rescanAborted:
		w.ifRunning(m.rescan, func() { w.endRescan(c) })
	default:
		return false
	}
	return true
}

func (w *Wallet) ifRunning(r *rescan, do func()) {
	if r == w.rescan {
		do()
	}
}

// reported notes that a worker has ended. Of a rescan that has ended before,
// nothing is left with the last of them.
func (w *Wallet) reported(r *rescan) {
	r.running--
	if r.running == 0 {
		w.ending = slices.DeleteFunc(w.ending, func(e *rescan) bool { return e == r })
	}
}

// startRescan begins a rescan; there must be none.
func (w *Wallet) startRescan(c actor.Context, r *rescan) {
	r.began = time.Now()
	r.saved = r.began
	r.next = r.from
	r.ctx, r.cancel = context.WithCancel(w.ctx)
	w.rescan = r
	root, self := c.ActorSystem().Root, c.Self()
	context.AfterFunc(r.ctx, func() { root.Send(self, rescanAborted{r}) })
	variant := "slow variant inspecting all blocks"
	if w.cfg.Scheduler != nil {
		variant = "fast variant using block filters"
	}
	reader := w.cfg.Chain.Open()
	if b := reader.Active().At(r.from); b != nil {
		corelog.Printf(w.cfg.Log, infoLevel, "[%s] Rescan started from block %v... (%s)", w.label(), b.Hash, variant)
	}
	w.nextWindow(c)
}

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
	w.startRescan(c, r)
	w.onAbort(r.cancel)
}

// read has the next blocks of the window read, or ends the window.
func (w *Wallet) read(c actor.Context) {
	r := w.rescan
	if len(r.todo) == 0 {
		r.next = r.pin.Height + 1
		w.nextWindow(c)
		return
	}
	reader, active, wanted := r.reader, r.active, r.todo[:min(len(r.todo), batchBlocks)]
	r.spawn(c, func() any {
		blocks, err := w.readBlocks(r.ctx, reader, active, wanted)
		return rescanRead{r, blocks, err}
	})
}

// scan hands blocks to the ledger.
func (w *Wallet) scan(c actor.Context, m rescanRead) {
	r := w.rescan
	if r.ctx.Err() != nil {
		w.endRescan(c)
		return
	}
	tip := w.at(r.reader)
	for _, b := range m.blocks {
		block := r.todo[0]
		if tip.Ancestor(block.Height) != block {
			w.save(c, nil)
			w.nextWindow(c) // the chain that the window is pinned to was left
			return
		}
		r.todo = r.todo[1:]
		w.publishAgain(w.ledger.Txs().ScanBlock(b, w.cfg.now()))
		r.next = block.Height + 1
		if w.keygen.needsKeys() {
			w.save(c, nil)
			w.keygen.after(c, func() { w.ifRunning(r, func() { w.scanOn(c) }) })
			return
		}
		if w.testAgain(c) {
			w.save(c, nil)
			return
		}
	}
	w.save(c, nil)
	if m.err != nil { // as Core: the others are looked at all the same
		w.cfg.Log.Error("rescan cannot read a block", "wallet", w.label(), "err", m.err)
		r.failed = r.todo[0]
		r.todo = r.todo[1:]
		r.next = r.failed.Height + 1
	}
	w.report(c)
	w.read(c)
}

// scanOn goes on with a window when the keys have been made that one of its blocks
// made the wallet want.
func (w *Wallet) scanOn(c actor.Context) {
	switch {
	case w.rescan.ctx.Err() != nil:
		w.endRescan(c)
	case !w.testAgain(c):
		w.read(c)
	}
}

// testAgain matches what is left of the window with the scripts that the wallet
// has now and had not when it was matched, if there are any.
func (w *Wallet) testAgain(c actor.Context) bool {
	r := w.rescan
	scripts := w.ledger.Keys().Scripts()
	fresh := scripts[r.scripts:]
	r.scripts = len(scripts)
	if len(fresh) == 0 || r.blind || r.next > r.pin.Height {
		return false
	}
	w.startPass(c, r.next, fresh)
	return true
}

// report tells how far the rescan has come, and saves that now and then.
func (w *Wallet) report(c actor.Context) {
	r := w.rescan
	w.step("Rescanning…", r.progress())
	if time.Since(r.saved) < reportEvery {
		return
	}
	r.saved = time.Now()
	corelog.Printf(w.cfg.Log, infoLevel, "[%s] Still rescanning. At block %d. Progress=%f", w.label(), r.next, r.progress())
	w.saveAt(c)
}

// progress is the part that is done, 0 to 1.
func (r *rescan) progress() float64 {
	if r.last <= r.from {
		return 0
	}
	done := r.next
	if r.pass != nil {
		done = r.pass.Frontier()
	}
	return min(float64(done-r.from)/float64(r.last-r.from+1), 1)
}

// endRescan tells whoever waits for the rescan how it went.
func (w *Wallet) endRescan(c actor.Context) {
	r := w.rescan
	aborted := r.ctx.Err() != nil
	w.rescan = nil
	r.cancel()
	if r.running > 0 {
		w.ending = append(w.ending, r)
	}
	if r.stop == nil && !r.loading {
		corelog.Printf(w.cfg.Log, infoLevel, "[%s] Scanning current mempool transactions.", w.label())
	}
	if aborted {
		corelog.Printf(w.cfg.Log, infoLevel, "[%s] Rescan aborted at block %d. Progress=%f", w.label(), r.next, r.progress())
	} else {
		corelog.Printf(w.cfg.Log, infoLevel, "[%s] Rescan completed in %15dms", w.label(), time.Since(r.began).Milliseconds())
	}
	res := result{failed: r.failed, aborted: aborted}
	if r.next > r.from {
		last := r.next - 1
		res.last = &last
	}
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
