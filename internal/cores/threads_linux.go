package cores

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// WorkerThreads are goroutines that wait for work. Each waits in a thread that is bound
// to a core meanwhile, and is therefore woken on this core. At work it may run where
// the process may. They are for a program that has the machine to itself, not for
// libraries.
type WorkerThreads struct {
	all    []*thread
	group  sync.WaitGroup
	closed atomic.Bool
}

// NewWorkerThreads starts a thread for each core. Where the process may use fewer cores
// than it may run on, there are none: the system knows better which are idle.
func NewWorkerThreads() *WorkerThreads {
	t := new(WorkerThreads)
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() != Count() || Count() < 2 {
		return t
	}
	for cpu := range 8 * int(unsafe.Sizeof(all)) {
		if !all.IsSet(cpu) {
			continue
		}
		eventfd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		if err != nil {
			break
		}
		w := &thread{cpu: cpu, eventfd: eventfd}
		t.all = append(t.all, w)
		t.group.Go(w.serve)
	}
	return t
}

// Close ends the threads, once what it does is done. Nobody may be giving it work
// meanwhile.
func (t *WorkerThreads) Close() {
	if t.closed.Swap(true) {
		return
	}
	for _, w := range t.all {
		w.closing.Store(true)
		w.wake()
	}
	t.group.Wait()
	for _, w := range t.all {
		_ = unix.Close(w.eventfd)
	}
}

// take gives work to one on another core, if one is free.
func (t *WorkerThreads) take(work func()) bool {
	if t == nil || len(t.all) == 0 || t.closed.Load() {
		return false
	}
	here := currentCore()
	for _, w := range t.all {
		if w.cpu != here && w.give(work) {
			return true
		}
	}
	return false
}

func currentCore() int {
	var cpu uint32
	if _, _, err := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); err != 0 {
		return -1
	}
	return int(cpu)
}

// thread is one of the WorkerThreads.
type thread struct {
	cpu     int
	eventfd int
	free    atomic.Bool // waits; changed to false with mu held
	closing atomic.Bool

	mu   sync.Mutex
	work func()
}

// give gives work to a thread that is free.
func (w *thread) give(work func()) bool {
	if !w.free.Load() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.free.CompareAndSwap(true, false) {
		return false
	}
	w.work = work
	w.wake()
	return true
}

func (w *thread) serve() {
	for w.wait() == nil && !w.closing.Load() {
		w.do()
		runtime.Gosched() // goroutines that waited for the work go first
	}
	w.do() // what was given while this ended
}

// do takes no more work, and does what was given.
func (w *thread) do() {
	w.mu.Lock()
	w.free.Store(false)
	work := w.work
	w.work = nil
	w.mu.Unlock()
	if work != nil {
		work()
	}
}

// wait returns when the thread has work, or is to end.
func (w *thread) wait() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer bind(w.cpu)()
	w.free.Store(true)
	var count [8]byte
	for {
		// A read that blocks in the system, and not in Go, whose scheduler would
		// choose a thread anew.
		if _, err := unix.Read(w.eventfd, count[:]); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// bind binds the thread to a core, and returns what takes that back, unless somebody
// else has bound the thread meanwhile.
func bind(cpu int) (unbind func()) {
	var before, here unix.CPUSet
	here.Set(cpu)
	if unix.SchedGetaffinity(0, &before) != nil || unix.SchedSetaffinity(0, &here) != nil {
		return func() {} // the core is gone
	}
	return func() {
		var now unix.CPUSet
		if unix.SchedGetaffinity(0, &now) == nil && now == here {
			_ = unix.SchedSetaffinity(0, &before)
		}
	}
}

// wake wakes a thread. It cannot fail for an eventfd whose count is small.
func (w *thread) wake() {
	one := [8]byte{1}
	_, _ = unix.Write(w.eventfd, one[:])
}
