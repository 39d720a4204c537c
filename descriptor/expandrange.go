package descriptor

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/seed61375155/trawl/internal/cores"
)

// A chunk is what is derived together. It is large enough to share field
// inversions, and small enough (a millisecond or two) to keep all workers busy.
const (
	maxChunkIndices = 64
	maxChunkKeys    = 512
)

// ExpandRange calls visit with the scripts of each index from first to last,
// both included, in ascending order and in the caller's goroutine. For
// descriptors that are not ranged it visits index 0 once, whatever the range.
// The callback visit may keep the scripts but must not change any. An error of
// visit ends the expansion and is returned.
//
// Keys are derived by the given number of goroutines, or by the caller's own
// for less than two; what they have in common is derived once. Memory does not
// grow with the range.
//
// Errors: [ErrNeedsPrivateKey], [ErrNotDerivable], the errors of
// [CheckRange], that of the context, that of visit.
func (d *Descriptor) ExpandRange(
	ctx context.Context, first, last uint32, workers int, visit func(index uint32, scripts [][]byte) error,
) error {
	if !d.IsRanged() {
		return d.expandOnce(ctx, visit)
	}
	if err := CheckRange(int64(first), int64(last)); err != nil {
		return err
	}
	e, err := d.expander()
	if err != nil {
		return err
	}
	r := &rangeExpansion{
		expander: e,
		first:    first,
		count:    int(last-first) + 1,
		size:     min(max(1, maxChunkKeys/max(1, e.ranged)), maxChunkIndices),
		visit:    visit,
	}
	if e.slow {
		r.size = 1
	}
	workers = min(workers, r.chunks())
	if workers < 2 {
		return derivationError(r.alone(ctx))
	}
	return derivationError(r.together(ctx, workers))
}

// expandOnce is ExpandRange of a descriptor that is not ranged.
func (d *Descriptor) expandOnce(ctx context.Context, visit func(index uint32, scripts [][]byte) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	scripts, err := d.Expand(0) //nolint:contextcheck // one index
	if err != nil {
		return err
	}
	return visit(0, scripts)
}

// rangeExpansion is the work of one ExpandRange, cut into chunks of indices.
type rangeExpansion struct {
	*expander

	first uint32
	count int // of indices
	size  int // of a chunk
	visit func(uint32, [][]byte) error
}

func (r *rangeExpansion) chunks() int { return (r.count + r.size - 1) / r.size }

// chunk expands the c-th chunk.
func (r *rangeExpansion) chunk(ctx context.Context, w *worker, c int) ([][][]byte, error) {
	runtime.Gosched() // a large range must not keep a node's other goroutines waiting
	start := c * r.size
	return w.expand(ctx, r.first+uint32(start), min(r.size, r.count-start))
}

func (r *rangeExpansion) deliver(c int, scripts [][][]byte) error {
	index := r.first + uint32(c*r.size)
	for j, s := range scripts {
		if err := r.visit(index+uint32(j), s); err != nil {
			return err
		}
	}
	return nil
}

func (r *rangeExpansion) alone(ctx context.Context) error {
	w, err := r.worker()
	if err != nil {
		return err
	}
	for c := range r.chunks() {
		scripts, err := r.chunk(ctx, w, c)
		if err != nil {
			return err
		}
		if err := r.deliver(c, scripts); err != nil {
			return err
		}
	}
	return nil
}

// chunkResult is what a worker makes of a chunk.
type chunkResult struct {
	scripts [][][]byte
	err     error
}

// together lets workers take chunks in turn and delivers their results in
// order. Workers stay at most len(slots) chunks ahead.
func (r *rangeExpansion) together(ctx context.Context, workers int) error {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()

	slots := make([]chan chunkResult, 2*workers)
	for i := range slots {
		slots[i] = make(chan chunkResult, 1)
	}
	ahead := make(chan struct{}, len(slots)) // one token for each chunk under way
	var next atomic.Int64
	for range workers {
		group.Go(func() { r.work(ctx, &next, ahead, slots) })
	}
	for c := range r.chunks() {
		var result chunkResult
		select {
		case result = <-slots[c%len(slots)]:
		case <-ctx.Done():
			return ctx.Err()
		}
		<-ahead
		var p *cores.Panic
		if errors.As(result.err, &p) {
			panic(p)
		}
		if result.err != nil {
			return result.err
		}
		if err := r.deliver(c, result.scripts); err != nil {
			return err
		}
	}
	return nil
}

// work expands chunks until none is left or the context ends.
func (r *rangeExpansion) work(
	ctx context.Context, next *atomic.Int64, ahead chan struct{}, slots []chan chunkResult,
) {
	var w *worker
	for {
		select {
		case ahead <- struct{}{}:
		case <-ctx.Done():
			return
		}
		c := int(next.Add(1)) - 1
		if c >= r.chunks() {
			return
		}
		// The slot is empty: its last chunk was delivered before there was
		// a token for this one.
		slots[c%len(slots)] <- r.attempt(ctx, &w, c)
	}
}

// attempt expands a chunk, making the worker first if need be. A panic is a result
// too, for the caller's goroutine.
func (r *rangeExpansion) attempt(ctx context.Context, w **worker, c int) (result chunkResult) {
	result.err = cores.Catch(func() (err error) {
		if *w == nil {
			if *w, err = r.worker(); err != nil {
				return err
			}
		}
		result.scripts, err = r.chunk(ctx, *w, c)
		return err
	})
	return result
}
