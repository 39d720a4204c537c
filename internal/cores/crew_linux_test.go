package cores

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Who has been given work is on another core then, and may go to any.
func TestHandOnAnotherCore(t *testing.T) {
	crew := NewCrew()
	defer crew.Close()
	c := crew.hands
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
	if !crew.take(func() { done <- unix.SchedGetaffinity(0, &allowed) }) {
		t.Fatal("nobody is free")
	}
	if err := <-done; err != nil || allowed != before {
		t.Errorf("%v, bound to %d of %d cores", err, allowed.Count(), before.Count())
	}
	if !c[0].free.Load() {
		t.Error("the hand on the caller's own core was taken")
	}
}
