package cluster_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/cluster"
	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/internal/match"
)

// If Keep records the blocks that it sees, as it does for searches, it is called for every hit, whichever node has
// found it. Its errors fail the pass as they do without worker nodes.
func TestKeepAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000)
		workerNode := r.workerNode()
		coordinator := r.coordinator(false, 0.5, workerNode)
		var mu sync.Mutex
		var noted []int32
		cfg := r.all(3)
		cfg.Exact, cfg.KeepAll = true, true
		cfg.Keep = func(_ context.Context, block *chainhash.Hash) (bool, error) {
			mu.Lock()
			defer mu.Unlock()
			noted = append(noted, r.chain.Lookup(block).Height)
			return true, nil
		}
		check(t, coordinator, cfg, r.expected(3))
		slices.Sort(noted)
		if got := slices.Compact(noted); !slices.Equal(got, r.expected(3)) || workerNode.state().Units == 0 {
			t.Errorf("%v were noted, want %v; %d units", got, r.expected(3), workerNode.state().Units)
		}
		full := errors.New("it is full")
		cfg.Keep = func(_ context.Context, block *chainhash.Hash) (bool, error) {
			if r.chain.Lookup(block).Height > 1000 {
				return false, full
			}
			return true, nil
		}
		if _, err := coordinator.scan(t.Context(), cfg); !errors.Is(err, full) {
			t.Error(err)
		}
	})
}

// A worker node that was silent while a scan ended takes part in the next. A worker node that misses the ends of
// scans does not keep them.
func TestComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000)
		workerNode := r.workerNode()
		coordinator := r.coordinator(true, 0, workerNode)
		began := time.Now()
		time.AfterFunc(300*time.Millisecond, func() { workerNode.pause(true) })
		time.AfterFunc(3*time.Second, func() { workerNode.pause(false) })
		check(t, coordinator, r.all(3), r.expected(3))
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the scan took %v beside a worker node that hangs", took)
		}
		if m := coordinator.state().Members[0]; m.State != "late" {
			t.Errorf("the worker node is %+v", m)
		}
		time.Sleep(5 * time.Second)
		coordinator.await(1)
		before := workerNode.read.Load()
		check(t, coordinator, r.all(3), r.expected(3))
		if n := workerNode.read.Load() - before; n < 500 {
			t.Errorf("the worker node has read %d filters after its pause", n)
		}
		r.mu.Lock()
		r.drop = func(frame []byte) bool { return frame[1] == byte(wire.Close) }
		r.mu.Unlock()
		for range 20 {
			check(t, coordinator, r.all(3), r.expected(3))
		}
		time.Sleep(15 * time.Second)
		if n := workerNode.state().Scans; n != 0 {
			t.Errorf("%d scans are kept", n)
		}
	})
}

