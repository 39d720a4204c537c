package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/cluster"
	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// check runs a scan on a coordinator and compares the result with a lone node's.
func check(t *testing.T, n *node, cfg match.Config, want []int32) {
	t.Helper()
	checkFound(t, n, cfg, want)
	checkLeases(t, n)
}

func checkFound(t *testing.T, n *node, cfg match.Config, want []int32) {
	t.Helper()
	got, err := n.scan(t.Context(), cfg)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("found %v, %v; want %v", got, err, want)
	}
}

// checkLeases wants no heights to be leased to worker nodes.
func checkLeases(t *testing.T, n *node) {
	t.Helper()
	if s := n.state(); s.Lending != 0 {
		t.Errorf("heights of %d passes are leased afterwards", s.Lending)
	}
}

// Worker nodes do the work, with the result of a lone node, and are sent the scripts once.
func TestWorkerNodesWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3000)
		a, b, c := r.workerNode(), r.workerNode(), r.workerNode()
		coordinator := r.coordinator(false, 0, a, b, c)
		began := time.Now()
		check(t, coordinator, r.all(3, 20), r.expected(3, 20))
		if took := time.Since(began); took > 1600*time.Millisecond {
			t.Errorf("3 s of work took three worker nodes %v", took)
		}
		if n := coordinator.read.Load(); n > 400 {
			t.Errorf("the coordinator has read %d filters itself", n)
		}
		for _, m := range []*node{a, b, c} {
			if n := m.read.Load(); n < 600 {
				t.Errorf("a worker node has read %d filters", n)
			}
		}
		chunks := coordinator.frames[byte(wire.Chunk)]
		check(t, coordinator, r.all(3, 20), r.expected(3, 20))
		if again := coordinator.frames[byte(wire.Chunk)] - chunks; chunks != 3 || again != 0 {
			t.Errorf("%d chunks were sent, and %d again", chunks, again)
		}
	})
}

// A worker node has no more threads for others than its options say.
func TestThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1200)
		var took []time.Duration
		for threads, workers := range []int{4, 1, 2, 3, 4, 4} { // 0: all, and never more than there are
			m := r.node(setup{options: cluster.Options{Serve: true, Threads: threads}, workers: 4})
			coordinator := r.coordinator(false, 0, m)
			if got := coordinator.state().Members[0].Workers; got != workers {
				t.Errorf("with %d threads it says that it has %d, want %d", threads, got, workers)
			}
			began := time.Now()
			check(t, coordinator, r.all(3, 20), r.expected(3, 20))
			took = append(took, time.Since(began))
		}
		if took[1] < 2*took[4] || took[2] > took[1]*2/3 || took[0] > took[4]*5/4 || took[4] > took[0]*5/4 {
			t.Errorf("with all, 1, 2, 3, 4 and 5 threads it takes %v", took)
		}
	})
}

// Short passes are not leased.
func TestSmallScansStayHome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 90)
		coordinator := r.coordinator(false, 0, r.workerNode())
		began := time.Now()
		check(t, coordinator, r.all(3), r.expected(3))
		if n := coordinator.frames[byte(wire.Open)]; n != 0 || time.Since(began) > 100*time.Millisecond {
			t.Errorf("%d worker nodes were asked, after %v", n, time.Since(began))
		}
	})
}

// Without a worker node, and with a worker node that refuses, a coordinator does everything itself.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1000)
		serve := cluster.Options{Serve: true}
		for name, s := range map[string]setup{
			"it serves nobody": {},
			"another network":  {options: serve, network: "main"},
			"no chain yet":     {options: serve, reader: noChain{r.chain}},
			"another filter chain": {options: serve, header: func(*chainhash.Hash) (chainhash.Hash, error) {
				return chainhash.Hash{1}, nil
			}},
			"no filter": {options: serve, header: func(*chainhash.Hash) (chainhash.Hash, error) {
				return chainhash.Hash{}, errors.New("none")
			}},
			"filters that are damaged for good": {options: serve, fault: func(from, _ int32) error {
				return &match.DamagedError{Block: r.chain.Active().At(from).Hash, Err: errors.New("broken")}
			}},
		} {
			workerNode := r.node(s)
			coordinator := r.node(setup{options: cluster.Options{Nodes: []string{workerNode.address}}})
			time.Sleep(time.Second)
			check(t, coordinator, r.all(3), r.expected(3))
			m := coordinator.state().Members[0]
			if m.Units != 0 || m.Refusals == 0 || m.Refusal == "" {
				t.Errorf("%s: %+v", name, m)
			}
		}
	})
}

