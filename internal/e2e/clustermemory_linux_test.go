package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// A worker node that is stopped while scripts are sent to it costs neither the coordinator nor the other worker
// node memory: the data that waits for it is bounded. The coordinator takes no more than a lone node, and one copy
// of the scripts. A long test has five million scripts.
func TestClusterMemory(t *testing.T) {
	e2e.SkipUnderRace(t, "that takes most of the memory")
	t.Parallel()
	l := newLongCluster(t, 2)
	rng := rand.New(rand.NewPCG(8, 8))
	scripts, from, garbage := 60_000, 0, 64
	objects := func() any { return manyScripts(rng, scripts) }
	if count(t, "TRAWL_SOAK", 0) > 0 {
		const ranges, each = 5, 1_000_000
		scripts, from, garbage = ranges*each, l.blocks-200, 32
		next := 0
		objects = func() any { // different ones each time
			var list []any
			for range ranges {
				next++
				desc := strings.Replace(ownDescriptor, "/0/*", fmt.Sprintf("/%d/*", next), 1)
				list = append(list, map[string]any{"desc": desc, "range": []int{0, each - 1}})
			}
			return list
		}
		for i, m := range l.workerNodes {
			memory := "-clustermem=600" // of one scan
			l.workerNodes[i] = l.again(m, "-clusterlisten="+l.at[i], "-clustersecret="+l.secret, memory)
		}
		l.up(2)
	}
	peaks := func(by *e2e.Daemon, of ...*e2e.Daemon) (most []int) {
		for _, d := range of {
			forgetPeak(t, d)
		}
		var got struct{ Completed bool }
		if by.Get(&got, "scanblocks", "start", objects(), from); !got.Completed {
			t.Error("a scan is not complete")
		}
		for _, d := range of {
			most = append(most, peakMB(d))
		}
		return most
	}
	peaks(l.lone) // so that it has grown before
	lone := peaks(l.lone, l.lone)[0]
	peaks(l.coordinator)
	before := peaks(l.coordinator, l.coordinator, l.workerNodes[0])
	units := l.units()
	l.workerNodes[1].Signal(syscall.SIGSTOP)
	after := peaks(l.coordinator, l.coordinator, l.workerNodes[0])
	l.workerNodes[1].Signal(syscall.SIGCONT)
	copied := scripts * 23 >> 20
	t.Logf("both took %v MB, beside a worker node that was stopped %v; a lone node %d MB; the scripts are %d MB",
		before, after, lone, copied)
	for i := range before {
		if after[i] > before[i]+32 {
			t.Errorf("node %d took %d MB, beside a worker node that was stopped %d", i, before[i], after[i])
		}
	}
	if most := lone + copied + garbage; after[0] > most {
		t.Errorf("the coordinator took %d MB, at most %d", after[0], most)
	}
	if l.units() == units {
		t.Error("the worker node that was not stopped has done nothing")
	}
}

// A worker node that gets no more memory ends, as the system's killer would end it. The scan does not need it.
func TestClusterMemberOutOfMemory(t *testing.T) {
	e2e.SkipUnderRace(t, "memory cannot be limited")
	t.Parallel()
	l := newLongCluster(t, 2)
	rng := rand.New(rand.NewPCG(11, 11))
	scan := func() func(d *e2e.Daemon) any { return scanner(manyScripts(rng, 100_000), l.blocks-300, l.blocks, nil) }
	l.workerNodes[0].LimitMemory(0)
	for range 20 { // it keeps the scripts of each
		if l.same("a scan with a worker node that has no memory", scan()); l.workerNodes[0].HasEnded() {
			break
		}
	}
	if text := l.workerNodes[0].Stderr(); !l.workerNodes[0].HasEnded() || !strings.Contains(text, "memory") {
		t.Fatalf("the worker node has not ended, or not for that: %.300s", text)
	}
	l.workerNodes[0].Restart()
	l.up(2)
	l.same("a scan with the worker node again", scan())
}

// forgetPeak begins anew with what a process takes at most.
func forgetPeak(tb testing.TB, d *e2e.Daemon) {
	tb.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", d.PID()), []byte("5"), 0); err != nil {
		tb.Fatal(err)
	}
}