// Large sets go from the coordinator to one worker node and from each to the next; where one does not pass them on,
// the coordinator sends what is missing.
func TestPassedOn(t *testing.T) {
	scripts := make([]int, 30_000) // three chunks
	for i := range scripts {
		scripts[i] = reused + i
	}
	scripts[0] = 3
	const height = 150
	run := func(
		t *testing.T, disturb func(r *rig, workerNodes []*node), reached func(m *node) string,
	) (coordinator *node, workerNodes []*node) {
		t.Helper()
		r := newRig(t, height) // few: each filter is searched for all of the scripts
		r.each = 4 * time.Second / height
		for range 4 {
			workerNodes = append(workerNodes, r.node(setup{options: cluster.Options{Serve: true, PassOn: 1 << 19}}))
		}
		o := cluster.Options{PassOn: 1 << 19}
		for _, m := range workerNodes {
			o.Nodes = append(o.Nodes, reached(m))
		}
		coordinator = r.node(setup{options: o})
		coordinator.await(len(workerNodes))
		if disturb != nil {
			disturb(r, workerNodes)
		}
		want, err := r.node(setup{}).scan(t.Context(), r.all(scripts...))
		if err != nil {
			t.Fatal(err)
		}
		check(t, coordinator, r.all(scripts...), want)
		return coordinator, workerNodes
	}
	advertised := func(m *node) string { return m.address }
	synctest.Test(t, func(t *testing.T) { // worker nodes may be reached at other addresses than they advertise
		coordinator, workerNodes := run(t, nil, func(m *node) string { return m.alias("10.0.1") })
		for i, m := range workerNodes {
			if m.read.Load() < height*2/25 {
				t.Errorf("worker node %d has read %d filters", i, m.read.Load())
			}
		}
		if n := coordinator.frames[byte(wire.Chunk)]; n != 3 {
			t.Errorf("the coordinator has sent %d chunks", n)
		}
	})
	for name, disturb := range map[string]func(r *rig, workerNodes []*node){
		"pieces are lost": func(r *rig, _ []*node) {
			chance := rand.New(rand.NewPCG(1, 2))
			r.drop = func(frame []byte) bool {
				return frame[1] == byte(wire.Piece) && chance.IntN(4) == 0
			}
		},
		"nothing is passed on": func(r *rig, _ []*node) {
			r.drop = func(frame []byte) bool { return frame[1] == byte(wire.Piece) }
		},
		"one lies": func(r *rig, _ []*node) {
			r.change = func(m *wire.Message) {
				if m.Kind == wire.Piece && len(m.Data) > 0 {
					m.Data[7] ^= 1
				}
			}
		},
		"one has nothing": func(r *rig, _ []*node) {
			r.change = func(m *wire.Message) {
				if m.Kind == wire.Piece {
					m.Data = nil
				}
			}
		},
		"one ends": func(_ *rig, workerNodes []*node) {
			time.AfterFunc(150*time.Millisecond, workerNodes[0].kill)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, workerNodes := run(t, disturb, advertised)
			for i, m := range workerNodes[1:] {
				if m.read.Load() == 0 {
					t.Errorf("%s: worker node %d has read nothing", name, i+1)
				}
			}
		})
	}
}

// A worker node that says nothing any more is sent a few chunks, and no more.
func TestChunksWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const height = 200
		r := newRig(t, height)
		r.each = 2 * time.Second / height
		coordinator := r.coordinator(true, 0, r.workerNode())
		scripts := make([]int, 80_000) // eight chunks
		for i := range scripts {
			scripts[i] = reused + i
		}
		begun := false
		r.mu.Lock()
		r.drop = func(frame []byte) bool {
			begun = begun || frame[1] == byte(wire.Chunk)
			return begun && (frame[1] == byte(wire.Taken) || frame[1] == byte(wire.Opened))
		}
		r.mu.Unlock()
		if _, err := coordinator.scan(t.Context(), r.all(scripts...)); err != nil {
			t.Error(err)
		}
		if n := coordinator.frames[byte(wire.Chunk)]; n != 4 {
			t.Errorf("%d chunks were sent", n)
		}
	})
}

// Where more scans wait than there are worker nodes, a worker node gets more of one at a time.
func TestWholeScans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000)
		workerNode := r.workerNode()
		coordinator := r.coordinator(false, 0, workerNode)
		check(t, coordinator, r.all(3), r.expected(3))
		alone := coordinator.frames[byte(wire.Unit)]
		var group sync.WaitGroup
		for i := range 4 {
			group.Go(func() {
				got, err := coordinator.scan(t.Context(), r.all(i))
				if err != nil || !slices.Equal(got, r.expected(i)) {
					t.Errorf("found %v, %v", got, err)
				}
			})
		}
		group.Wait()
		if n := coordinator.frames[byte(wire.Unit)] - alone; n > 2*alone {
			t.Errorf("four scans were leased in %d units, one in %d", n, alone)
		}
	})
}

