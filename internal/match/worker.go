package match

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed61375155/trawl/filters"
)

const (
	// unitTime is how long a worker aims to match before it checks whether the
	// pass has ended, and lets others run. It is half of the longest wait of an
	// abort, beyond the time of a single filter.
	unitTime = time.Millisecond

	// maxUnit bounds the filters of a unit, so that what is kept of each stays in
	// the processor's cache, and that the last worker is not long alone.
	maxUnit = 256

	// minRestricted is from how many scripts on it pays to read what is known of a
	// range first.
	minRestricted = 16

	// firstUnit is the size of a worker's first unit, before its speed is known.
	firstUnit = 16
)

// worker is what one goroutine matches with.
type worker struct {
	*Pass
	ctx     context.Context //nolint:containedctx // of the one call that the worker is for
	turn    *turn           // nil outside of a Scheduler
	view    View
	active  bool      // the blocks are of the view's active chain
	size    int32     // filters that take about unitTime
	yielded time.Time // when others were let run
	*buffers

	fetcher Fetcher // the view, where it is one, and of the active chain
	faults  int64   // that it told of last
	readers sync.WaitGroup
	reading context.Context //nolint:containedctx // of the readers that the worker started

	direct       bool // the next blocks are looked into without their filters
	blockMatcher *filters.BlockMatcher
	looks        int64         // into blocks of the unit, whose filters matched
	looking      time.Duration // that they took

	matchAll func() // matches the batch; made once, not for each
	matchErr error  // of the matcher
}

// buffers are the memory that a worker needs. Filters of a batch are overwritten by
// the next.
type buffers struct {
	matcher *filters.Matcher
	batch   []filters.Filter
	matched []bool
}

// bufferPool keeps buffers for the workers to come: to make and to clear them takes as
// long as to look a script up in a thousand filters.
var bufferPool = sync.Pool{New: func() any { return &buffers{matcher: filters.NewMatcher(filters.NewQuery(nil))} }}

func newWorker(ctx context.Context, p *Pass) *worker {
	view := p.Source.View()
	w := &worker{
		Pass: p, ctx: ctx, turn: turnOf(ctx), view: view, active: view.Active(p.Stop.Height, &p.Stop.Hash),
		buffers: bufferPool.Get().(*buffers),
	}
	if f, ok := view.(Fetcher); ok && w.active {
		w.fetcher, w.faults = f, f.Faults()
	}
	w.matcher.Reset(p.Query, p.Method)
	w.matchAll = func() { w.matchErr = w.matcher.Match(w.batch, w.matched) }
	return w
}

// release gives the buffers back. It is not called after a panic.
func (w *worker) release() {
	clear(w.batch[:cap(w.batch)]) // no pointer into what is not mapped any more
	bufferPool.Put(w.buffers)
	w.buffers = nil
}

// run is [Pass.Work].
func (w *worker) run(unit Heights) (left Heights, err error) {
	defer w.view.Release()
	var end context.CancelFunc
	w.reading, end = context.WithCancel(w.ctx)
	defer w.readers.Wait()
	defer end()
	left, err = w.searchAll(unit)
	w.release()
	return left, err
}

func (w *worker) searchAll(unit Heights) (left Heights, err error) {
	w.size, w.yielded = firstUnit, time.Now()
	if unit.Empty() {
		unit = w.next()
	} else {
		w.direct = w.choose()
	}
	for ; !unit.Empty() && w.ctx.Err() == nil; unit = w.next() {
		found, err := w.searchUnit(unit)
		if err != nil {
			return unit, err
		}
		w.done(unit, found)
		w.counted.Add(uint64(unit.To - unit.From))
	}
	return Heights{}, nil
}

// searchUnit returns the hits of a unit, found in the way that next has chosen.
func (w *worker) searchUnit(unit Heights) (found []Hit, err error) {
	if w.direct {
		return w.searchBlocks(unit)
	}
	w.awaitRead(unit)
	w.looks, w.looking = 0, 0
	found, took, err := w.search(unit)
	if err != nil {
		return nil, err
	}
	w.notePace(func(p *paces) { p.byFilters(int64(unit.To-unit.From), took, w.looks, w.looking) })
	if !w.prefersBlocks() {
		w.watch()
	}
	return found, nil
}

// next takes the next unit: where the query may be restricted, all for which that
// holds.
func (w *worker) next() Heights {
	w.direct = w.choose()
	return w.takeUpTo(func(from int32) int32 {
		if w.direct {
			return from + directUnit
		}
		if w.restricts() {
			if known := w.view.RangeEnd(from); known > from {
				return known
			}
		}
		return from + w.size
	})
}

// restricts reports whether to look for those scripts alone that a range may have.
func (w *worker) restricts() bool { return w.Exact && w.active && w.Query.Len() >= minRestricted }

