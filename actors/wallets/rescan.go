package wallets

import (
	"context"
	"errors"
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

	// reopenWait is how long a rescan waits before it looks whether the chain is open again.
	reopenWait = 50 * time.Millisecond

	// reportEvery is how often a rescan is saved and logged.
	reportEvery = time.Minute
)

// A rescan looks through the blocks of a range for what concerns the wallet, in
// ascending height. The result is the same with and without filters, and for every
// order in which the wallet's addresses were paid to.
//
// It goes by windows. The filters of a window are matched on all cores with all the
// scripts that the wallet has; then the blocks that match are read and handed to the
// ledger, lowest first. When one of them tops the key pool up, the blocks after it
// were tested with too few scripts: their filters are matched again with the new ones
// before anything else happens. The blocks before it were, too: further passes look
// through these, for the new scripts alone, until a pass brings no new scripts.
//
// Each window is pinned to the chain that the ledger is on when it begins. If
// that chain is left, the rescan goes on from the last common block.
type rescan struct {
	from, next int32  // next: first height that is not done in this pass
	stop       *int32 // last height; nil: the tip, which is followed
	last       int32  // as known now
	private    bool   // the keys are unlocked, and must not be locked meanwhile
	loading    bool   // of a wallet that is being loaded
	done       func(result)

	ctx     context.Context //nolint:containedctx // ends the workers
	cancel  context.CancelFunc
	began   time.Time
	saved   time.Time
	failed  *chainview.Block // the last block that could not be read; nil: none
	aborted bool
	pass    passes

	// The window.
	reader         chainview.Reader
	active         *chainview.Chain
	end            *chainview.Block // its last block; nil: no window
	candidates     []*chainview.Block
	scripts        int         // of the ledger, that its filters were matched with
	matching       *match.Pass // nil: nothing is being matched
	withoutFilters bool        // its filters cannot be had: all blocks are read

	running int
	workers []*ask.Worker
}

// scanned is what a rescan needs of its wallet.
type scanned interface {
	scripts() [][]byte                           // all it has, those derived later behind the others
	at(reader chainview.Reader) *chainview.Block // the last block it has seen
	scan(b *txs.Block)                           // looks for what concerns the wallet
	saveScan(c actor.Context, position bool)     // writes what was found, and how far the rescan is

	// awaitKeys calls back when the keys have been made that a block made the wallet
	// want, and writes what it has until then. It reports false when it wants none.
	awaitKeys(c actor.Context, then func()) bool
}

// rescans are a wallet's rescan, and the ended rescans whose workers have not yet ended.
type rescans struct {
	*home
	of    scanned
	ctx   context.Context //nolint:containedctx // ends the workers when the actor stops
	ended func(c actor.Context, r *rescan, res result)

	now    *rescan // nil: none
	ending []*rescan
}

// running reports whether there is a rescan.
func (s *rescans) running() bool { return s.now != nil }

// abort tells the rescan to end; false when there is none, or it was told before.
func (s *rescans) abort() bool { return s.now != nil && s.now.abort() }

