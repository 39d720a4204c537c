package cores

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Crew are goroutines that wait for work, each in a thread that is bound to a
// core as long as it waits, so that this is where it is woken. At work it is bound
// to none.
type Crew struct {
	hands  []*hand
	group  sync.WaitGroup
	closed atomic.Bool
}

// NewCrew starts a crew with one for each core. Where the process may use fewer
// cores than it may run on, nobody is in it: the system knows better which are idle.
func NewCrew() *Crew {
	c := new(Crew)
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() != Count() || Count() < 2 {
		return c
	}
	for cpu := range 8 * int(unsafe.Sizeof(all)) {
		if !all.IsSet(cpu) {
			continue
		}
		bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		if err != nil {
			break
		}
		h := &hand{cpu: cpu, all: all, bell: bell}
		c.hands = append(c.hands, h)
		c.group.Go(h.serve)
	}
	return c
}

// Close ends the crew, once what it does is done. Nobody may be giving it work
// meanwhile.
func (c *Crew) Close() {
	if c.closed.Swap(true) {
		return
	}
	for _, h := range c.hands {
		h.closing.Store(true)
		h.ring()
	}
	c.group.Wait()
	for _, h := range c.hands {
		_ = unix.Close(h.bell)
	}
}

// take gives work to one on another core, if one is free.
func (c *Crew) take(work func()) bool {
	if c == nil || len(c.hands) == 0 || c.closed.Load() {
		return false
	}
	here := currentCore()
	for _, h := range c.hands {
		if h.cpu != here && h.give(work) {
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

// hand is one of a crew.
type hand struct {
	cpu     int
	all     unix.CPUSet // the cores of the process
	bell    int         // an eventfd
	free    atomic.Bool // waits; changed to false with mu held
	closing atomic.Bool

	mu   sync.Mutex
	work func()
}

// give gives work to a hand that is free.
func (h *hand) give(work func()) bool {
	if !h.free.Load() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.free.CompareAndSwap(true, false) {
		return false
	}
	h.work = work
	h.ring()
	return true
}

func (h *hand) serve() {
	for h.wait() == nil && !h.closing.Load() {
		h.do()
		runtime.Gosched() // who hears of what was done goes first
	}
	h.do() // what was given while this ended
}

// do takes no more work, and does what was given.
func (h *hand) do() {
	h.mu.Lock()
	h.free.Store(false)
	work := h.work
	h.work = nil
	h.mu.Unlock()
	if work != nil {
		work()
	}
}

// wait returns when the hand has work, or is to end.
func (h *hand) wait() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var here unix.CPUSet
	here.Set(h.cpu)
	_ = unix.SchedSetaffinity(0, &here) // fails for a core that is gone
	defer func() { _ = unix.SchedSetaffinity(0, &h.all) }()
	h.free.Store(true)
	var count [8]byte
	for {
		// A read that blocks in the system, and not in Go, whose scheduler would
		// choose a thread anew.
		if _, err := unix.Read(h.bell, count[:]); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// ring wakes a hand. It cannot fail for an eventfd whose count is small.
func (h *hand) ring() {
	one := [8]byte{1}
	_, _ = unix.Write(h.bell, one[:])
}
