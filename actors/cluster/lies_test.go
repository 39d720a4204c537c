package cluster_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/actors/cluster"
	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/messages"
)

// A worker node that lies about anything but the blocks it finds costs time at most: the scan finds what a lone
// node finds.
func TestLies(t *testing.T) {
	lies := map[string]func(m *wire.Message){
		"hits that could not be looked into either": func(m *wire.Message) { m.Unchecked = m.Hits },
		"other heights":            func(m *wire.Message) { m.From, m.Hits = m.From+1, nil },
		"heights below":            func(m *wire.Message) { m.To, m.Hits = m.To-1, nil },
		"a unit of another number": func(m *wire.Message) { m.Unit += 1000 },
		"another scan":             func(m *wire.Message) { m.Scan++ },
		"another session":          func(m *wire.Message) { m.Session[3] ^= 1 },
		"no time":                  func(m *wire.Message) { m.Micros = 0 },
		"much time":                func(m *wire.Message) { m.Micros = 1<<50 - 1 },
		"a refusal of each":        func(m *wire.Message) { m.Text, m.Hits = "no", nil },
	}
	for name, lie := range lies {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 1500)
			liar := r.workerNode()
			coordinator := r.coordinator(false, 0, liar, r.workerNode())
			said := 0
			r.mu.Lock()
			r.change = func(m *wire.Message) {
				if m.Kind == wire.Done {
					said++
					lie(m)
				}
			}
			r.mu.Unlock()
			t.Log(name)
			check(t, coordinator, r.all(3, 20), r.expected(3, 20))
			if said == 0 {
				t.Error("nobody has answered")
			}
			for _, m := range coordinator.state().Members {
				if m.Busy < 0 || m.Busy > time.Minute {
					t.Errorf("a worker node has worked for %v", m.Busy)
				}
			}
		})
	}
}

// Worker nodes that say that they make ready and never are, or say nothing at all, are not waited for for ever.
func TestNeverReady(t *testing.T) {
	for name, most := range map[string]time.Duration{"says so": 34 * time.Second, "says nothing": 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 1500)
			coordinator := r.coordinator(false, 0, r.workerNode(), r.workerNode())
			r.mu.Lock()
			r.change = func(m *wire.Message) {
				if m.Kind == wire.Opened {
					m.Need, m.Retry, m.Text = false, true, ""
				}
			}
			r.drop = func(frame []byte) bool { return name == "says nothing" && frame[1] == byte(wire.Opened) }
			r.mu.Unlock()
			began := time.Now()
			check(t, coordinator, r.all(3, 20), r.expected(3, 20))
			if took := time.Since(began); took > most {
				t.Errorf("%s: it took %v", name, took)
			}
		})
	}
}

// Messages with a garbled field cost time at most; hits, heights, Check and Exact stay as they were sent.
func TestGarbled(t *testing.T) {
	for seed := range rounds(5, 12) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 3))
			r := newRig(t, 1500)
			coordinator := r.coordinator(false, 0, r.workerNode(), r.workerNode())
			garbled := 0
			r.mu.Lock()
			r.change = func(m *wire.Message) {
				if random.IntN(8) == 0 {
					garble(random, m)
					garbled++
				}
			}
			r.mu.Unlock()
			for i := range 4 {
				check(t, coordinator, r.all(i, 2*i+5), r.expected(i, 2*i+5))
			}
			if garbled == 0 {
				t.Error("nothing was changed")
			}
		})
	}
}

// garble changes a field of a message, which can still be sent.
func garble(random *rand.Rand, m *wire.Message) {
	number := func() uint32 { return random.Uint32() >> random.IntN(32) >> 1 }
	switch random.IntN(14) {
	case 0:
		m.Kind = wire.Kind(random.IntN(int(wire.Piece) + 2))
	case 1:
		m.Session[random.IntN(16)] ^= 1
	case 2:
		m.Scan += uint64(random.IntN(3))
	case 3:
		m.Set[random.IntN(32)] ^= 1
	case 4:
		m.Scripts = number()
	case 5:
		m.Chunks = number()
	case 6:
		m.Size = uint64(number())
	case 7:
		m.Block[random.IntN(32)] ^= 1
	case 8:
		m.Need, m.Retry = random.IntN(2) == 0, random.IntN(2) == 0
	case 9:
		m.Index = number()
	case 10:
		m.Data = m.Data[:random.IntN(len(m.Data)+1)]
	case 11:
		m.Unit += uint64(random.IntN(3))
	case 12:
		m.Source = "10.0.0.1:1"
	default:
		m.Workers, m.Micros, m.Text = number(), uint64(number()), "\xff no"
	}
}

