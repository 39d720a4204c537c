package cores

import (
	"sync"
	"sync/atomic"
)

// A Prefetch has work done before it is asked for: other goroutines take pieces of work from
// a source and do them while the results before are used. The results come in the order of
// the source. How many wait, and how much memory, is bounded.
//
// [Prefetch.Take] has one user at a time.
type Prefetch[T any] struct {
	source func() (Piece[T], bool)
	limit  int64

	turn     chan struct{} // held while the source is asked
	ended    bool          // the source has ended; changed with turn held
	line     chan *made[T] // in the order of the source
	used     atomic.Int64  // bytes of pieces that were begun and not given back
	released chan struct{} // used has become less

	stop    chan struct{}
	stopped sync.Once
	group   sync.WaitGroup

	head  *made[T] // taken from line, and waited for; of the user
	taken int64    // bytes of what the user has
}

// A Piece is a piece of work, and how many bytes it counts for until the result after its
// own is asked for.
type Piece[T any] struct {
	Work func() T
	Size int64
}

// made is a result that is there when done is closed.
type made[T any] struct {
	value  T
	size   int64
	failed error // a *Panic
	done   chan struct{}
}

// StartPrefetch starts the work, on at most [Count] less one goroutines, but on one at least.
// At most items pieces are begun and not taken; if each has more than limit bytes, only
// one. The source is asked by one goroutine at a time, in its turn, until it reports false;
// then one piece may count beyond the limit. [Prefetch.Close] ends it.
func StartPrefetch[T any](items int, limit int64, source func() (Piece[T], bool)) *Prefetch[T] {
	a := &Prefetch[T]{
		source: source, limit: limit, turn: make(chan struct{}, 1), line: make(chan *made[T], max(items-1, 0)),
		released: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	for range max(1, min(Count()-1, items)) {
		a.group.Go(a.run)
	}
	return a
}

func (a *Prefetch[T]) run() {
	for {
		select {
		case a.turn <- struct{}{}:
		case <-a.stop:
			return
		}
		item, work := a.begin()
		<-a.turn
		if item == nil {
			return
		}
		if item.failed == nil {
			item.failed = Catch(func() error {
				item.value = work()
				return nil
			})
		}
		close(item.done)
	}
}

// begin puts the next piece in the line, nil after the last. It holds turn.
func (a *Prefetch[T]) begin() (item *made[T], work func() T) {
	if a.ended {
		return nil, nil
	}
	var piece Piece[T]
	more := false
	failed := Catch(func() error {
		piece, more = a.source()
		return nil
	})
	a.ended = !more // also after a panic
	if !more && failed == nil {
		close(a.line)
		return nil, nil
	}
	if !a.reserve(piece.Size) {
		return nil, nil
	}
	item = &made[T]{size: piece.Size, failed: failed, done: make(chan struct{})}
	select {
	case a.line <- item:
	case <-a.stop:
		return nil, nil
	}
	if a.ended {
		close(a.line)
	}
	return item, piece.Work
}

// reserve waits until there is room for so many bytes, and reports false when it ends
// before.
func (a *Prefetch[T]) reserve(size int64) bool {
	for {
		if used := a.used.Load(); used == 0 || used+size <= a.limit {
			a.used.Add(size)
			return true
		}
		select {
		case <-a.released:
		case <-a.stop:
			return false
		}
	}
}

// Take returns the next result, and gives back the room of the one before. It reports false
// after the last one, and when stop is closed before there is one: what was waited for
// comes with the next call then. A panic of the work or the source becomes the caller's, in
// its turn: its value is a [*Panic].
func (a *Prefetch[T]) Take(stop <-chan struct{}) (value T, ok bool) {
	if a.taken > 0 {
		a.used.Add(-a.taken)
		a.taken = 0
		select {
		case a.released <- struct{}{}:
		default:
		}
	}
	if a.head == nil {
		select {
		case a.head = <-a.line:
		case <-stop:
		}
	}
	if a.head == nil {
		return value, false
	}
	select {
	case <-a.head.done:
	case <-stop:
		return value, false
	}
	item := a.head
	a.head, a.taken = nil, item.size
	if item.failed != nil {
		panic(item.failed)
	}
	return item.value, true
}

// Close ends the work and returns when no goroutine is left. Results that were not taken
// are lost. It may be called again.
func (a *Prefetch[T]) Close() {
	a.stopped.Do(func() { close(a.stop) })
	a.group.Wait()
}