type noChain struct{ chainview.Reader }

func (noChain) Lookup(*chainhash.Hash) *chainview.Block { return nil }

// A cluster finds what a lone node finds although messages are lost and worker nodes are killed, paused and come
// back.
func TestEqualUnderLosses(t *testing.T) {
	for seed := range rounds(4, 8) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			r := newRig(t, 2000)
			workerNodes := []*node{r.workerNode(), r.workerNode(), r.workerNode()}
			coordinator := r.coordinator(seed%2 == 0, 0, workerNodes...)
			r.mu.Lock()
			r.lose = func() bool { return random.IntN(20) == 0 }
			r.mu.Unlock()
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			chance := rand.New(rand.NewPCG(seed, 2))
			go func() {
				defer close(done)
				for ctx.Err() == nil {
					time.Sleep(time.Duration(chance.IntN(300)) * time.Millisecond)
					m := workerNodes[chance.IntN(len(workerNodes))]
					switch chance.IntN(4) {
					case 0:
						m.kill()
					case 1:
						m.pause(true)
					default:
						m.pause(false)
						m.revive()
					}
				}
			}()
			for i := range 6 {
				check(t, coordinator, r.all(i, 2*i+5), r.expected(i, 2*i+5))
			}
			cancel()
			<-done
		})
	}
}

// An abort gives everything back at once, and the worker nodes stop.
func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3000)
		workerNode := r.workerNode()
		coordinator := r.coordinator(false, 0, workerNode)
		ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
		defer cancel()
		if _, err := coordinator.scan(ctx, r.all(3)); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if coordinator.state().Lending != 0 {
			t.Error("its heights are still leased")
		}
		time.Sleep(100 * time.Millisecond)
		before := workerNode.read.Load()
		time.Sleep(time.Second)
		if after := workerNode.read.Load(); before == 0 || after != before || workerNode.state().Scans != 0 {
			t.Errorf("the worker node has read %d filters, then %d", before, after)
		}
	})
}

// A name without an address is logged once, and does not keep other worker nodes away. It is looked up again
// every half minute.
func TestNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 10)
		var log bytes.Buffer
		var lookups atomic.Int64
		coordinator := r.node(setup{
			options: cluster.Options{Nodes: []string{"nowhere.example:1", r.workerNode().address}},
			log:     slog.New(slog.NewTextHandler(&log, nil)),
			resolve: func() { lookups.Add(1) },
		})
		coordinator.await(1)
		time.Sleep(2*time.Minute - 10*time.Second)
		if n := lookups.Load(); n != 4 {
			t.Errorf("%d lookups in two minutes", n)
		}
		coordinator.state() // nothing is written meanwhile
		if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "nowhere.example:1") {
			t.Errorf("the log is\n%s", got)
		}
	})
}

// A worker node that leaves hits out is found by the audit: the scan fails with its address, and it
// gets nothing more.
func TestAudit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000)
		liar := r.node(setup{options: cluster.Options{Serve: true}, lie: func(batch []filters.Filter) {
			for i := range batch {
				batch[i] = filters.Filter{Block: batch[i].Block, Data: []byte{0}} // an empty one
			}
		}})
		coordinator := r.coordinator(false, 1, liar)
		_, err := coordinator.scan(t.Context(), r.all(3))
		var wrong *messages.ClusterError
		if !errors.As(err, &wrong) || wrong.Member != liar.address {
			t.Fatalf("%v, %+v", err, coordinator.state())
		}
		if m := coordinator.state().Members[0]; m.State != "excluded" {
			t.Errorf("%+v", m)
		}
		check(t, coordinator, r.all(3), r.expected(3))
		rescan := r.all(3) // whose hits are looked into afterwards
		rescan.Exact = true
		if _, err := r.coordinator(false, 1, liar).scan(t.Context(), rescan); !errors.As(err, &wrong) {
			t.Errorf("a rescan: %v", err)
		}
		honest := r.workerNode()
		audited := r.coordinator(false, 1, honest)
		check(t, audited, r.all(3), r.expected(3))
		if m := audited.state().Members[0]; m.Audited == 0 || m.Audited != m.Units {
			t.Errorf("%+v", m)
		}
	})
}

