package rpc

import (
	"math"
	"testing"
)

// Numbers of workers and places that nobody has are no reason to fail.
func TestWorkersOfAnyNumber(t *testing.T) {
	for _, n := range []int{math.MinInt, -1, 0, 1, math.MaxInt} {
		w := newWorkers(n, n)
		if cap(w.running) < 1 || cap(w.waiting) < 1 || cap(w.idle) != cap(w.running)+cap(w.waiting) || !w.enter() {
			t.Errorf("%d: %d run, %d wait, %d idle", n, cap(w.running), cap(w.waiting), cap(w.idle))
		}
	}
}
