package match

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/seed61375155/trawl/filters"
)

const (
	// unitTime is how long a worker aims to match before it looks whether the
	// pass has ended, and lets others run: half of what an abort may wait for
	// at most beyond the time of a single filter.
	unitTime = time.Millisecond

	// maxUnit bounds the filters of a unit, so that their slice headers stay in
	// the processor's cache.
	maxUnit = 512

	// firstUnit is the size of a worker's first unit, before its speed is known.
	firstUnit = 16
)

// worker is what one goroutine matches with.
type worker struct {
	*Pass
	ctx     context.Context //nolint:containedctx // of the one call that the worker is for
	view    View
	matcher *filters.Matcher
	batch   []filters.Filter
	hits    []bool
}

func newWorker(ctx context.Context, p *Pass) *worker {
	return &worker{Pass: p, ctx: ctx, view: p.Source.View(), matcher: filters.NewMatcher(p.Query)}
}

// run is [Pass.Work].
func (w *worker) run(unit Heights) (left Heights, err error) {
	defer w.view.Release()
	size := int32(firstUnit)
	if unit.Empty() {
		unit = w.take(size)
	}
	for ; !unit.Empty() && w.ctx.Err() == nil; unit = w.take(size) {
		began := time.Now()
		found, err := w.match(unit)
		if err != nil {
			return unit, err
		}
		w.done(unit, found)
		size = nextSize(unit.To-unit.From, time.Since(began))
		runtime.Gosched()
	}
	return Heights{}, nil
}

// nextSize returns how many filters take about unitTime, if n took elapsed.
func nextSize(n int32, elapsed time.Duration) int32 {
	fit := int64(n) * int64(unitTime) / max(int64(elapsed), 1)
	return int32(min(max(fit, 1), int64(n)*4, maxUnit))
}

// match returns the hits of a unit.
func (w *worker) match(unit Heights) ([]Hit, error) {
	n := int(unit.To - unit.From)
	w.batch, w.hits = resize(w.batch, n), resize(w.hits, n)
	for b, i := w.Stop.Ancestor(unit.To-1), n-1; i >= 0; b, i = b.Parent, i-1 {
		w.batch[i] = filters.Filter{Block: b.Hash}
	}
	if err := w.view.Filters(unit.From, w.batch); err != nil {
		return nil, err
	}
	var matchErr error
	if err := w.view.Guard(func() { matchErr = w.matcher.Match(w.batch, w.hits) }); err != nil {
		return nil, w.locate(unit.From, err)
	}
	if matchErr != nil {
		return nil, w.malformed(matchErr)
	}
	return w.kept(unit.From)
}

// kept returns the blocks of a unit that matched, less those that are not kept.
func (w *worker) kept(from int32) ([]Hit, error) {
	var found []Hit
	for i, hit := range w.hits {
		if !hit {
			continue
		}
		block := w.batch[i].Block
		if w.Keep != nil {
			if w.ctx.Err() != nil {
				return nil, w.ctx.Err()
			}
			keep, err := w.Keep(&block)
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

// locate finds out which filter of the batch lies in memory that failed.
func (w *worker) locate(from int32, fault error) error {
	for i := range w.batch {
		if err := w.view.Filters(from+int32(i), w.batch[i:i+1]); err != nil {
			return err
		}
	}
	return &DamagedError{Block: w.batch[0].Block, Err: fault}
}

// malformed names the block of a filter that is not the one that was stored.
func (w *worker) malformed(err error) error {
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
