package wallets

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
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
//
// A job runs it. The actor reads how far it is, so the job writes these fields in the actor.
type rescan struct {
	*scan

	from, next int32  // next: first height that is not done in this pass
	stop       *int32 // last height; nil: the tip, which is followed
	last       int32  // as known now
	loading    bool   // of a wallet that is being loaded

	saved    time.Time
	failed   *chainview.Block // the last block that could not be read; nil: none
	away     bool             // for the node that has it does not answer
	pass     passes
	matching atomic.Pointer[match.Pass] // nil: nothing is being matched

	// The window.
	reader     chainview.Reader
	end        *chainview.Block // its last block; nil: no window
	candidates []*chainview.Block
	scripts    int  // of the ledger, that its filters were matched with
	unfiltered bool // its filters cannot be had: all blocks are read
}

// windows looks through the range, window by window. Its error is why the job is over.
func (r *rescan) windows(j *ask.Job) error {
	for {
		more := false
		err := r.w.do(j, func() { more = r.nextWindow() })
		if err != nil || !more {
			return err
		}
		if err = r.find(j); err == nil {
			err = r.read(j)
		}
		if err != nil {
			return err
		}
	}
}

// nextWindow pins the next window. It reports false where the rescan is done.
func (r *rescan) nextWindow() bool {
	r.reader = r.w.cfg.Chain.Open()
	tip := r.w.at(r.reader)
	if r.end != nil {
		r.next = max(min(r.next, tip.ForkHeight(r.end)+1), r.from)
	}
	r.last = tip.Height
	if r.stop != nil {
		r.last = min(r.last, *r.stop)
	}
	r.noteScripts()
	for r.next > r.pass.last(r.last) {
		if !r.pass.next(r.from, r.next, r.scripts) {
			return false
		}
		r.next = r.from
	}
	r.end = tip.Ancestor(min(r.next+r.w.cfg.window-1, r.pass.last(r.last)))
	r.report()
	return true
}

// noteScripts notes that the wallet has got scripts since a window was matched, by news
// of the tip or the pool. The blocks below the next height were not tested with these
// scripts.
func (r *rescan) noteScripts() {
	if n := len(r.w.scripts()); n > r.scripts {
		r.pass.grown(r.next)
		r.scripts = n
	}
}

// find finds the blocks of the window that are to be read.
func (r *rescan) find(j *ask.Job) error {
	r.candidates, r.unfiltered = nil, false
	if r.w.cfg.Scheduler == nil {
		r.readAll()
		return nil
	}
	limit, cancel := context.WithTimeout(context.Background(), indexWait)
	defer cancel()
	missing := j.Until(limit, func(j *ask.Job) error {
		_, err := ask.Await(j, r.w.cfg.Indexer, messages.WaitIndexed{Block: r.end.Hash})
		return err
	})
	var scripts [][]byte
	err := r.w.do(j, func() {
		r.noteScripts()
		scripts = r.w.scripts()[r.pass.known:]
	})
	switch {
	case err != nil:
		return err
	case missing != nil:
		r.withoutFilters(missing)
		return nil
	}
	return r.match(j, scripts)
}

// match finds more of these blocks, from the next height on, by their filters.
func (r *rescan) match(j *ask.Job, scripts [][]byte) error {
	scheduler := r.w.cfg.Scheduler
	pass := scheduler.NewPass(match.Config{Query: filters.NewQuery(scripts), First: r.next, Stop: r.end, Exact: true})
	r.matching.Store(pass)
	err := r.w.await(j, func(then func(error)) { // an abort does not wait for the workers
		r.w.work(r.c, func(*ask.Job) func() {
			err := scheduler.Run(j.Context(), pass)
			return func() { then(err) }
		})
	})
	r.matching.Store(nil)
	switch {
	case j.Context().Err() != nil:
		return context.Cause(j.Context())
	case err != nil:
		r.withoutFilters(err)
		return nil
	}
	hits, _ := pass.Hits()
	for _, hit := range hits {
		r.candidates = append(r.candidates, r.end.Ancestor(hit.Height))
	}
	slices.SortFunc(r.candidates, func(a, b *chainview.Block) int { return int(a.Height - b.Height) })
	r.candidates = slices.CompactFunc(r.candidates, (*chainview.Block).Is)
	return nil
}

// withoutFilters has what is left of a window read block by block.
func (r *rescan) withoutFilters(err error) {
	r.w.cfg.Log.Info("block filters missing, rescan reads the blocks", "wallet", r.w.label(), "err", err)
	r.readAll()
}

