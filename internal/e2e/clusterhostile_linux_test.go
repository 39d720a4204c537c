package e2e_test

import (
	"crypto/rand"
	"fmt"
	"iter"
	random "math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/internal/e2e"
)

// hostileMessages is how many messages come for each kill of a long test.
const hostileMessages = 50_000

// A node survives any messages of another node of its cluster, sent to it as a worker node and as a coordinator.
// Its memory does not grow with time, and it works for and with honest nodes afterwards.
func TestClusterHostile(t *testing.T) {
	t.Parallel()
	messages := hostileMessages * count(t, "TRAWL_SOAK", 1)
	s := newStranger(t)
	l := newLongCluster(t, 0)
	args := append([]string{"-clusterlocal=0", "-clusterafter=1", "-clusteraudit=0"}, s.options...)
	at := e2e.FreeAddr(t)
	node := l.node(append(args, "-clusterlisten="+at, "-clusternode="+s.address)...)
	objects := manyScripts(random.New(random.NewPCG(9, 9)), 5_000)
	done := make(chan struct{})
	var scans, failed int
	var group sync.WaitGroup
	group.Go(func() { // it is a coordinator meanwhile
		for {
			select {
			case <-done:
				return
			default:
			}
			if err := node.Call(t.Context(), nil, "scanblocks", "start", objects[:1_000], 0); err != nil {
				failed++
			}
			scans++
		}
	})
	s.connect(at)
	s.learn(l)
	l.coordinator = node
	var early int
	began, said := time.Now(), 0
	for more := true; more; said++ {
		s.say()
		if said == messages/5 {
			early = residentMB(t, node)
		}
		if said >= messages && said%10_000 == 0 {
			more = (s.done.Load() == 0 || l.units() == 0) && time.Since(began) < 2*time.Minute
		}
	}
	late, leased := residentMB(t, node), l.units()
	close(done)
	group.Wait()
	t.Logf("%d messages in %v, %d came back, %d units were done, %d leased; %d scans, %d failed; %d then %d MB",
		said, time.Since(began).Round(time.Second), s.heard.Load(), s.done.Load(), leased, scans, failed, early, late)
	if late > early+64 {
		t.Errorf("the node has %d MB after a fifth of the messages, and %d MB after all", early, late)
	}
	if s.done.Load() == 0 || leased == 0 || failed > 0 {
		t.Error("it has not taken all parts in the conversation")
	}
	s.close()
	if log := node.Log(); strings.Contains(log, "panic") {
		t.Errorf("the node has panicked:\n%s", node.LogTail())
	}
	coordinator := l.node(append(args, "-clusterlisten="+e2e.FreeAddr(t), "-clusternode="+at)...)
	l.coordinator = coordinator
	l.up(1)
	l.same("a scan with the node as a worker node", scanner(objects, 0, l.blocks, nil))
	node.Stop()
}

// residentMB is the memory that a process has now.
func residentMB(tb testing.TB, d *e2e.Daemon) int {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", d.PID()))
	if err != nil {
		tb.Fatal(err)
	}
	var size, resident int
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		tb.Fatal(err)
	}
	return resident * os.Getpagesize() >> 20
}

// learn learns what a scan is opened with.
func (s *stranger) learn(l *longCluster) {
	s.Helper()
	var hash string
	var filter struct{ Header string }
	l.lone.Get(&hash, "getblockhash", l.blocks)
	l.lone.Get(&filter, "getblockfilter", hash)
	set, _ := wire.NewSet(func(from int) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for i := from; i < 100; i++ {
				if !yield([]byte{0x51, byte(i)}) {
					return
				}
			}
		}
	})
	s.open = wire.Message{
		Kind: wire.Open, Set: set.Digest, Scripts: uint32(set.Scripts()), Chunks: 1, Size: set.Size,
		To: int32(l.blocks), Block: hash32(s, hash), Header: hash32(s, filter.Header), Data: set.AppendChunk(nil, 0),
	}
	for range 4 {
		var session [16]byte
		_, _ = rand.Read(session[:])
		s.sessions = append(s.sessions, session)
	}
}

// hash32 reads a hash as it is shown, backwards.
func hash32(s *stranger, text string) (h [32]byte) {
	s.Helper()
	for i := range h {
		if _, err := fmt.Sscanf(text[2*i:2*i+2], "%02x", &h[31-i]); err != nil {
			s.Fatal(err)
		}
	}
	return h
}

