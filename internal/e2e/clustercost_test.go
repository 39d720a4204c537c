package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/bench/synth"
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

// With -clusterlocal=0 the front takes less than a twentieth of the processor time of a lone node, beside what
// both take to read the request, and the members do what the lone node does, about the same each.
func TestClusterWorkIsElsewhere(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	l := newClusterOver(t, &clusterChain{Chain: synth.Chain{Seed: 21, Blocks: 6000, Outputs: 5}}, 3)
	objects := manyScripts(rand.New(rand.NewPCG(2, 2)), 30_000)
	nodes := append([]*e2e.Daemon{l.lone, l.front}, l.members...)
	spend := func(took []float64, sign float64, from int) {
		for _, d := range nodes[:2] {
			before := make([]float64, len(nodes))
			for i, n := range nodes {
				before[i] = cpuSeconds(t, n.PID())
			}
			scanner(objects, from, l.blocks, nil)(d)
			for i, n := range nodes {
				if i > 1 && d == l.lone {
					continue
				}
				took[i] += sign * (cpuSeconds(t, n.PID()) - before[i])
			}
		}
	}
	scanner(objects, 0, l.blocks, nil)(l.front) // which sends the members the scripts
	var lone, front, sum float64
	var members []float64
	// What else runs here makes it more, not less.
	for round := 0; round == 0 || round < 3 && front > 0.05*lone; round++ {
		took := make([]float64, len(nodes))
		units := l.units()
		spend(took, 1, 0)
		units = l.units() - units
		spend(took, -1, l.blocks) // what the request takes without a scan
		lone, front, members, sum = took[0], took[1], took[2:], 0
		for _, s := range members {
			sum += s
		}
		t.Logf("lone %.2f s, front %.2f s, members %.2f s, %d units", lone, front, members, units)
		if lone < 1 {
			t.Fatalf("a lone node takes %.2f s: too little to compare", lone)
		}
	}
	if front > 0.05*lone {
		t.Errorf("the front takes %.2f s of the %.2f s of a lone node", front, lone)
	}
	if sum < 0.7*lone || sum > 1.4*lone {
		t.Errorf("the members take %.2f s, a lone node %.2f s", sum, lone)
	}
	for _, s := range members {
		if s < 0.4*sum/3 || s > 1.8*sum/3 {
			t.Errorf("the members take %.2f s", members)
			break
		}
	}
}

// An abort is answered, and the members have stopped soon after.
func TestClusterAbort(t *testing.T) {
	t.Parallel()
	l := newLongCluster(t, 3)
	rng := rand.New(rand.NewPCG(3, uint64(time.Now().UnixNano())))
	objects := manyScripts(rng, 100_000)
	for i := range count(t, "TRAWL_SOAK", 3) {
		before := l.units()
		done := make(chan error, 1)
		go func() {
			done <- l.front.Call(t.Context(), nil, "scanblocks", "start", objects, 0, l.blocks)
		}()
		e2e.Eventually(t, time.Minute, "members work", func() bool { return l.units() > before || len(done) > 0 })
		<-time.After(time.Duration(rng.IntN(100)) * time.Millisecond)
		var aborted bool
		l.front.Get(&aborted, "scanblocks", "abort")
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

// idle checks that the members have nothing to do for half a second.
func (l *longCluster) idle(when string) {
	l.Helper()
	first := make([]float64, len(l.members))
	for i, m := range l.members {
		first[i] = cpuSeconds(l, m.PID())
	}
	<-time.After(500 * time.Millisecond)
	for i, m := range l.members {
		if more := cpuSeconds(l, m.PID()) - first[i]; more > 0.1 {
			l.Errorf("a member has worked for %.2f s %s", more, when)
		}
	}
}

// A small scan is not lent.
func TestClusterSmallScans(t *testing.T) {
	t.Parallel()
	l := newLongCluster(t, 1, "-clusterafter=100")
	for i := range 50 {
		scanner([]string{"raw(51)"}, l.blocks-100+i, l.blocks, nil)(l.front)
	}
	if n := l.units(); n != 0 {
		t.Errorf("%d ranges of small scans were lent", n)
	}
}