// A filter that matches by chance need not do so at all nodes where blocks are looked into. A worker node that
// leaves such a block out is not taken for a liar.
func TestAuditOfChance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000)
		workerNode := r.workerNode()
		var builder filters.Builder
		chance := func(batch []filters.Filter) {
			for i := range batch {
				if h := r.chain.Lookup(&batch[i].Block).Height; h > 1000 && h%100 == 0 {
					batch[i] = filters.Filter{
						Block: batch[i].Block, Data: slices.Clone(builder.Build(&batch[i].Block, [][]byte{script(3)})),
					}
				}
			}
		}
		audited := cluster.Options{Nodes: []string{workerNode.address}, Audit: 1}
		coordinator := r.node(setup{options: audited, lie: chance})
		coordinator.await(1)
		cfg := r.all(3)
		cfg.Exact = true
		check(t, coordinator, cfg, r.expected(3))
		if m := coordinator.state().Members[0]; m.Audited == 0 || m.Audited != m.Units {
			t.Errorf("%+v", m)
		}
	})
}

// Worker nodes look into blocks; the coordinator looks into the blocks that they do not have.
func TestCheckBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000)
		full := r.workerNode()
		pruned := r.node(setup{options: cluster.Options{Serve: true}, reader: prunedReader{r.chain}})
		for _, m := range []*node{full, pruned} {
			coordinator := r.coordinator(false, 0, m)
			cfg := r.all(3)
			var looked atomic.Int64
			cfg.Exact = true
			cfg.Keep = func(_ context.Context, block *chainhash.Hash) (bool, error) {
				looked.Add(1)
				return m == full || r.chain.Lookup(block).Height%2 == 0, nil
			}
			want := r.expected(3)
			got, err := coordinator.scan(t.Context(), cfg)
			if m == pruned { // all are looked into by the coordinator, in its way
				want = slices.DeleteFunc(want, func(h int32) bool { return h%2 != 0 })
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("found %v, %v; want %v", got, err, want)
				}
			} else if n := int(looked.Load()); err != nil || !slices.Equal(got, want) || n > 10 {
				t.Errorf("the coordinator has looked into %d blocks: found %v, %v; want %v", n, got, err, want)
			}
		}
	})
}

// The coordinator bounds how many blocks it looks into for worker nodes: they get no more units until it has caught
// up.
func TestChecksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000)
		pruned := setup{options: cluster.Options{Serve: true}, reader: prunedReader{r.chain}}
		coordinator := r.node(setup{options: cluster.Options{
			Nodes: []string{r.node(pruned).address, r.node(pruned).address}, After: time.Nanosecond,
		}})
		coordinator.await(2)
		var looking, most atomic.Int64
		cfg := r.all(3)
		cfg.Exact = true
		cfg.Keep = func(context.Context, *chainhash.Hash) (bool, error) {
			most.Store(max(most.Load(), looking.Add(1)))
			defer looking.Add(-1)
			time.Sleep(10 * time.Second)
			return true, nil
		}
		check(t, coordinator, cfg, r.expected(3))
		if n := most.Load(); n < 2 || n > 16+2*2+1 { // beside what they have already, and one of the coordinator's own
			t.Errorf("%d blocks were looked into at a time", n)
		}
	})
}

type prunedReader struct{ chainview.Reader }

func (prunedReader) Raw(*chainhash.Hash) ([]byte, error) { return nil, chainview.ErrPruned }

// More scripts than there is memory for are refused, and those that nobody uses make room.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1500)
		workerNode := r.node(setup{options: cluster.Options{Serve: true, Memory: 3 * 100}})
		coordinator := r.coordinator(false, 0, workerNode)
		for i := range 3 {
			check(t, coordinator, r.all(i, i+1, i+2), r.expected(i, i+1, i+2))
			if s := workerNode.state(); s.Scripts > 3*100 || s.Units == 0 {
				t.Errorf("%+v", s)
			}
		}
		before := workerNode.state().Units
		check(t, coordinator, r.all(1, 2, 3, 4), r.expected(1, 2, 3, 4))
		if workerNode.state().Units != before {
			t.Error("it has worked for more scripts than it has memory for")
		}
	})
}

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		r := newRig(t, 200)
		workerNode := r.workerNode()
		coordinator := r.coordinator(true, 0, workerNode)
		pass := func() *match.Pass { return coordinator.scheduler.NewPass(r.all(3)) }
		return &actortest.Subject{
			Ref: coordinator.ref, Served: cluster.Requests,
			Requests: []actortest.Request{
				actortest.Sample(match.LeaseHeights{Pass: pass()}), actortest.Sample(match.EndLeases{Pass: pass()}),
				actortest.Sample(messages.GetCluster{}),
			},
			Check: func() {
				checkFound(t, coordinator, r.all(3), r.expected(3))
				time.Sleep(2 * time.Minute) // of the bubble: leases of an instance that failed end by its silence
				checkLeases(t, coordinator)
			},
		}
	})
}
