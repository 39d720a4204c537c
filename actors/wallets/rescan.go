package wallets

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
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

// A reading is a rescan under way, which a job carries out: it matches the filters of a window on all cores, reads the
// blocks, and has the ledger look through them. The actor reads how far it is, so the job writes these fields in the
// actor.
type reading struct {
	*scan
	*rescan.Range

	loading  bool // of a wallet that is being loaded
	saved    time.Time
	failed   *chainview.Block           // the last block that could not be read; nil: none
	away     bool                       // for the node that has it does not answer
	matching atomic.Pointer[match.Pass] // nil: nothing is being matched
	reader   chainview.Reader           // of the window
	filtered bool                       // the blocks were found by their filters
}

// windows looks through the range, window by window. Its error is why the job is over.
func (r *reading) windows(j *ask.Job) error {
	for {
		more := false
		err := r.w.do(j, func() {
			r.reader = r.w.cfg.Chain.Open()
			if more = r.Next(r.w.at(r.reader), len(r.w.scripts()), r.w.cfg.window); more {
				r.report()
			}
		})
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

// find finds the blocks of the window that are to be read.
func (r *reading) find(j *ask.Job) error {
	if r.w.cfg.Scheduler == nil {
		r.FoundAll()
		return nil
	}
	_, end := r.Window()
	limit, cancel := context.WithTimeout(context.Background(), indexWait)
	defer cancel()
	missing := j.Until(limit, func(j *ask.Job) error {
		_, err := ask.Await(j, r.w.cfg.Indexer, messages.WaitIndexed{Block: end.Hash})
		return err
	})
	var scripts [][]byte
	err := r.w.do(j, func() {
		all := r.w.scripts()
		r.Grown(len(all))
		scripts = r.Wanted(all)
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
func (r *reading) match(j *ask.Job, scripts [][]byte) error {
	scheduler := r.w.cfg.Scheduler
	first, end := r.Window()
	pass := scheduler.NewPass(match.Config{Query: filters.NewQuery(scripts), First: first, Stop: end, Exact: true})
	r.matching.Store(pass)
	over := make(chan error, 1)
	err := r.w.do(j, func() { // an abort does not wait for the workers
		r.w.beside(func(*ask.Job) { over <- scheduler.Run(j.Context(), pass) })
	})
	if err == nil {
		select {
		case err = <-over:
		case <-j.Context().Done():
		}
	}
	r.matching.Store(nil)
	switch {
	case j.Context().Err() != nil:
		return context.Cause(j.Context())
	case err != nil:
		r.withoutFilters(err)
		return nil
	}
	hits, _ := pass.Hits()
	heights := make([]int32, len(hits))
	for i, hit := range hits {
		heights[i] = hit.Height
	}
	r.filtered = true
	r.Found(heights)
	return nil
}

// withoutFilters has what is left of a window read block by block.
func (r *reading) withoutFilters(err error) {
	r.w.cfg.Log.Info("block filters missing, rescan reads the blocks", "wallet", r.w.Label(), "err", err)
	r.filtered = false
	r.FoundAll()
}

// A taken says how far the ledger has taken blocks in.
type taken struct {
	left      bool     // the chain that the window is pinned to was left
	needsKeys bool     // the wallet wants keys that the next block may pay to
	fresh     [][]byte // scripts that the filters of the next blocks are to be matched with
	away      bool     // the node that has the next block does not answer
}

// read hands the blocks of the window to the ledger.
func (r *reading) read(j *ask.Job) error {
	for len(r.Left()) > 0 {
		blocks, unread := r.readReopened(j.Context(), r.Left()[:min(len(r.Left()), batchBlocks)])
		var got taken
		err := r.w.do(j, func() {
			got = r.take(blocks, unread)
			r.w.save(nil)
		})
		switch {
		case err != nil || got.left:
			return err
		case got.away:
			return unread
		case got.needsKeys:
			err = r.w.keysMade(j)
		case len(got.fresh) > 0:
			err = r.match(j, got.fresh)
		default:
			err = r.w.do(j, r.report)
		}
		if err != nil {
			return err
		}
	}
	return r.w.do(j, r.Done)
}

// readReopened reads blocks as [rescan.Read] does, and waits for the chain while it is being opened again: nothing is
// wrong with the blocks then.
func (r *reading) readReopened(ctx context.Context, wanted []*chainview.Block) ([]*txs.Block, error) {
	for reader := r.reader; ; reader = r.w.cfg.Chain.Open() {
		blocks, err := rescan.Read(ctx, r.w.cfg.Fetch, reader, wanted)
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
func (r *reading) take(blocks []*txs.Block, unread error) taken {
	tip := r.w.at(r.reader)
	for _, b := range blocks {
		block := r.Left()[0]
		if !tip.Ancestor(block.Height).Is(block) {
			return taken{left: true}
		}
		if r.filtered {
			corelog.Printf(r.w.cfg.Log.With(corelog.CategoryKey, "scan"), slog.LevelDebug,
				"Fast rescan: inspect block %d [%v] (filter matched)", block.Height, block.Hash)
		}
		r.publishAgain(r.w.ledger.Txs().ScanBlock(b, r.w.cfg.now()))
		r.refuseLocked()
		if r.w.keygen.needsKeys() {
			return taken{needsKeys: true}
		}
		if fresh := r.Taken(r.w.scripts()); len(fresh) > 0 {
			return taken{fresh: fresh}
		}
	}
	if unread == nil {
		return taken{}
	}
	// As in Core the others are looked at all the same.
	r.w.cfg.Log.Error("rescan cannot read a block", "wallet", r.w.Label(), "err", unread)
	if errors.Is(unread, messages.ErrNodeAway) { // each of the others would be waited for in vain
		r.away, r.failed = true, tip.Ancestor(min(r.Last(), tip.Height))
		return taken{away: true}
	}
	r.failed = r.Unread(func(b *chainview.Block) bool { return rescan.IsBehind(r.reader, b) })
	return taken{}
}

// report tells how far the rescan has come, and saves that now and then.
func (r *reading) report() {
	r.w.progress("Rescanning…", r.progress())
	if time.Since(r.saved) < reportEvery {
		return
	}
	r.saved = time.Now()
	r.w.Logf("Still rescanning. At block %d. Progress=%f", r.Height(), r.progress())
	r.w.saveAt()
}

// progress is the part that is done, 0 to 1.
func (r *reading) progress() float64 {
	matched := int32(0)
	if pass := r.matching.Load(); pass != nil {
		matched = pass.Frontier()
	}
	return r.Progress(matched)
}
