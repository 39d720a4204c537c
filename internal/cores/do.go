package cores

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Start starts a goroutine. Nil stands for the go statement; see [WorkerThreads.Start] for
// another.
type Start func(work func())

// Go starts work.
func (s Start) Go(work func()) {
	if s == nil {
		go work()
		return
	}
	s(work)
}

// Do calls work once with each number below n, on at most [Count] goroutines, of
// which the caller's is one. The numbers are handed out in ascending order. After an
// error, a panic, or the end of ctx no more of them are, and Do returns when what was
// begun has ended.
//
// It returns the error of the lowest number that failed, however fast each is.
// Without such an error, it returns the cause of ctx's end if that came before
// everything was begun. A panic of work, a fault of mapped memory included, becomes
// the caller's: its value is a [*Panic].
func Do(ctx context.Context, n int, work func(i int) error) error {
	return DoIn(ctx, nil, n, 1, func(from, _ int) error { return work(from) })
}

// DoIn is [Do] with another way to start goroutines, for work on ranges [from, to)
// of share numbers each; the last may have fewer.
func DoIn(ctx context.Context, start Start, n, share int, work func(from, to int) error) error {
	return doIn(ctx, start, Count(), n, share, work)
}

// Wait is [DoIn] on up to most goroutines, however many cores there are: for work that
// waits for something else than a core, as a disk that serves many at once.
func Wait(ctx context.Context, most, n, share int, work func(from, to int) error) error {
	return doIn(ctx, nil, most, n, share, work)
}

func doIn(ctx context.Context, start Start, most, n, share int, work func(from, to int) error) error {
	if n <= 0 {
		return nil
	}
	d := doing{n: n, share: max(1, share), work: work}
	var group sync.WaitGroup
	for range min(most, (n-1)/d.share+1) - 1 {
		group.Add(1)
		start.Go(func() {
			defer group.Done()
			d.take(ctx)
		})
	}
	d.take(ctx)
	group.Wait()
	switch {
	case d.panicked != nil:
		panic(d.panicked)
	case d.err != nil:
		return d.err
	case int(d.next.Load()) < n:
		return context.Cause(ctx)
	}
	return nil
}

// doing is the state of one [DoIn].
type doing struct {
	n, share int
	work     func(from, to int) error
	next     atomic.Int64 // the lowest number that nobody has taken
	ended    atomic.Bool  // something failed

	mu       sync.Mutex
	err      error
	failed   int // where err is from
	panicked *Panic
}

// take works until there is nothing to take.
func (d *doing) take(ctx context.Context) {
	for ctx.Err() == nil && !d.ended.Load() {
		from := int(d.next.Add(int64(d.share))) - d.share
		if from >= d.n {
			return
		}
		if err := Catch(func() error { return d.work(from, min(from+d.share, d.n)) }); err != nil {
			d.fail(from, err)
		}
	}
}

func (d *doing) fail(at int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended.Store(true)
	var p *Panic
	switch {
	case errors.As(err, &p):
		d.panicked = p
	case d.err == nil || at < d.failed:
		d.err, d.failed = err, at
	}
}

// A Panic is what work ended with in another goroutine, and where.
type Panic struct {
	Value any
	Stack string // of the goroutine that panicked
}

// Error returns the value and the stack, which is what a log needs.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

// Unwrap returns the value, where it is an error, say a runtime.Error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Catch calls work and returns its error, or its panic as a [*Panic]: for whoever
// starts goroutines in another way than [Do] and has to hand their panics on. A
// fault of mapped memory, say of a file that was cut short, is a panic within work
// and does not end the process.
func Catch(work func() error) (err error) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		if inner, ok := value.(*Panic); ok {
			err = inner // where it began says more than where it was handed on
			return
		}
		err = &Panic{Value: value, Stack: string(debug.Stack())}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return work()
}
