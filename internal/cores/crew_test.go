package cores

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Everything that is spread is done once, however much there is at a time.
func TestSpread(t *testing.T) {
	crew := NewCrew()
	for range 200 {
		var done atomic.Int32
		var group sync.WaitGroup
		work := func() { done.Add(1); group.Done() }
		const n = 5
		group.Add(n)
		for range n {
			crew.Spread(work)
		}
		group.Wait()
		if got := done.Load(); got != n {
			t.Fatalf("%d pieces of work done, want %d", got, n)
		}
	}
	crew.Close()
	var nobody *Crew
	done := make(chan struct{})
	nobody.Spread(func() { close(done) })
	<-done
}
