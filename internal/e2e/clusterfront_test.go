package e2e_test

import (
	"math/rand/v2"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// A front that stands still during a scan for longer than its members wait for
// it gives the same result as a lone node when it goes on. The members forget
// a killed front at once, and stop its work.
func TestClusterFrontEnds(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	l := newLongCluster(t, 2)
	objects := manyScripts(rand.New(rand.NewPCG(10, 10)), 100_000)
	want := scanner(objects, 0, l.blocks, nil)(l.lone)
	got := make(chan any, 1)
	begin := func() {
		l.Helper()
		before := l.units()
		front := l.front
		go func() {
			var found any
			if err := front.Call(t.Context(), &found, "scanblocks", "start", objects, 0, l.blocks); err != nil {
				found = err
			}
			got <- found
		}()
		e2e.Eventually(t, time.Minute, "members work", func() bool { return l.units() > before })
	}
	begin()
	l.front.Signal(syscall.SIGSTOP)
	e2e.Eventually(t, time.Minute, "the members forget the front", func() bool { return l.served() == [2]int{} })
	l.front.Signal(syscall.SIGCONT)
	if found := <-got; !reflect.DeepEqual(found, want) {
		t.Errorf("after it stood still: got %.300v, want %.300v", found, want)
	}
	l.up(2)
	begin()
	l.front.Kill()
	<-got
	e2e.Eventually(t, 5*time.Second, "the members forget the front", func() bool { return l.served() == [2]int{} })
	l.idle("for a front that has ended")
	l.front.Restart()
	l.up(2)
	l.same("a scan when the front has started again", scanner(objects, 0, l.blocks, nil))
}

// served is how many fronts and scans the members work for.
func (l *longCluster) served() (n [2]int) {
	l.Helper()
	for _, m := range l.members {
		var info struct{ Fronts, Scans int }
		m.Get(&info, "getclusterinfo")
		n[0], n[1] = n[0]+info.Fronts, n[1]+info.Scans
	}
	return n
}
