package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// cpuSeconds is the processor time that a process has taken.
func cpuSeconds(tb testing.TB, pid int) float64 {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	ticks := 0
	for _, field := range fields[11:13] { // user and system time
		n, err := strconv.Atoi(field)
		if err != nil {
			tb.Fatal(err)
		}
		ticks += n
	}
	return float64(ticks) / 100
}

// With -clusterlocal=0 the coordinator matches hardly a filter of a scan, and each worker node
// matches a part of the others.
func TestClusterWorkIsElsewhere(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	const workerNodes = 3
	l := newLongCluster(t, workerNodes)
	objects := manyScripts(rand.New(rand.NewPCG(2, 2)), 30_000)
	nodes := append([]*e2e.Daemon{l.lone, l.coordinator}, l.workerNodes...)
	scanner(objects, 0, l.blocks, nil)(l.coordinator) // which sends the worker nodes the scripts
	// matched is how many filters a node has matched since it started.
	matched := func(d *e2e.Daemon) float64 {
		return metricsAt(t, l.metrics[d])["trawl_match_filters_total"]
	}
	before := make([]float64, len(nodes))
	for i, d := range nodes {
		before[i] = matched(d)
	}
	for _, d := range nodes[:2] {
		scanner(objects, 0, l.blocks, nil)(d)
	}
	var did [2 + workerNodes]float64
	for i, d := range nodes {
		did[i] = matched(d) - before[i]
	}
	lone, coordinator, sum := did[0], did[1], did[2]+did[3]+did[4]
	if lone < float64(l.blocks) || coordinator > lone/20 {
		t.Errorf("the lone node matched %v filters of %d blocks, the coordinator %v", lone, l.blocks, coordinator)
	}
	// A range that takes long is given to a second worker node, too.
	if sum+coordinator < lone || sum > 2*lone {
		t.Errorf("the worker nodes matched %v filters, the lone node %v", sum, lone)
	}
	for _, n := range did[2:] {
		if n < sum/20 {
			t.Errorf("the worker nodes matched %v filters", did[2:])
		}
	}
}

// An abort is answered, and the worker nodes have stopped soon after.
func TestClusterAbort(t *testing.T) {
	t.Parallel()
	l := newLongCluster(t, 3)
	rng := rand.New(rand.NewPCG(3, uint64(time.Now().UnixNano())))
	objects := manyScripts(rng, 300_000)
	for i := range count(t, "TRAWL_SOAK", 3) {
		before := l.units()
		done := make(chan error, 1)
		go func() {
			done <- l.coordinator.Call(t.Context(), nil, "scanblocks", "start", objects, 0, l.blocks)
		}()
		e2e.Eventually(t, time.Minute, "worker nodes work", func() bool { return l.units() > before || len(done) > 0 })
		<-time.After(time.Duration(rng.IntN(100)) * time.Millisecond)
		var aborted bool
		l.coordinator.Get(&aborted, "scanblocks", "abort")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if !aborted {
			t.Logf("scan %d was done before", i)
			continue
		}
		<-time.After(50 * time.Millisecond)
		l.idle("after the abort")
	}
}

// idle checks that the worker nodes have nothing to do for half a second. On a full machine the news that a scan is
// over may come late: then it is the half second after. A scan that goes on takes longer than both.
func (l *longCluster) idle(when string) {
	l.Helper()
	worked := l.workedFor(500 * time.Millisecond)
	if worked > 0.1 {
		worked = l.workedFor(500 * time.Millisecond)
	}
	if worked > 0.1 {
		l.Errorf("a worker node has worked for %.2f s %s", worked, when)
	}
}

// workedFor returns how many seconds of a processor the busiest worker node takes in a time.
func (l *longCluster) workedFor(d time.Duration) (most float64) {
	l.Helper()
	first := make([]float64, len(l.workerNodes))
	for i, m := range l.workerNodes {
		first[i] = cpuSeconds(l, m.PID())
	}
	<-time.After(d)
	for i, m := range l.workerNodes {
		most = max(most, cpuSeconds(l, m.PID())-first[i])
	}
	return most
}

// A small scan is not leased.
func TestClusterSmallScans(t *testing.T) {
	t.Parallel()
	l := newLongCluster(t, 1, "-clusterafter=100")
	for i := range 50 {
		scanner([]string{"raw(51)"}, l.blocks-100+i, l.blocks, nil)(l.coordinator)
	}
	if n := l.units(); n != 0 {
		t.Errorf("%d ranges of small scans were leased", n)
	}
}