// Scans that begin and are aborted all the time, beside worker nodes that come and go, leave nothing behind.
func TestAbortStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const memory = 40 * 400
		r := newRig(t, 600)
		var workerNodes []*node
		for range 16 {
			workerNodes = append(workerNodes, r.node(setup{options: cluster.Options{Serve: true, Memory: memory}}))
		}
		var nodes []string
		for _, m := range workerNodes {
			nodes = append(nodes, m.address)
		}
		coordinator := r.node(setup{options: cluster.Options{Nodes: nodes, After: time.Millisecond}})
		coordinator.await(len(workerNodes))
		random := rand.New(rand.NewPCG(1, 1))
		r.mu.Lock()
		r.lose = func() bool { return random.IntN(500) == 0 }
		r.mu.Unlock()
		var group sync.WaitGroup
		var ended, aborted atomic.Int64
		for i := range 8 {
			chance := rand.New(rand.NewPCG(2, uint64(i)))
			group.Go(func() {
				for range rounds(12, 40) {
					wanted := chance.IntN(reused)
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(chance.IntN(1500))*time.Millisecond)
					got, err := coordinator.scan(ctx, r.all(wanted))
					cancel()
					switch {
					case errors.Is(err, context.DeadlineExceeded):
						aborted.Add(1)
					case err != nil || !slices.Equal(got, r.expected(wanted)):
						t.Errorf("found %v, %v", got, err)
					default:
						ended.Add(1)
					}
					if m := workerNodes[chance.IntN(len(workerNodes))]; chance.IntN(4) == 0 {
						m.kill()
						time.AfterFunc(time.Second, m.revive)
					}
				}
			})
		}
		group.Wait()
		if ended.Load() < 8 || aborted.Load() < 8 {
			t.Errorf("%d scans have ended, %d were aborted", ended.Load(), aborted.Load())
		}
		r.mu.Lock()
		r.lose = nil
		r.mu.Unlock()
		time.Sleep(20 * time.Second)
		if s := coordinator.state(); s.Lending != 0 {
			t.Errorf("heights of %d passes are leased", s.Lending)
		}
		for _, m := range workerNodes {
			if s := m.state(); s.Scans != 0 || s.Scripts > memory {
				t.Errorf("a worker node has %d scans and %d bytes of scripts", s.Scans, s.Scripts)
			}
		}
		check(t, coordinator, r.all(3), r.expected(3))
	})
}

// A unit is 50 ms of work, more where much is left, and at the end less, where others would wait for it, but not below
// 5 ms.
func TestUnits(t *testing.T) {
	for workerNodes, most := range map[int]int{1: 30, 3: 70} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 2000)
			var list []*node
			for range workerNodes {
				list = append(list, r.workerNode())
			}
			coordinator := r.coordinator(false, 0, list...)
			check(t, coordinator, r.all(3), r.expected(3)) // which sends the scripts
			before, began := coordinator.frames[byte(wire.Unit)], time.Now()
			check(t, coordinator, r.all(3), r.expected(3))
			if n := coordinator.frames[byte(wire.Unit)] - before; n > most {
				t.Errorf("%d worker nodes got %d units, at most %d", workerNodes, n, most)
			}
			took, ideal := time.Since(began), 2*time.Second/time.Duration(workerNodes)
			if took > ideal+150*time.Millisecond {
				t.Errorf("%d worker nodes took %v, ideally %v", workerNodes, took, ideal)
			}
		})
	}
}

// Filters that neither a worker node nor the coordinator can read fail a scan, and no result is complete over them.
func TestNobodyCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const readable = 1000
		r := newRig(t, 2000)
		lost := func(from, to int32) error {
			if to <= readable {
				return nil
			}
			at := max(from, readable)
			return &match.DamagedError{Block: r.chain.Active().At(at).Hash, Err: errors.New("lost")}
		}
		workerNodes := []*node{
			r.node(setup{options: cluster.Options{Serve: true}, fault: lost}),
			r.node(setup{options: cluster.Options{Serve: true}, fault: lost}),
		}
		sound := r.coordinator(false, 0, workerNodes...)
		check(t, sound, r.all(3), r.expected(3)) // the coordinator does what they cannot
		if n := sound.read.Load(); n < readable {
			t.Errorf("the coordinator has read %d filters", n)
		}
		nodes := []string{workerNodes[0].address, workerNodes[1].address}
		coordinator := r.node(setup{options: cluster.Options{Nodes: nodes}, fault: lost})
		coordinator.await(2)
		pass := coordinator.scheduler.NewPass(r.all(3))
		err := coordinator.scheduler.Run(t.Context(), pass)
		var gone *match.LostError
		if !errors.As(err, &gone) || pass.Complete() {
			t.Errorf("complete: %v, %v", pass.Complete(), err)
		}
		if units := coordinator.state().Members[0].Units + coordinator.state().Members[1].Units; units == 0 {
			t.Error("the worker nodes have done nothing")
		}
		hits, frontier := pass.Hits()
		want := slices.DeleteFunc(r.expected(3), func(h int32) bool { return h >= frontier })
		if len(hits) != len(want) || frontier > readable || frontier == 0 {
			t.Errorf("%d hits below %d, want %d", len(hits), frontier, len(want))
		}
	})
}