// readAll has all blocks of a window read, from the next on.
func (r *rescan) readAll() {
	r.unfiltered = true
	r.candidates = make([]*chainview.Block, max(r.end.Height-r.next+1, 0))
	for b, i := r.end, len(r.candidates)-1; i >= 0; b, i = b.Parent, i-1 {
		r.candidates[i] = b
	}
}

// A taken says how far the ledger has taken blocks in.
type taken struct {
	left      bool     // the chain that the window is pinned to was left
	needsKeys bool     // the wallet wants keys that the next block may pay to
	fresh     [][]byte // scripts that the filters of the next blocks are to be matched with
	away      bool     // the node that has the next block does not answer
}

// read hands the blocks of the window to the ledger.
func (r *rescan) read(j *ask.Job) error {
	for len(r.candidates) > 0 {
		blocks, unread := r.readReopened(j.Context(), r.candidates[:min(len(r.candidates), batchBlocks)])
		var got taken
		err := r.w.do(j, func() {
			got = r.take(blocks, unread)
			r.w.save(r.c, nil)
		})
		switch {
		case err != nil || got.left:
			return err
		case got.away:
			return unread
		case got.needsKeys:
			err = r.w.await(j, func(then func(error)) { r.w.keygen.after(r.c, func() { then(nil) }) })
		case len(got.fresh) > 0:
			err = r.match(j, got.fresh)
		default:
			err = r.w.do(j, r.report)
		}
		if err != nil {
			return err
		}
	}
	return r.w.do(j, func() { r.next = r.end.Height + 1 })
}

// readReopened reads blocks as readBlocks does, and waits for the chain while it is being opened again: nothing is
// wrong with the blocks then.
func (r *rescan) readReopened(ctx context.Context, wanted []*chainview.Block) ([]*txs.Block, error) {
	for reader := r.reader; ; reader = r.w.cfg.Chain.Open() {
		blocks, err := r.w.readBlocks(ctx, reader, wanted)
		if !errors.Is(err, chainview.ErrClosed) {
			return blocks, err
		}
		if len(blocks) > 0 {
			return blocks, nil // the others are read next
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(reopenWait):
		}
	}
}

// take has the ledger look through blocks. unread is why the one after them could not be read.
func (r *rescan) take(blocks []*txs.Block, unread error) taken {
	tip := r.w.at(r.reader)
	for _, b := range blocks {
		block := r.candidates[0]
		if !tip.Ancestor(block.Height).Is(block) {
			return taken{left: true}
		}
		r.publishAgain(r.w.ledger.Txs().ScanBlock(b, r.w.cfg.now()))
		if r.w.keygen.needsKeys() {
			return taken{needsKeys: true}
		}
		r.candidates = r.candidates[1:]
		r.next = block.Height + 1
		if fresh := r.untested(block.Height); len(fresh) > 0 {
			return taken{fresh: fresh}
		}
	}
	if unread != nil { // as Core: the others are looked at all the same
		r.w.cfg.Log.Error("rescan cannot read a block", "wallet", r.w.label(), "err", unread)
		if errors.Is(unread, messages.ErrNodeAway) { // each of the others would be waited for in vain
			r.away, r.failed = true, tip.Ancestor(min(r.last, tip.Height))
			return taken{away: true}
		}
		for more := true; more; more = len(r.candidates) > 0 && r.w.isBehind(r.candidates[0]) { // none of those can
			r.failed = r.candidates[0]
			r.candidates = r.candidates[1:]
		}
		r.next = r.failed.Height + 1
	}
	return taken{}
}

// untested returns the scripts that have come since the window was matched, if filters are left to match with
// these scripts. They came with the block of a height, or after the blocks below were tested.
func (r *rescan) untested(height int32) [][]byte {
	scripts := r.w.scripts()
	fresh := scripts[r.scripts:]
	r.scripts = len(scripts)
	if len(fresh) > 0 {
		r.pass.grown(height)
	}
	if r.unfiltered || r.next > r.end.Height {
		return nil
	}
	return fresh
}

// report tells how far the rescan has come, and saves that now and then.
func (r *rescan) report() {
	r.w.step("Rescanning…", r.progress())
	if time.Since(r.saved) < reportEvery {
		return
	}
	r.saved = time.Now()
	r.w.logf("Still rescanning. At block %d. Progress=%f", r.next, r.progress())
	r.w.saveAt(r.c)
}

// progress is the part that is done, 0 to 1.
func (r *rescan) progress() float64 {
	if r.last <= r.from {
		return 0
	}
	done := r.next
	if pass := r.matching.Load(); pass != nil {
		done = pass.Frontier()
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
