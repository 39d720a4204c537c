package rpc

import (
	"math"
	"strings"
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

// While calls wait for workers, batches of 16 control calls are answered, longer ones are not.
func TestControlBatches(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p", Threads: 1, WorkQueue: 1})
	s.Ready(blockerTable(t, newBlocker()))
	s.workers.running <- struct{}{}
	s.workers.waiting <- struct{}{}
	c := newClient(t, s)
	list := func(one string, n int) string { return "[" + strings.Repeat(one+",", n-1) + one + "]" }
	c.want(t, list(v2Call("status"), maxControlBatch),
		"200 "+list(`{"jsonrpc":"2.0","result":"fine","id":1}`, maxControlBatch))
	c.want(t, list(v2Call("status"), maxControlBatch+1), "503 Work queue depth exceeded")
}