// say says anything: bytes by chance, what a coordinator or a worker node may say, and the same with something changed.
func (s *stranger) say() {
	s.Helper()
	switch s.rng.IntN(8) {
	case 0:
		frame := make([]byte, 1+s.rng.IntN(200))
		for i := range frame {
			frame[i] = byte(s.rng.Uint32())
		}
		s.write(frame)
		return
	case 1:
		if len(s.last) > 0 {
			s.last[s.rng.IntN(len(s.last))] ^= 1 << s.rng.IntN(8)
			s.write(s.last)
			return
		}
	}
	m := s.asCoordinator()
	if s.rng.IntN(2) == 0 {
		m = s.asWorkerNode()
	}
	if s.rng.IntN(3) == 0 {
		s.garble(&m)
	}
	s.last = m.Append(s.last[:0])
	s.write(s.last)
}

// asCoordinator is something that a coordinator says.
func (s *stranger) asCoordinator() wire.Message {
	m := s.open
	m.Session, m.Scan = s.sessions[s.rng.IntN(len(s.sessions))], s.rng.Uint64N(8)
	m.Kind = []wire.Kind{
		wire.Hello, wire.Open, wire.Chunk, wire.Unit, wire.Unit, wire.Unit, wire.Cancel, wire.Close, wire.Fetch,
		wire.Piece,
	}[s.rng.IntN(10)]
	m.Protocols, m.Network = []uint32{wire.Protocol}, "regtest"
	m.Check, m.Exact = s.rng.IntN(2) == 0, s.rng.IntN(2) == 0
	if s.rng.IntN(4) == 0 {
		m.Source = s.address
	}
	if m.Kind == wire.Unit {
		m.Unit, m.From = s.rng.Uint64N(100), s.rng.Int32N(m.To)
		m.To = m.From + 1 + s.rng.Int32N(20)
	}
	if m.Kind != wire.Chunk && m.Kind != wire.Piece {
		m.Data = nil
	}
	return m
}

// asWorkerNode is an answer to something that was said lately.
func (s *stranger) asWorkerNode() wire.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) == 0 {
		return wire.Message{Kind: wire.Welcome, Session: s.sessions[0]}
	}
	m := *s.asked[s.rng.IntN(len(s.asked))]
	switch m.Kind {
	case wire.Hello:
		m.Kind, m.Workers, m.Height = wire.Welcome, s.rng.Uint32N(64), s.rng.Int32()
	case wire.Open:
		m.Kind, m.Need, m.Retry = wire.Opened, s.rng.IntN(2) == 0, s.rng.IntN(2) == 0
	case wire.Chunk:
		m.Kind, m.Data = wire.Taken, nil
	case wire.Unit:
		m.Kind, m.Micros = wire.Done, s.rng.Uint64N(1e6)
		for h := m.From; h < m.To; h++ {
			if s.rng.IntN(3) == 0 {
				m.Hits = append(m.Hits, h)
			}
			if s.rng.IntN(20) == 0 {
				m.Unchecked = append(m.Unchecked, h)
			}
		}
	default: // said back as it is
	}
	return m
}

// garble changes a field.
func (s *stranger) garble(m *wire.Message) {
	number := func() uint32 { return s.rng.Uint32() >> s.rng.IntN(32) }
	switch s.rng.IntN(12) {
	case 0:
		kind := wire.Kind(s.rng.IntN(20))
		if ends := kind == wire.Refused || kind == wire.Unknown; !ends || s.rng.IntN(10_000) == 0 {
			m.Kind = kind // nothing is said for a while after those that end a session
		}
	case 1:
		m.Session[s.rng.IntN(16)] ^= 1
	case 2:
		m.Scan = s.rng.Uint64()
	case 3:
		m.Set[s.rng.IntN(32)] ^= 1
	case 4:
		m.Scripts, m.Chunks, m.Size = number(), number(), uint64(number())
	case 5:
		m.Block[s.rng.IntN(32)] ^= 1
	case 6:
		m.Index = number()
	case 7:
		m.Data = make([]byte, s.rng.IntN(1000))
	case 8:
		m.Unit = s.rng.Uint64()
	case 9:
		m.From, m.Hits, m.Unchecked = int32(number()), nil, nil
		m.To = m.From + int32(number()>>16)
	case 10:
		m.Text, m.Network = strings.Repeat("x", s.rng.IntN(600)), "main"
	default:
		m.Source = "127.0.0.1:1"
	}
}
