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
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// check runs a scan on a front, whose result has to be that of one node.
func check(t *testing.T, n *node, cfg match.Config, want []int32) {
	t.Helper()
	got, err := n.scan(t.Context(), cfg)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("found %v, %v; want %v", got, err, want)
	}
	if s := n.state(); s.Lending != 0 {
		t.Errorf("%d passes are lent from afterwards", s.Lending)
	}
}

// Members do the work, with the result of a lone node, and are sent the scripts once.
func TestMembersWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3000)
		a, b, c := r.member(), r.member(), r.member()
		front := r.front(false, 0, a, b, c)
		began := time.Now()
		check(t, front, r.all(3, 20), r.expected(3, 20))
		if took := time.Since(began); took > 1600*time.Millisecond {
			t.Errorf("3 s of work took three members %v", took)
		}
		if n := front.read.Load(); n > 400 {
			t.Errorf("the front has read %d filters itself", n)
		}
		for _, m := range []*node{a, b, c} {
			if n := m.read.Load(); n < 600 {
				t.Errorf("a member has read %d filters", n)
			}
		}
		chunks := front.frames[byte(wire.Chunk)]
		check(t, front, r.all(3, 20), r.expected(3, 20))
		if again := front.frames[byte(wire.Chunk)] - chunks; chunks != 3 || again != 0 {
			t.Errorf("%d chunks were sent, and %d again", chunks, again)
		}
	})
}

// What is done soon is not lent.
func TestSmallScansStayHome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 90)
		front := r.front(false, 0, r.member())
		began := time.Now()
		check(t, front, r.all(3), r.expected(3))
		if n := front.frames[byte(wire.Open)]; n != 0 || time.Since(began) > 100*time.Millisecond {
			t.Errorf("%d members were asked, after %v", n, time.Since(began))
		}
	})
}

// Without a member, and with one that refuses, a front does everything itself.
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
			member := r.node(s)
			front := r.node(setup{options: cluster.Options{Nodes: []string{member.address}}})
			time.Sleep(time.Second)
			check(t, front, r.all(3), r.expected(3))
			m := front.state().Members[0]
			if m.Units != 0 || m.Refusals == 0 || m.Refusal == "" {
				t.Errorf("%s: %+v", name, m)
			}
		}
	})
}

type noChain struct{ chainview.Reader }

func (noChain) Lookup(*chainhash.Hash) *chainview.Block { return nil }

// Whatever is lost, whoever is killed, paused or comes back: the result is that of a lone node.
func TestEqualUnderLosses(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			r := newRig(t, 2000)
			members := []*node{r.member(), r.member(), r.member()}
			front := r.front(seed%2 == 0, 0, members...)
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
					m := members[chance.IntN(len(members))]
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
				check(t, front, r.all(i, 2*i+5), r.expected(i, 2*i+5))
			}
			cancel()
			<-done
		})
	}
}

// An abort gives everything back at once, and the members stop.
func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3000)
		member := r.member()
		front := r.front(false, 0, member)
		ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
		defer cancel()
		if _, err := front.scan(ctx, r.all(3)); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if front.state().Lending != 0 {
			t.Error("it is lent from yet")
		}
		time.Sleep(100 * time.Millisecond)
		before := member.read.Load()
		time.Sleep(time.Second)
		if after := member.read.Load(); before == 0 || after != before || member.state().Scans != 0 {
			t.Errorf("the member has read %d filters, then %d", before, after)
		}
	})
}

