package e2e_test

import (
	"math/rand/v2"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// A coordinator that stands still during a scan for longer than its worker nodes wait for
// it gives the same result as a lone node when it goes on. The worker nodes forget
// a killed coordinator at once, and stop its work.
func TestClusterFrontEnds(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	l := newLongCluster(t, 2)
	objects := manyScripts(rand.New(rand.NewPCG(10, 10)), 40_000)
	want := scanner(objects, 0, l.blocks, nil)(l.lone)
	got := make(chan any, 1)
	begin := func() {
		l.Helper()
		before := l.units()
		coordinator := l.coordinator
		go func() {
			var found any
			if err := coordinator.Call(t.Context(), &found, "scanblocks", "start", objects, 0, l.blocks); err != nil {
				found = err
			}
			got <- found
		}()
		e2e.Eventually(t, time.Minute, "worker nodes work", func() bool { return l.units() > before })
	}
	begin()
	l.coordinator.Signal(syscall.SIGSTOP)
	forgotten := func() bool { return l.served() == [2]int{} }
	e2e.Eventually(t, time.Minute, "the worker nodes forget the coordinator", forgotten)
	l.coordinator.Signal(syscall.SIGCONT)
	if found := <-got; !reflect.DeepEqual(found, want) {
		t.Errorf("after it stood still: got %.300v, want %.300v", found, want)
	}
	l.up(2)
	begin()
	l.coordinator.Kill()
	<-got
	e2e.Eventually(t, 5*time.Second, "the worker nodes forget the coordinator", forgotten)
	l.idle("for a coordinator that has ended")
	l.coordinator.Restart()
	l.up(2)
	l.same("a scan when the coordinator has started again", scanner(objects, 0, l.blocks, nil))
}

// served is how many coordinators and scans the worker nodes work for.
func (l *longCluster) served() (n [2]int) {
	l.Helper()
	for _, m := range l.workerNodes {
		var info struct{ Fronts, Scans int }
		m.Get(&info, "getclusterinfo")
		n[0], n[1] = n[0]+info.Fronts, n[1]+info.Scans
	}
	return n
}
