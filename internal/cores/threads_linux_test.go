package cores

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Work given to a thread begins on another core than the caller's, and may go
// to any core.
func TestWorkerOnAnotherCore(t *testing.T) {
	threads := NewWorkerThreads()
	defer threads.Close()
	c := threads.all
	if len(c) < 2 {
		t.Skip("one core, or fewer than the system has")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	only.Set(c[0].cpu)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.SchedSetaffinity(0, &before) }()
	for _, h := range c { // all wait
		for !h.free.Load() {
			runtime.Gosched()
		}
	}
	var allowed unix.CPUSet
	done := make(chan error)
	if !threads.take(func() { done <- unix.SchedGetaffinity(0, &allowed) }) {
		t.Fatal("nobody is free")
	}
	if err := <-done; err != nil || allowed != before {
		t.Errorf("%v, bound to %d of %d cores", err, allowed.Count(), before.Count())
	}
	if !c[0].free.Load() {
		t.Error("the thread on the caller's own core was taken")
	}
}

// If the waiting thread is bound to other cores meanwhile, this binding stays.
func TestBindLeavesWhatOthersSet(t *testing.T) {
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil || before.Count() < 2 {
		t.Skip("one core")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func() { _ = unix.SchedSetaffinity(0, &before) }()
	var list []int
	for cpu := 0; len(list) < 2; cpu++ {
		if before.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	var now, other unix.CPUSet
	unbind := bind(list[0])
	if err := unix.SchedGetaffinity(0, &now); err != nil || now.Count() != 1 || !now.IsSet(list[0]) {
		t.Fatalf("%v, bound to %d cores", err, now.Count())
	}
	unbind()
	if err := unix.SchedGetaffinity(0, &now); err != nil || now != before {
		t.Errorf("%v, %d cores afterwards, %d before", err, now.Count(), before.Count())
	}
	unbind = bind(list[0])
	other.Set(list[1])
	if err := unix.SchedSetaffinity(0, &other); err != nil {
		t.Fatal(err)
	}
	unbind()
	if err := unix.SchedGetaffinity(0, &now); err != nil || now != other {
		t.Errorf("%v, what was set meanwhile is lost", err)
	}
}