// A member that leaves hits out is found by the audit: the scan fails with its address, and it
// gets nothing more.
func TestAudit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000)
		liar := r.node(setup{options: cluster.Options{Serve: true}, lie: func(batch []filters.Filter) {
			for i := range batch {
				batch[i] = filters.Filter{Block: batch[i].Block, Data: []byte{0}} // an empty one
			}
		}})
		front := r.front(false, 1, liar)
		_, err := front.scan(t.Context(), r.all(3))
		var wrong *messages.ClusterError
		if !errors.As(err, &wrong) || wrong.Member != liar.address {
			t.Fatalf("%v, %+v", err, front.state())
		}
		if m := front.state().Members[0]; m.State != "excluded" {
			t.Errorf("%+v", m)
		}
		check(t, front, r.all(3), r.expected(3))
		honest := r.member()
		audited := r.front(false, 1, honest)
		check(t, audited, r.all(3), r.expected(3))
		if m := audited.state().Members[0]; m.Audited == 0 || m.Audited != m.Units {
			t.Errorf("%+v", m)
		}
	})
}

// Members look into blocks; those that they do not have are looked into by the front.
func TestCheckBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000)
		full := r.member()
		pruned := r.node(setup{options: cluster.Options{Serve: true}, reader: prunedReader{r.chain}})
		for _, m := range []*node{full, pruned} {
			front := r.front(false, 0, m)
			cfg := r.all(3)
			var looked atomic.Int64
			cfg.Exact = true
			cfg.Keep = func(_ context.Context, block *chainhash.Hash) (bool, error) {
				looked.Add(1)
				return m == full || r.chain.Lookup(block).Height%2 == 0, nil
			}
			want := r.expected(3)
			got, err := front.scan(t.Context(), cfg)
			if m == pruned { // all are looked into by the front, in its way
				want = slices.DeleteFunc(want, func(h int32) bool { return h%2 != 0 })
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("found %v, %v; want %v", got, err, want)
				}
			} else if n := int(looked.Load()); err != nil || !slices.Equal(got, want) || n > 10 {
				t.Errorf("the front has looked into %d blocks: found %v, %v; want %v", n, got, err, want)
			}
		}
	})
}

type prunedReader struct{ chainview.Reader }

func (prunedReader) Raw(*chainhash.Hash) ([]byte, error) { return nil, chainview.ErrPruned }

// More scripts than there is memory for are refused, and those that nobody uses make room.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1500)
		member := r.node(setup{options: cluster.Options{Serve: true, Memory: 3 * 400}})
		front := r.front(false, 0, member)
		for i := range 3 {
			check(t, front, r.all(i, i+1, i+2), r.expected(i, i+1, i+2))
			if s := member.state(); s.Scripts > 3*400 || s.Units == 0 {
				t.Errorf("%+v", s)
			}
		}
		before := member.state().Units
		check(t, front, r.all(1, 2, 3, 4), r.expected(1, 2, 3, 4))
		if member.state().Units != before {
			t.Error("it has worked for more scripts than it has memory for")
		}
	})
}

// Where Keep notes what it sees, as that of searches does, it is called for every hit, wherever that was
// found, and its errors fail the pass as they do without members.
func TestKeepAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000)
		member := r.member()
		front := r.front(false, 0.5, member)
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
		check(t, front, cfg, r.expected(3))
		slices.Sort(noted)
		if got := slices.Compact(noted); !slices.Equal(got, r.expected(3)) || member.state().Units == 0 {
			t.Errorf("%v were noted, want %v; %d units", got, r.expected(3), member.state().Units)
		}
		full := errors.New("it is full")
		cfg.Keep = func(_ context.Context, block *chainhash.Hash) (bool, error) {
			if r.chain.Lookup(block).Height > 1000 {
				return false, full
			}
			return true, nil
		}
		if _, err := front.scan(t.Context(), cfg); !errors.Is(err, full) {
			t.Error(err)
		}
	})
}

