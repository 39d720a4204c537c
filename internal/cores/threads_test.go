package cores

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Everything that is started is done once, however much there is at a time.
func TestWorkerThreads(t *testing.T) {
	threads := NewWorkerThreads()
	for range 200 {
		var done atomic.Int32
		var group sync.WaitGroup
		work := func() { done.Add(1); group.Done() }
		const n = 5
		group.Add(n)
		for range n {
			threads.Start(work)
		}
		group.Wait()
		if got := done.Load(); got != n {
			t.Fatalf("%d pieces of work done, want %d", got, n)
		}
	}
	threads.Close()
	var nobody *WorkerThreads
	done := make(chan struct{})
	nobody.Start(func() { close(done) })
	<-done
}
