package bench

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/synth"
)

const (
	clusterBlocks  = 4000
	clusterOutputs = 200
	clusterScripts = 200_000
)

// clusterNodes are processes with the same chain.
type clusterNodes struct {
	*testing.B
	source, secret    string
	lone, coordinator *e2e.Daemon
	workerNodes       []*e2e.Daemon
	objects           []string
}

func startClusterNodes(b *testing.B, workerNodes int, coordinatorArgs ...string) *clusterNodes {
	b.Helper()
	c := &clusterNodes{B: b, secret: filepath.Join(b.TempDir(), "secret")}
	file := filepath.Join(b.TempDir(), "chain.dat")
	f, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	_, err = synth.Chain{Seed: 1, Blocks: clusterBlocks, Outputs: clusterOutputs}.WriteTo(w)
	if err := errors.Join(err, w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
	progress("load %d blocks", clusterBlocks)
	d := e2e.Start(b, e2e.Config{Chain: "regtest", Blocks: []string{file}, Args: []string{"-blockfilterindex=1"}})
	c.await(d)
	d.Stop()
	c.source = d.Dir
	args := coordinatorArgs
	for range workerNodes {
		at := e2e.FreeAddr(b)
		c.workerNodes = append(c.workerNodes, c.start("-clusterlisten="+at, "-clustersecret="+c.secret))
		args = append(args, "-clusternode="+at)
	}
	c.lone = c.start()
	c.coordinator = c.start(append(args, "-clusterlisten="+e2e.FreeAddr(b), "-clustersecret="+c.secret)...)
	e2e.Eventually(b, time.Minute, "the worker nodes are up", func() bool {
		var info struct {
			Members []struct{ State string }
		}
		c.coordinator.Get(&info, "getclusterinfo")
		return !slices.ContainsFunc(info.Members, func(m struct{ State string }) bool { return m.State != "up" })
	})
	for i := range clusterScripts {
		c.objects = append(c.objects, fmt.Sprintf("raw(0014%040x)", i+1))
	}
	return c
}

// start starts a node with one worker and a copy of the chain.
func (c *clusterNodes) start(args ...string) *e2e.Daemon {
	c.Helper()
	dir := c.TempDir()
	if err := os.CopyFS(dir, os.DirFS(c.source)); err != nil {
		c.Fatal(err)
	}
	d := e2e.Start(c, e2e.Config{
		Chain: "regtest", Dir: dir, Args: append([]string{"-blockfilterindex=1", "-par=1"}, args...),
	})
	c.await(d)
	return d
}

func (c *clusterNodes) await(d *e2e.Daemon) {
	c.Helper()
	e2e.Eventually(c, 5*time.Minute, "the chain is indexed", func() bool {
		var info map[string]struct {
			Height int `json:"best_block_height"`
		}
		d.Get(&info, "getindexinfo", "basic block filter index")
		return info["basic block filter index"].Height == clusterBlocks
	})
}

// scan scans from a height on.
func (c *clusterNodes) scan(d *e2e.Daemon, from int) {
	c.Helper()
	var got struct {
		Completed bool
		Blocks    []string `json:"relevant_blocks"`
	}
	d.Get(&got, "scanblocks", "start", c.objects, from)
	if !got.Completed {
		c.Fatal("the scan is not complete")
	}
}

// runTime is the time that all threads of a process have run.
func runTime(b *testing.B, d *e2e.Daemon) (sum time.Duration) {
	b.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", d.PID()))
	if err != nil {
		b.Fatal(err)
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		var ran int64
		_, _ = fmt.Sscan(strings.Fields(string(text))[0], &ran)
		sum += time.Duration(ran)
	}
	return sum
}

// BenchmarkClusterOverhead has a coordinator with one worker node and a lone node do the same, each with one
// worker. Of all, what a request for the last block alone takes is taken off.
func BenchmarkClusterOverhead(b *testing.B) {
	c := startClusterNodes(b, 1, "-clusterlocal=0")
	type cost struct{ wall, cpu time.Duration }
	measure := func(d *e2e.Daemon, from int) cost {
		nodes := append([]*e2e.Daemon{d}, c.workerNodes...)
		var before time.Duration
		for _, n := range nodes {
			before += runTime(b, n)
		}
		began := time.Now()
		c.scan(d, from)
		wall := time.Since(began)
		var after time.Duration
		for _, n := range nodes {
			after += runTime(b, n)
		}
		return cost{wall, after - before}
	}
	progress("a scan of %d blocks for %d scripts with and without a worker node", clusterBlocks, clusterScripts)
	c.scan(c.coordinator, 0)
	c.scan(c.lone, 0)
	var walls, cpus [2][]time.Duration
	for b.Loop() {
		for range 3 {
			for i, d := range []*e2e.Daemon{c.lone, c.coordinator} {
				whole, fixed := measure(d, 0), measure(d, clusterBlocks)
				walls[i] = append(walls[i], whole.wall-fixed.wall)
				cpus[i] = append(cpus[i], whole.cpu-fixed.cpu)
			}
		}
	}
	b.ReportMetric(milliseconds(median(walls[1])), "took-ms")
	b.ReportMetric(milliseconds(median(walls[0])), "lone-ms")
	b.ReportMetric(median(walls[1]).Seconds()/median(walls[0]).Seconds(), "x-wall")
	b.ReportMetric(median(cpus[1]).Seconds()/median(cpus[0]).Seconds(), "x-cpu")
}

// BenchmarkClusterSmall has a coordinator with three worker nodes and a lone node do scans that are too short to be
// leased, in turn.
func BenchmarkClusterSmall(b *testing.B) {
	const rounds, scripts, blocks = 500, 100, 2000
	c := startClusterNodes(b, 3)
	c.objects = c.objects[:scripts]
	progress("%d scans of %d blocks with and without members", 2*rounds, blocks)
	var took [2][]time.Duration
	for b.Loop() {
		for range rounds {
			for i, d := range []*e2e.Daemon{c.lone, c.coordinator} {
				began := time.Now()
				c.scan(d, clusterBlocks-blocks)
				took[i] = append(took[i], time.Since(began))
			}
		}
	}
	b.ReportMetric(milliseconds(median(took[1])), "took-ms")
	b.ReportMetric(milliseconds(median(took[0])), "lone-ms")
	b.ReportMetric(median(took[1]).Seconds()/median(took[0]).Seconds(), "x-wall")
	b.ReportMetric(float64(c.leased(b)), "units")
}

// leased is how many ranges the worker nodes have answered.
func (c *clusterNodes) leased(b *testing.B) (n uint64) {
	b.Helper()
	var info struct{ Members []struct{ Units uint64 } }
	c.coordinator.Get(&info, "getclusterinfo")
	for _, m := range info.Members {
		n += m.Units
	}
	return n
}

// memoryRest is after how long nodes have given back the memory that a time of work took, for which they
// collect garbage: they look every five seconds whether it is over.
const memoryRest = 12 * time.Second

// BenchmarkClusterAbort aborts scans in which three worker nodes work, and measures how long after the
// answer each of them runs on.
func BenchmarkClusterAbort(b *testing.B) {
	const aborts = 100
	c := startClusterNodes(b, 3, "-clusterlocal=0")
	c.scan(c.coordinator, 0) // which sends the worker nodes the scripts
	<-time.After(memoryRest)
	progress("%d aborts", aborts)
	var stopped, answered []time.Duration
	for b.Loop() {
		for i := range aborts {
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = c.coordinator.Call(b.Context(), nil, "scanblocks", "start", c.objects, 0)
			}()
			e2e.Eventually(b, time.Minute, "worker nodes work", func() bool { return c.leasing() })
			<-time.After(150*time.Millisecond + time.Duration(i*7%50)*time.Millisecond)
			var aborted bool
			began := time.Now()
			c.coordinator.Get(&aborted, "scanblocks", "abort")
			if took := time.Since(began); aborted {
				answered = append(answered, took)
				stopped = append(stopped, c.lastWork(b))
			}
			<-done
		}
	}
	slices.Sort(stopped)
	slices.Sort(answered)
	at := func(list []time.Duration, percent int) float64 { return milliseconds(list[(len(list)-1)*percent/100]) }
	b.ReportMetric(at(answered, 50), "answered-p50-ms")
	b.ReportMetric(at(answered, 99), "answered-p99-ms")
	b.ReportMetric(at(stopped, 50), "stopped-p50-ms")
	b.ReportMetric(at(stopped, 99), "stopped-p99-ms")
	b.ReportMetric(float64(len(stopped)), "aborts")
}

func (c *clusterNodes) leasing() bool {
	var info struct{ Lending int }
	c.coordinator.Get(&info, "getclusterinfo")
	return info.Lending > 0
}

// lastWork returns how long from now on a worker node works: until none has run for more than a quarter of
// the time for a while.
func (c *clusterNodes) lastWork(b *testing.B) (last time.Duration) {
	b.Helper()
	began, at := time.Now(), make([]time.Duration, len(c.workerNodes))
	for i, m := range c.workerNodes {
		at[i] = runTime(b, m)
	}
	for before := began; time.Since(began) < 300*time.Millisecond; {
		<-time.After(4 * time.Millisecond)
		now := time.Now()
		for i, m := range c.workerNodes {
			ran := runTime(b, m)
			if ran-at[i] > now.Sub(before)/4 {
				last = now.Sub(began)
			}
			at[i] = ran
		}
		before = now
	}
	return last
}