// search returns the hits of a unit, in parts of about unitTime, and what it took less what others took
// in between.
func (w *worker) search(unit Heights) (found []Hit, took time.Duration, err error) {
	began := time.Now()
	if w.restricts() {
		sub, to := w.view.Restrict(unit.From, w.Query)
		if to < unit.To {
			sub = w.Query // nothing is known, or the unit is of another view
		}
		if sub.Len() == 0 {
			return nil, time.Since(began), nil
		}
		w.matcher.SetQuery(sub)
	}
	for part := (Heights{unit.From, unit.From}); part.To < unit.To; {
		if err := w.ctx.Err(); err != nil {
			return nil, 0, err
		}
		beganPart := time.Now()
		part = Heights{part.To, min(part.To+w.size, unit.To)}
		hits, err := w.match(part)
		if err != nil {
			return nil, 0, err
		}
		found = append(found, hits...)
		now := time.Now()
		w.size = nextSize(part.To-part.From, now.Sub(beganPart))
		if took += now.Sub(began); w.rest(now) {
			now = w.yielded
		}
		began = now
	}
	return found, took, nil
}

// rest lets others run when it is time, and reports whether it did.
func (w *worker) rest(now time.Time) bool {
	if now.Sub(w.yielded) < unitTime {
		return false
	}
	w.turn.yield(w.ctx)
	w.yielded = time.Now()
	return true
}

// nextSize returns how many filters take about unitTime, if n took elapsed.
func nextSize(n int32, elapsed time.Duration) int32 {
	fit := int64(n) * int64(unitTime) / max(int64(elapsed), 1)
	return int32(min(max(fit, 1), int64(n)*4, maxUnit))
}

// match returns the hits of a unit.
func (w *worker) match(unit Heights) ([]Hit, error) {
	n := int(unit.To - unit.From)
	w.batch, w.matched = resize(w.batch, n), resize(w.matched, n)
	if !w.active {
		w.name(unit)
	}
	if err := w.view.Filters(unit.From, w.active, w.batch); err != nil {
		return nil, err
	}
	if err := w.matchBatch(); err != nil {
		return nil, err
	}
	for _, i := range w.matcher.StaleLines() {
		w.view.Stale(&w.batch[i].Block)
	}
	return w.kept(unit.From)
}

// name notes which blocks are in a unit. To go from block to block takes longer
// than to look a script up, so the view does it where it can.
func (w *worker) name(unit Heights) {
	for b, i := w.Stop.Ancestor(unit.To-1), len(w.batch)-1; i >= 0; b, i = b.Parent, i-1 {
		w.batch[i] = filters.Filter{Block: b.Hash}
	}
}

// matchBatch sets the hits of the batch. Where memory that holds probe lines
// fails, it matches without lines.
func (w *worker) matchBatch() error {
	fault := w.view.Guard(w.matchAll)
	if fault == nil {
		return w.malformed(w.matchErr)
	}
	if err := w.locate(fault); err != nil {
		return err
	}
	w.stripLines()
	if fault := w.view.Guard(w.matchAll); fault != nil {
		return &DamagedError{Block: w.batch[0].Block, Err: fault}
	}
	return w.malformed(w.matchErr)
}

// stripLines takes the lines from the filters of the batch, and tells the view
// which lines cannot be read or are damaged.
func (w *worker) stripLines() {
	for i := range w.batch {
		f := &w.batch[i]
		sound := false
		_ = w.view.Guard(func() { sound = f.LinesSound() }) // where the memory fails again they are not
		if !sound {
			w.view.Stale(&f.Block)
		}
		f.Lines = nil
	}
}

// kept returns the blocks of a unit that matched, less those that are not kept.
func (w *worker) kept(from int32) ([]Hit, error) {
	var found []Hit
	for i, hit := range w.matched {
		if !hit {
			continue
		}
		block := w.batch[i].Block
		if w.Keep != nil {
			if w.ctx.Err() != nil {
				return nil, w.ctx.Err()
			}
			began := time.Now()
			keep, err := w.Keep(w.ctx, &block)
			w.looks, w.looking = w.looks+1, w.looking+time.Since(began)
			if err != nil {
				return nil, err
			}
			if !keep {
				continue
			}
		}
		found = append(found, Hit{from + int32(i), block})
	}
	return found, nil
}

// locate finds out which filter of the batch lies in memory that failed. It
// returns nil when that is not a filter, but lines.
func (w *worker) locate(fault error) error {
	lines := false
	for i := range w.batch {
		f := &w.batch[i]
		lines = lines || len(f.Lines) > 0
		sound := false
		_ = w.view.Guard(func() { sound = f.Sound() }) // where the memory fails again it is not
		if !sound {
			return &DamagedError{Block: f.Block, Err: fault}
		}
	}
	if !lines {
		return &DamagedError{Block: w.batch[0].Block, Err: fault}
	}
	return nil
}

// malformed returns a [*DamagedError] of the block whose filter a
// [filters.BatchError] names; any other error stays.
func (w *worker) malformed(err error) error {
	if err == nil {
		return nil // without a pointer that escapes
	}
	var bad *filters.BatchError
	if errors.As(err, &bad) {
		return &DamagedError{Block: w.batch[bad.Index].Block, Err: err}
	}
	return err
}

// resize returns a slice of n elements, of the same array where it is enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