// A member that was silent while a scan ended takes part in the next, and one that has not heard of
// the ends of scans does not keep them.
func TestComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000)
		member := r.member()
		front := r.front(true, 0, member)
		began := time.Now()
		time.AfterFunc(300*time.Millisecond, func() { member.pause(true) })
		time.AfterFunc(3*time.Second, func() { member.pause(false) })
		check(t, front, r.all(3), r.expected(3))
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the scan took %v beside a member that hangs", took)
		}
		if m := front.state().Members[0]; m.State != "late" {
			t.Errorf("the member is %+v", m)
		}
		time.Sleep(5 * time.Second)
		front.await(1)
		before := member.read.Load()
		check(t, front, r.all(3), r.expected(3))
		if n := member.read.Load() - before; n < 500 {
			t.Errorf("the member has read %d filters after its pause", n)
		}
		r.mu.Lock()
		r.drop = func(frame []byte) bool { return frame[1] == byte(wire.Close) }
		r.mu.Unlock()
		for range 20 {
			check(t, front, r.all(3), r.expected(3))
		}
		time.Sleep(15 * time.Second)
		if n := member.state().Scans; n != 0 {
			t.Errorf("%d scans are kept", n)
		}
	})
}

// Large sets go from the front to one member and from each to the next; where one does not pass them on,
// the front sends what is missing.
func TestPassedOn(t *testing.T) {
	scripts := make([]int, 30_000) // three chunks
	for i := range scripts {
		scripts[i] = reused + i
	}
	scripts[0] = 3
	run := func(t *testing.T, disturb func(r *rig, members []*node)) (front *node, members []*node) {
		t.Helper()
		r := newRig(t, 500)
		r.each = 8 * time.Millisecond
		for range 4 {
			members = append(members, r.node(setup{options: cluster.Options{Serve: true, PassOn: 1 << 19}}))
		}
		o := cluster.Options{PassOn: 1 << 19}
		for _, m := range members {
			o.Nodes = append(o.Nodes, m.address)
		}
		front = r.node(setup{options: o})
		front.await(len(members))
		if disturb != nil {
			disturb(r, members)
		}
		want, err := r.node(setup{}).scan(t.Context(), r.all(scripts...))
		if err != nil {
			t.Fatal(err)
		}
		check(t, front, r.all(scripts...), want)
		return front, members
	}
	synctest.Test(t, func(t *testing.T) {
		front, members := run(t, nil)
		for i, m := range members {
			if m.read.Load() < 40 {
				t.Errorf("member %d has read %d filters", i, m.read.Load())
			}
		}
		if n := front.frames[byte(wire.Chunk)]; n != 3 {
			t.Errorf("the front has sent %d chunks", n)
		}
	})
	for name, disturb := range map[string]func(r *rig, members []*node){
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
		"one ends": func(_ *rig, members []*node) {
			time.AfterFunc(150*time.Millisecond, members[0].kill)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, members := run(t, disturb)
			for i, m := range members[1:] {
				if m.read.Load() == 0 {
					t.Errorf("%s: member %d has read nothing", name, i+1)
				}
			}
		})
	}
}

// Where more scans wait than there are members, a member gets more of one at a time.
func TestWholeScans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000)
		member := r.member()
		front := r.front(false, 0, member)
		check(t, front, r.all(3), r.expected(3))
		alone := front.frames[byte(wire.Unit)]
		var group sync.WaitGroup
		for i := range 4 {
			group.Go(func() {
				if got, err := front.scan(t.Context(), r.all(i)); err != nil || !slices.Equal(got, r.expected(i)) {
					t.Errorf("found %v, %v", got, err)
				}
			})
		}
		group.Wait()
		if n := front.frames[byte(wire.Unit)] - alone; n > 2*alone {
			t.Errorf("four scans were lent in %d units, and one in %d", n, alone)
		}
	})
}

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		r := newRig(t, 200)
		member := r.member()
		front := r.front(true, 0, member)
		pass := func() *match.Pass { return front.scheduler.NewPass(r.all(3)) }
		return &actortest.Subject{
			Ref: front.ref, Served: cluster.Requests,
			Requests: []actortest.Request{
				actortest.Sample(match.LendHeights{Pass: pass()}), actortest.Sample(match.EndLending{Pass: pass()}),
				actortest.Sample(messages.GetCluster{}),
			},
			Check: func() { check(t, front, r.all(3), r.expected(3)) },
		}
	})
}
