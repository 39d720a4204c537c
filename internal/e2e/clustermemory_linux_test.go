package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// A member that is stopped while scripts are sent to it costs neither the front nor the other member memory: what
// waits for it is bounded.
func TestClusterMemory(t *testing.T) {
	if e2e.Race {
		t.Skip("the race detector takes most of the memory: make large")
	}
	t.Parallel()
	l := newLongCluster(t, 2)
	rng := rand.New(rand.NewPCG(8, 8))
	scripts := 150_000
	if n := count(t, "TRAWL_SOAK", 0); n > 0 {
		scripts = 500_000
	}
	nodes := []*e2e.Daemon{l.front, l.members[0]}
	peaks := func() (most []int) {
		for _, d := range nodes {
			forgetPeak(t, d)
		}
		for range 2 { // different ones, so that they are sent
			scanner(manyScripts(rng, scripts), 0, l.blocks, nil)(l.front)
		}
		for _, d := range nodes {
			most = append(most, peakMB(d))
		}
		return most
	}
	peaks()
	before := peaks()
	l.members[1].Signal(syscall.SIGSTOP)
	after := peaks()
	l.members[1].Signal(syscall.SIGCONT)
	t.Logf("front and member took %v MB, beside a member that was stopped %v", before, after)
	for i := range nodes {
		if after[i] > before[i]+32 {
			t.Errorf("node %d took %d MB, beside a member that was stopped %d", i, before[i], after[i])
		}
	}
}

// forgetPeak begins anew with what a process takes at most.
func forgetPeak(tb testing.TB, d *e2e.Daemon) {
	tb.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", d.PID()), []byte("5"), 0); err != nil {
		tb.Fatal(err)
	}
}
