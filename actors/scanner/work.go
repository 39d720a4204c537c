package scanner

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
)

const (
	// unitTime is how long a worker aims to match before it looks whether the
	// scan has ended, and lets others run: half of what an abort may wait for
	// at most beyond the time of a single filter.
	unitTime = time.Millisecond

	// maxUnit bounds the filters of a unit, so that their slice headers stay in
	// the processor's cache.
	maxUnit = 512

	// firstUnit is the size of a worker's first unit, before its speed is known.
	firstUnit = 16
)

// DamagedError is a stored filter that cannot be read, and may be re-made.
type DamagedError struct {
	Block chainhash.Hash
	Err   error
}

// Error implements error.
func (e *DamagedError) Error() string { return fmt.Sprintf("filter of block %v: %v", e.Block, e.Err) }

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

// worker is what one goroutine matches with.
type worker struct {
	*scan
	view    View
	matcher *filters.Matcher
	batch   []filters.Filter
	hits    []bool
}

// work matches the given unit, if it is not empty, and then others until nothing
// is left or the scan has ended. On an error it returns the unit that it could
// not match: that one waits, as not done, for a worker with a view of its own
// that is younger than the repair.
func (s *scan) work(unit heights) (left heights, err error) {
	w := &worker{scan: s, view: s.cfg.Source.View(), matcher: filters.NewMatcher(s.query)}
	defer w.view.Release()
	size := int32(firstUnit)
	if unit.empty() {
		unit = s.take(size)
	}
	for ; !unit.empty() && s.ctx.Err() == nil; unit = s.take(size) {
		began := time.Now()
		found, err := w.match(unit)
		if err != nil {
			return unit, err
		}
		s.done(unit, found)
		size = nextSize(unit.to-unit.from, time.Since(began))
		runtime.Gosched()
	}
	return heights{}, nil
}

// nextSize returns how many filters take about unitTime, if n took elapsed.
func nextSize(n int32, elapsed time.Duration) int32 {
	fit := int64(n) * int64(unitTime) / max(int64(elapsed), 1)
	return int32(min(max(fit, 1), int64(n)*4, maxUnit))
}

// match returns the blocks of a unit that are relevant.
func (w *worker) match(unit heights) ([]matched, error) {
	n := int(unit.to - unit.from)
	w.batch, w.hits = resize(w.batch, n), resize(w.hits, n)
	for b, i := w.stop.Ancestor(unit.to-1), n-1; i >= 0; b, i = b.Parent, i-1 {
		w.batch[i] = filters.Filter{Block: b.Hash}
	}
	if err := w.view.Filters(unit.from, w.batch); err != nil {
		return nil, err
	}
	var matchErr error
	if err := w.view.Guard(func() { matchErr = w.matcher.Match(w.batch, w.hits) }); err != nil {
		return nil, w.locate(unit.from, err)
	}
	if matchErr != nil {
		return nil, w.malformed(matchErr)
	}
	return w.relevant(unit.from)
}

func (w *worker) relevant(from int32) ([]matched, error) {
	var found []matched
	for i, hit := range w.hits {
		if !hit {
			continue
		}
		block := w.batch[i].Block
		if w.check {
			if w.ctx.Err() != nil {
				return nil, w.ctx.Err()
			}
			in, err := inBlock(w.query, w.reader, w.cfg.HeaderLen, &block)
			if err != nil {
				return nil, err
			}
			if !in {
				continue
			}
		}
		found = append(found, matched{from + int32(i), block})
	}
	return found, nil
}

// inBlock tells a true match from a false one.
func inBlock(q *filters.Query, reader chainview.Reader, headerLen int, block *chainhash.Hash) (bool, error) {
	raw, err := reader.Raw(block)
	if err != nil {
		return false, err
	}
	spent, err := reader.SpentScripts(block)
	if err != nil {
		return false, err
	}
	return q.InBlock(raw, headerLen, spent)
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
