package match

import (
	"context"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/cores"
)

// A Fetcher is a [View] of filters in mapped files. Reading pages that are not in memory
// costs more than the wait for the disk: the core waits too. Once that happens readers
// go ahead of the workers, and the workers wait for the readers.
type Fetcher interface {
	// Faults returns how many times the process has waited for the disk where it read
	// mapped memory. It only grows.
	Faults() int64

	// Fetch reads into memory what a pass looks at in a range of heights of the
	// active chain. It returns when that is done, or soon after ctx has ended. With
	// restrict the scripts are restricted first. The result is about how many bytes
	// were not in memory before.
	Fetch(ctx context.Context, h Heights, q *filters.Query, by filters.Method, restrict bool) (missing int)
}

const (
	// prefetchReaders is how many goroutines prefetch: while some wait for what tells
	// them what else to read, others keep the disk busy.
	prefetchReaders = 4

	// prefetchBlocks is how many blocks a reader reads at a time, where the query is not
	// restricted.
	prefetchBlocks = 1024

	// prefetchPieces is how many pieces that no worker was given may be read or in
	// memory. With full blocks a restricted piece has 46 MB, others at most half.
	prefetchPieces = 4

	// prefetchIdle is after how many pieces in a row that were in memory readers end.
	prefetchIdle = 4
)

// prefetch is what a pass knows of its readers, with its mutex held.
type prefetch struct {
	on      bool
	next    int32         // first height that no reader was given
	pieces  []*piece      // given to readers, ascending, and not all given to workers
	idle    int           // pieces in a row that were in memory
	changed chan struct{} // closed when any of it, or the pass's next height, changes
}

// piece is what a reader reads at a time.
type piece struct {
	Heights
	read bool
}

// change wakes all waiting goroutines.
func (a *prefetch) change() {
	if a.on {
		close(a.changed)
		a.changed = make(chan struct{})
	}
}

// frontier returns up to which height readers are done.
func (a *prefetch) frontier() int32 {
	for _, p := range a.pieces {
		if !p.read {
			return p.From
		}
	}
	return a.next
}

// passed forgets the pieces before a height.
func (a *prefetch) passed(height int32) {
	for len(a.pieces) > 0 && a.pieces[0].read && a.pieces[0].To <= height {
		a.pieces = a.pieces[1:]
	}
}

// waiting returns how many pieces there are that no worker was given.
func (a *prefetch) waiting(next int32) (n int) {
	for _, p := range a.pieces {
		if p.To > next {
			n++
		}
	}
	return n
}

// watch starts readers when the worker has waited for the disk and there are none.
func (w *worker) watch() {
	if w.fetcher == nil {
		return
	}
	faults := w.fetcher.Faults()
	waited := faults > w.faults
	w.faults = faults
	if !waited {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.prefetch.on || w.Pass.next > w.Stop.Height {
		return
	}
	w.prefetch = prefetch{on: true, next: w.Pass.next, changed: make(chan struct{})}
	for range prefetchReaders {
		w.readers.Add(1)
		cores.Start(nil).Go(func() { // a core does not matter: it waits for the disk
			defer w.readers.Done()
			w.read()
		})
	}
}

// read is the loop of a reader. Its errors are not reported: a worker reads by itself what
// was not prefetched.
func (w *worker) read() {
	err := cores.Catch(func() error {
		view := w.Source.View()
		defer view.Release()
		fetcher, ok := view.(Fetcher)
		for ok {
			p := w.takePiece(view)
			if p == nil {
				break
			}
			missing := fetcher.Fetch(w.reading, p.Heights, w.Query, w.Method, w.restricts())
			w.haveRead(p, missing)
		}
		return w.reading.Err()
	})
	if err != nil {
		w.endReaders()
	}
}

// endReaders ends all readers; workers no longer wait for readers.
func (p *Pass) endReaders() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prefetch.change()
	p.prefetch.on = false
}

// takePiece gives a reader the next piece, when workers have come near enough; nil when
// readers are to end.
func (w *worker) takePiece(view View) *piece {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := &w.prefetch
	for a.on && w.reading.Err() == nil && a.next <= w.Stop.Height {
		if a.passed(w.Pass.next); a.waiting(w.Pass.next) < prefetchPieces {
			p := &piece{Heights: Heights{a.next, min(w.pieceEnd(view, a.next), w.Stop.Height+1)}}
			a.pieces, a.next = append(a.pieces, p), p.To
			return p
		}
		w.waitChange(w.reading)
	}
	return nil
}

// pieceEnd returns where a piece that begins at a height ends.
func (w *worker) pieceEnd(view View, from int32) int32 {
	if w.restricts() {
		if known := view.RangeEnd(from); known > from {
			return known
		}
	}
	return from + prefetchBlocks
}

// haveRead notes that a piece is in memory.
func (p *Pass) haveRead(piece *piece, missing int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &p.prefetch
	piece.read = true
	if a.idle++; missing > 0 {
		a.idle = 0
	}
	a.change()
	a.on = a.on && a.idle < prefetchIdle
}

// awaitRead waits until a unit is in memory, if it is being read.
func (w *worker) awaitRead(unit Heights) {
	if !w.mustWait(unit) {
		return
	}
	Outside(w.ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for w.prefetch.on && unit.To > w.prefetch.frontier() && w.ctx.Err() == nil {
			w.waitChange(w.ctx)
		}
	})
}

func (w *worker) mustWait(unit Heights) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.prefetch.on && unit.To > w.prefetch.frontier()
}

// waitChange waits for a change or the end of ctx, without the mutex, which is held.
func (p *Pass) waitChange(ctx context.Context) {
	changed := p.prefetch.changed
	p.mu.Unlock()
	defer p.mu.Lock()
	select {
	case <-changed:
	case <-ctx.Done():
	}
}
