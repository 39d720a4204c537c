package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/cluster"
	"github.com/seed61375155/trawl/actors/cluster/link"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// workerNodeCounts are how many worker nodes work together.
var workerNodeCounts = []int{1, 3, 16, 64}

const (
	artificial  = 10 * time.Millisecond // that a filter takes
	workPerNode = 300                   // filters of each worker node, 3 s
	atLeast     = 2000                  // of all, so that a single one is measured too
)

// BenchmarkClusterMembers scans with worker nodes whose filters take a fixed time each, during which they
// sleep, so that many fit on this machine. All are in this process, and speak over TLS on loopback.
func BenchmarkClusterMembers(b *testing.B) {
	for _, n := range workerNodeCounts {
		b.Run(fmt.Sprintf("members=%d", n), func(b *testing.B) {
			progress("%d members of artificial cost", n)
			c := newLightCluster(b, n, max(n*workPerNode, atLeast))
			defer c.close(b)
			for b.Loop() {
				c.measure(b)
			}
		})
	}
}

// lightCluster is nodes without a chain on the disk.
type lightCluster struct {
	chain       *chaintest.Chain
	system      *actor.ActorSystem
	coordinator *lightNode
	workerNodes []*lightNode
}

type lightNode struct {
	ref       *ask.Ref
	link      *link.Link
	scheduler *match.Scheduler
	address   string
}

func newLightCluster(b *testing.B, workerNodes, height int) *lightCluster {
	b.Helper()
	c := &lightCluster{chain: chaintest.New(&chaincfg.RegressionNetParams)}
	for range height {
		c.chain.Mine(chaintest.Template{})
	}
	c.system = actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.DiscardHandler)
	}))
	var addresses []string
	for i := range workerNodes {
		m := c.node(b, fmt.Sprint("worker", i), cluster.Options{Serve: true})
		c.workerNodes, addresses = append(c.workerNodes, m), append(addresses, m.address)
	}
	c.coordinator = c.node(b, "coordinator", cluster.Options{Nodes: addresses})
	for end := time.Now().Add(time.Minute); c.up(b) < workerNodes; <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			b.Fatal("the worker nodes do not come up")
		}
	}
	return c
}

// node starts a node.
func (c *lightCluster) node(b *testing.B, name string, o cluster.Options) *lightNode {
	b.Helper()
	secret, err := link.FromSecrets(bytes.Repeat([]byte{1}, link.SecretSize))
	if err != nil {
		b.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	n := new(lightNode)
	if n.link, err = link.New(link.Config{Listen: "127.0.0.1:0", Credentials: secret, Log: log}); err != nil {
		b.Fatal(err)
	}
	o.Link = n.link
	n.scheduler = match.NewScheduler(match.SchedulerConfig{
		Source: sleepy{c.chain}, Workers: 1, Log: log, Helper: filter.HelpBy(func() *ask.Ref { return n.ref }),
	})
	current := new(chainview.Current)
	current.Set(c.chain)
	n.ref, err = ask.Spawn(c.system.Root, log, name, 64, cluster.New(cluster.Config{
		Options: o, Network: "regtest", Build: "bench", Workers: 1, Scheduler: n.scheduler, Chain: current,
		HeaderLen: func([]byte) int { return filters.HeaderLen }, Log: log,
		Header: func(*chainhash.Hash) (chainhash.Hash, error) { return chainhash.Hash{1}, nil },
	}), cluster.Requests)
	if err == nil {
		err = cluster.Connect(b.Context(), n.link, n.ref)
	}
	if err != nil {
		b.Fatal(err)
	}
	n.address, _ = n.link.State()
	return n
}

func (c *lightCluster) close(b *testing.B) {
	b.Helper()
	var group sync.WaitGroup
	for _, n := range append(c.workerNodes, c.coordinator) {
		group.Go(func() {
			if err := errors.Join(n.ref.Stop(context.Background()), n.link.Close()); err != nil {
				b.Error(err)
			}
		})
	}
	group.Wait()
	c.system.Shutdown()
}

func (c *lightCluster) state(b *testing.B) messages.Cluster {
	b.Helper()
	s, err := ask.Ask(b.Context(), c.coordinator.ref, messages.GetCluster{})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func (c *lightCluster) up(b *testing.B) (n int) {
	b.Helper()
	for _, m := range c.state(b).Members {
		if m.State == "up" {
			n++
		}
	}
	return n
}

// totals are what all worker nodes have done.
func (c *lightCluster) totals(b *testing.B) (sum messages.ClusterMember) {
	b.Helper()
	for _, m := range c.state(b).Members {
		sum.Units, sum.Twice, sum.Busy = sum.Units+m.Units, sum.Twice+m.Twice, sum.Busy+m.Busy
	}
	return sum
}

// measure runs a scan, which finds nothing.
func (c *lightCluster) measure(b *testing.B) {
	b.Helper()
	tip := c.chain.Active().Tip()
	query := filters.NewQuery([][]byte{{0x51}})
	pass := c.coordinator.scheduler.NewPass(match.Config{Query: query, First: 1, Stop: tip})
	before := c.totals(b)
	began, cpu := time.Now(), cpuTime()
	if err := c.coordinator.scheduler.Run(b.Context(), pass); err != nil {
		b.Fatal(err)
	}
	took := time.Since(began)
	cpu = cpuTime() - cpu
	sum := c.totals(b)
	units, workerNodes := sum.Units-before.Units, time.Duration(len(c.workerNodes))
	ideal := time.Duration(tip.Height) * artificial / workerNodes
	b.ReportMetric(100*ideal.Seconds()/took.Seconds(), "efficiency-%")
	b.ReportMetric(100*((sum.Busy-before.Busy)/workerNodes).Seconds()/took.Seconds(), "busy-%")
	b.ReportMetric(milliseconds(took), "took-ms")
	b.ReportMetric(float64(units), "units")
	b.ReportMetric(float64(sum.Twice-before.Twice), "twice")
	b.ReportMetric(float64(cpu.Microseconds())/float64(max(units, 1)), "cpu-us/unit")
}

// sleepy is filters that hold nothing, each of which takes a while.
type sleepy struct{ chain *chaintest.Chain }

// View implements match.Source.
func (s sleepy) View() match.View { return sleepyView{manyView{}, s.chain.Active()} }

type sleepyView struct {
	manyView
	active *chainview.Chain
}

// Filters implements match.View.
func (v sleepyView) Filters(from int32, _ bool, dst []filters.Filter) error {
	time.Sleep(time.Duration(len(dst)) * artificial)
	for i := range dst {
		dst[i] = filters.Filter{Block: v.active.At(from + int32(i)).Hash, Data: []byte{0}}
	}
	return nil
}