// An answer that comes twice counts once, and so do hellos, openings and chunks.
func TestTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1500)
		workerNode := r.workerNode()
		coordinator := r.coordinator(false, 0, workerNode)
		r.mu.Lock()
		r.twice = true
		r.mu.Unlock()
		check(t, coordinator, r.all(3, 20), r.expected(3, 20))
		check(t, coordinator, r.all(4), r.expected(4))
		if m := coordinator.state().Members[0]; m.Units == 0 || m.Refusals != 0 {
			t.Errorf("%+v", m)
		}
	})
}

// Claims about a worker node's own strength cost time alone.
func TestBoasting(t *testing.T) {
	for _, workers := range []uint32{0, 1 << 30} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 1500)
			r.change = func(m *wire.Message) {
				if m.Kind == wire.Welcome {
					m.Workers, m.Height = workers, 1<<30
				}
			}
			coordinator := r.coordinator(false, 0, r.workerNode(), r.workerNode())
			check(t, coordinator, r.all(3, 20), r.expected(3, 20))
		})
	}
}

// A worker node that answers without any work, or omits every tenth hit, is found by auditing one answer in 200. That
// takes at most 2,000 answers but for one run in 20,000, and never more than 4,000. It is named, and gets nothing
// more.
func TestAuditFinds(t *testing.T) {
	for name, every := range map[string]int{"no work": 1, "every tenth hit": 10} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 1200)
			r.each = 100 * time.Microsecond
			hits := 0
			liar := r.node(setup{options: cluster.Options{Serve: true}})
			r.change = func(m *wire.Message) {
				if m.Kind != wire.Done {
					return
				}
				var kept []int32
				for _, h := range m.Hits {
					if hits++; hits%every != 0 {
						kept = append(kept, h)
					}
				}
				m.Hits = kept
			}
			coordinator := r.node(setup{options: cluster.Options{
				Nodes: []string{liar.address}, Audit: 0.005, After: time.Millisecond,
			}})
			coordinator.await(1)
			cfg := r.all()
			scripts := make([][]byte, reused)
			for i := range scripts {
				scripts[i] = script(i)
			}
			cfg.Query = filters.NewQuery(scripts) // every block is a hit
			for {
				_, err := coordinator.scan(t.Context(), cfg)
				m := coordinator.state().Members[0]
				var wrong *messages.ClusterError
				if errors.As(err, &wrong) && wrong.Member == liar.address && m.State == "excluded" {
					t.Logf("%s: found after %d answers", name, m.Units)
					return
				}
				if err != nil || m.Units > 4000 {
					t.Fatalf("%s: %v, %+v", name, err, m)
				}
			}
		})
	}
}

// Earlier answers of a worker node are not believed once it is known to lie. The other scans that it has answered a
// part of fail too, and its leased heights come back.
func TestLiarInOthers(t *testing.T) {
	for range 6 {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 2000)
			liar := r.node(setup{options: cluster.Options{Serve: true}, lie: func(batch []filters.Filter) {
				for i := range batch {
					batch[i] = filters.Filter{Block: batch[i].Block, Data: []byte{0}} // an empty one
				}
			}})
			coordinator := r.coordinator(false, 0.2, liar, r.workerNode())
			var group sync.WaitGroup
			failed := make([]bool, 2)
			for i := range failed {
				group.Go(func() {
					got, err := coordinator.scan(t.Context(), r.all(i))
					var wrong *messages.ClusterError
					failed[i] = errors.As(err, &wrong) && wrong.Member == liar.address
					if !failed[i] && (err != nil || !slices.Equal(got, r.expected(i))) {
						t.Errorf("scan %d found %v, %v", i, got, err)
					}
				})
			}
			group.Wait()
			if !failed[0] && !failed[1] {
				t.Error("no scan has failed")
			}
			check(t, coordinator, r.all(3), r.expected(3))
		})
	}
}