// drop ends all workers.
func (s *rescans) drop() {
	if s.now != nil {
		s.now.drop()
	}
	for _, r := range s.ending {
		r.drop()
	}
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

// handle takes the messages of rescans. It reports false for others.
func (s *rescans) handle(c actor.Context) bool {
	switch m := c.Message().(type) {
	case windowReady:
		s.ifRunning(m.rescan, func() { s.windowReady(c, m.err) })
	case passReady:
		s.reported(m.rescan)
		s.ifRunning(m.rescan, func() { s.passReady(c, m.pass) })
	case passDone:
		s.reported(m.of)
		s.ifRunning(m.of, func() { s.passDone(c, m) })
	case rescanRead:
		s.reported(m.rescan)
		s.ifRunning(m.rescan, func() { s.scan(c, m) })
	case rescanAborted:
		s.ifRunning(m.rescan, func() { s.end(c) })
	default:
		return false
	}
	return true
}

func (s *rescans) ifRunning(r *rescan, do func()) {
	if r == s.now {
		do()
	}
}

// reported notes that a worker has ended. A rescan that has ended is forgotten
// with its last worker.
func (s *rescans) reported(r *rescan) {
	r.running--
	if r.running == 0 {
		s.ending = slices.DeleteFunc(s.ending, func(e *rescan) bool { return e == r })
	}
}

// start begins a rescan; there must be none.
func (s *rescans) start(c actor.Context, r *rescan) {
	r.began = time.Now()
	r.saved = r.began
	r.next = r.from
	r.scripts = len(s.of.scripts())
	r.pass = passes{began: r.scripts, reached: r.from - 1}
	r.ctx, r.cancel = context.WithCancel(s.ctx)
	s.now = r
	root, self := c.ActorSystem().Root, c.Self()
	context.AfterFunc(r.ctx, func() { root.Send(self, rescanAborted{r}) })
	variant := "slow variant inspecting all blocks"
	if s.cfg.Scheduler != nil {
		variant = "fast variant using block filters"
	}
	reader := s.cfg.Chain.Open()
	if b := reader.Active().At(r.from); b != nil {
		corelog.Printf(s.cfg.Log, infoLevel, "[%s] Rescan started from block %v... (%s)", s.label(), b.Hash, variant)
	}
	s.nextWindow(c)
}

// read has the next blocks of the window read, or ends the window.
func (s *rescans) read(c actor.Context) {
	r := s.now
	if len(r.candidates) == 0 {
		r.next = r.end.Height + 1
		s.nextWindow(c)
		return
	}
	reader, wanted := r.reader, r.candidates[:min(len(r.candidates), batchBlocks)]
	r.spawn(c, func() any {
		blocks, err := s.readReopened(r.ctx, reader, wanted)
		return rescanRead{r, blocks, err}
	})
}

// readReopened reads blocks as readBlocks does, and waits for the chain while it is being opened again: nothing is
// wrong with the blocks then. It runs in a worker.
func (s *rescans) readReopened(
	ctx context.Context, reader chainview.Reader, wanted []*chainview.Block,
) ([]*txs.Block, error) {
	for {
		blocks, err := s.readBlocks(ctx, reader, wanted)
		if len(blocks) > 0 && errors.Is(err, chainview.ErrClosed) {
			return blocks, nil // the others are read next
		}
		if !errors.Is(err, chainview.ErrClosed) {
			return blocks, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(reopenWait):
		}
		reader = s.cfg.Chain.Open()
	}
}

// scan hands blocks to the ledger.
func (s *rescans) scan(c actor.Context, m rescanRead) {
	r := s.now
	if r.ctx.Err() != nil {
		s.end(c)
		return
	}
	tip := s.of.at(r.reader)
	for _, b := range m.blocks {
		block := r.candidates[0]
		if !tip.Ancestor(block.Height).Is(block) {
			s.of.saveScan(c, false)
			s.nextWindow(c) // the chain that the window is pinned to was left
			return
		}
		s.of.scan(b)
		if s.of.awaitKeys(c, func() { s.ifRunning(r, func() { s.scanOn(c) }) }) {
			return
		}
		r.candidates = r.candidates[1:]
		r.next = block.Height + 1
		if s.testAgain(c, block.Height) {
			s.of.saveScan(c, false)
			return
		}
	}
	s.of.saveScan(c, false)
	if m.err != nil { // as Core: the others are looked at all the same
		s.cfg.Log.Error("rescan cannot read a block", "wallet", s.label(), "err", m.err)
		for more := true; more; more = len(r.candidates) > 0 && s.isBehind(r.candidates[0]) { // none of those can
			r.failed = r.candidates[0]
			r.candidates = r.candidates[1:]
		}
		r.next = r.failed.Height + 1
	}
	s.report(c)
	s.read(c)
}

// scanOn goes on with a window when the keys have been made that the next of its
// blocks made the wallet want: the block may pay to them, too.
func (s *rescans) scanOn(c actor.Context) {
	if s.now.ctx.Err() != nil {
		s.end(c)
		return
	}
	s.read(c)
}

// testAgain matches what is left of the window with the scripts that the wallet has
// now and had not when it was matched, if there are any. These scripts came with the
// block of a height, or after the blocks below were tested.
func (s *rescans) testAgain(c actor.Context, height int32) bool {
	r := s.now
	scripts := s.of.scripts()
	fresh := scripts[r.scripts:]
	r.scripts = len(scripts)
	if len(fresh) == 0 {
		return false
	}
	r.pass.grown(height)
	if r.withoutFilters || r.next > r.end.Height {
		return false
	}
	s.startMatch(c, r.next, fresh)
	return true
}

// report tells how far the rescan has come, and saves that now and then.
func (s *rescans) report(c actor.Context) {
	r := s.now
	s.step("Rescanning…", r.progress())
	if time.Since(r.saved) < reportEvery {
		return
	}
	r.saved = time.Now()
	corelog.Printf(
		s.cfg.Log, infoLevel, "[%s] Still rescanning. At block %d. Progress=%f", s.label(), r.next, r.progress(),
	)
	s.of.saveScan(c, true)
}

// progress is the part that is done, 0 to 1.
func (r *rescan) progress() float64 {
	if r.last <= r.from {
		return 0
	}
	done := r.next
	if r.matching != nil {
		done = r.matching.Frontier()
	}
	return r.pass.progress(min(float64(done-r.from)/float64(r.last-r.from+1), 1))
}

// frontier is the first height that is not done.
func (r *rescan) frontier() int32 {
	if r.pass.more(r.from) {
		return r.from
	}
	return r.next
}

// end tells the wallet how the rescan went.
func (s *rescans) end(c actor.Context) {
	r := s.now
	aborted := r.ctx.Err() != nil
	s.now = nil
	r.cancel()
	if r.running > 0 {
		s.ending = append(s.ending, r)
	}
	if r.stop == nil && !r.loading {
		corelog.Printf(s.cfg.Log, infoLevel, "[%s] Scanning current mempool transactions.", s.label())
	}
	if aborted {
		corelog.Printf(s.cfg.Log, infoLevel, "[%s] Rescan aborted at block %d. Progress=%f",
			s.label(), r.next, r.progress())
	} else {
		corelog.Printf(s.cfg.Log, infoLevel, "[%s] Rescan completed in %15dms",
			s.label(), time.Since(r.began).Milliseconds())
	}
	res := result{failed: r.failed, aborted: aborted}
	if last := max(r.next-1, r.pass.reached); last >= r.from {
		res.last = &last
	}
	s.ended(c, r, res)
}
