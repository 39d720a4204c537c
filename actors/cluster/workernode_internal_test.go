package cluster

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
)

// sentLink keeps what is sent.
type sentLink struct {
	Link

	sent    []*wire.Message
	to      []string
	watched []string
}

func (l *sentLink) Send(address string, frame []byte) {
	m, err := wire.Parse(frame)
	if err != nil {
		panic(err)
	}
	l.sent, l.to = append(l.sent, m), append(l.to, address)
}

func (l *sentLink) Watch(address string)    { l.watched = append(l.watched, address) }
func (l *sentLink) State() (string, uint64) { return "self:1", 0 }

// kinds returns what was sent, and forgets it.
func (l *sentLink) kinds() (list []wire.Kind) {
	for _, m := range l.sent {
		list = append(list, m.Kind)
	}
	l.sent, l.to = nil, nil
	return list
}

func testConfig(link Link) *Config {
	return &Config{
		Options: Options{Link: link, Memory: 1 << 20, PassOn: 1 << 10, Serve: true, Local: true},
		Network: "regtest", Log: slog.New(slog.DiscardHandler),
	}
}

// A worker node is sent a chunk that is there, and waits once for each that is to come; no more worker nodes wait
// than there is room for. For a chunk that this node cannot have, it gets an empty answer at once.
func TestWorkerNodesWaitForChunks(t *testing.T) {
	link := new(sentLink)
	m := newWorkerNode(testConfig(link), nil)
	s := m.sets.take(&session{}, announce(3))
	s.chunks[0] = []byte("first")
	fetch := func(from string, set byte, index uint32) {
		m.serveChunk(from, &wire.Message{Kind: wire.Fetch, Session: [16]byte{5}, Set: [32]byte{set}, Index: index})
	}
	fetch("a", 3, 0)
	if got := link.sent[0]; link.to[0] != "a" || string(got.Data) != "first" || got.Session != [16]byte{5} {
		t.Errorf("sent %+v", got)
	}
	link.kinds()
	for _, unknown := range []struct {
		set   byte
		index uint32
	}{{4, 0}, {3, 3}} {
		fetch("a", unknown.set, unknown.index)
		if got := link.sent[0]; len(link.sent) != 1 || got.Kind != wire.Piece || len(got.Data) > 0 {
			t.Errorf("%+v: %+v", unknown, got)
		}
		link.kinds()
	}
	for range 2 {
		fetch("a", 3, 1)
		fetch("b", 3, 1)
		fetch("a", 3, 2)
	}
	if len(s.waiting) != 3 || len(link.sent) != 0 {
		t.Errorf("%d wait, %d were sent", len(s.waiting), len(link.sent))
	}
	for n := range 2 * maxWaiting {
		fetch(string(rune('A'+n)), 3, 2)
	}
	if len(s.waiting) != maxWaiting {
		t.Errorf("%d wait", len(s.waiting))
	}
	s.chunks[1] = []byte("second")
	m.arrived(s, 1)
	if len(link.sent) != 2 || link.to[0] != "a" || link.to[1] != "b" || string(link.sent[1].Data) != "second" ||
		len(s.waiting) != maxWaiting-2 {
		t.Errorf("sent to %v, %d still wait", link.to, len(s.waiting))
	}
	m.sets.release(s)
	link.kinds()
	if fetch("a", 3, 0); len(link.sent[0].Data) > 0 {
		t.Error("a set is passed on that nobody uses")
	}
}

// A worker node asks the one before it for a few chunks at a time, and for each again after a while. It has the
// coordinator send them when the other has said for long that it has nothing, or has been silent.
func TestChunksOfAnotherWorkerNode(t *testing.T) {
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			link := new(sentLink)
			m := newWorkerNode(testConfig(link), nil)
			announced := announce(9)
			announced.Source = "before:1"
			s := m.sets.take(&session{}, announced)
			indices := func() (list []uint32) {
				for _, f := range link.sent {
					list = append(list, f.Index)
				}
				link.kinds()
				return list
			}
			m.fetchMore(s, time.Now())
			if got := indices(); !slices.Equal(got, []uint32{0, 1, 2, 3}) {
				t.Errorf("asked for %v", got)
			}
			s.add(1, make([]byte, 100))
			time.Sleep(askAgain - 1)
			m.fetchMore(s, time.Now())
			if got := indices(); !slices.Equal(got, []uint32{4}) {
				t.Errorf("asked for %v, and only one has come", got)
			}
			time.Sleep(time.Nanosecond)
			m.fetch(time.Now())
			if got := indices(); !slices.Equal(got, []uint32{0, 2, 3}) {
				t.Errorf("asked again for %v", got)
			}
			token := s.from.token
			nothing := func(session [16]byte) {
				m.passOn(nil, "before:1", &wire.Message{Kind: wire.Piece, Session: session})
			}
			if !silent {
				time.Sleep(sourceGrace - askAgain)
				if nothing(token); s.from == nil {
					t.Error("given up at once")
				}
				time.Sleep(time.Nanosecond)
				if nothing([16]byte{}); s.from == nil {
					t.Error("given up by the word of another")
				}
				if nothing(token); s.from != nil {
					t.Error("not given up")
				}
				return
			}
			time.Sleep(sourcePatience - askAgain)
			if m.fetch(time.Now()); s.from == nil {
				t.Error("given up before its time")
			}
			time.Sleep(time.Nanosecond)
			if m.fetch(time.Now()); s.from != nil {
				t.Error("not given up")
			}
			link.kinds()
			if m.fetch(time.Now()); len(link.sent) > 0 {
				t.Error("the other worker node is still asked")
			}
		})
	}
}

// A coordinator and its scans are forgotten after they have been silent for long; work that goes on is not.
func TestSilentCoordinatorsAreForgotten(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, test := range []struct {
		name                 string
		coordinator, scan    time.Duration // since their last message
		works                bool
		coordinators, served int
	}{
		{"not silent", maxSilence, maxSilence, false, 1, 1},
		{"a silent coordinator", maxSilence + 1, 0, true, 0, 0},
		{"a silent scan", 0, maxSilence + 1, false, 1, 0},
		{"a silent scan that is worked on", 0, maxSilence + 1, true, 1, 1},
	} {
		m := newWorkerNode(testConfig(new(sentLink)), nil)
		s := &session{token: [16]byte{1}, lastSeen: now.Add(-test.coordinator), scans: map[uint64]*served{}}
		m.sessions[s.token] = s
		ctx, cancel := context.WithCancel(t.Context())
		scan := &served{
			session: s, id: 7, set: m.sets.take(s, announce(2)), lastSeen: now.Add(-test.scan),
			ctx: ctx, cancel: cancel,
		}
		if test.works {
			scan.cancelUnit = func() {}
		}
		s.scans[7] = scan
		m.tick(now)
		ended := scan.ctx.Err() != nil
		if len(m.sessions) != test.coordinators || len(s.scans) != test.served || ended != (test.served == 0) {
			t.Errorf("%s: %d coordinators, %d scans", test.name, len(m.sessions), len(s.scans))
		}
	}
}

// A worker node works for so many coordinators and no more, and for each once, however often that begins anew.
func TestSessionsAreBounded(t *testing.T) {
	link := new(sentLink)
	cfg := testConfig(link)
	cfg.Chain = noChain()
	m := newWorkerNode(cfg, nil)
	hello := func(n byte, from string) *wire.Message {
		link.kinds()
		m.receive(nil, from, &wire.Message{
			Kind: wire.Hello, Session: [16]byte{n}, Protocols: []uint32{wire.Protocol}, Network: "regtest",
		})
		return link.sent[0]
	}
	for n := range byte(maxSessions) {
		got := hello(n+1, "coordinator"+string(rune('a'+n)))
		if got.Kind != wire.Welcome || got.Height != -1 {
			t.Fatalf("coordinator %d: %+v", n, got)
		}
	}
	if got := hello(200, "another"); got.Kind != wire.Refused {
		t.Errorf("one coordinator more: %+v", got)
	}
	got := hello(201, "coordinatora")
	if got.Kind != wire.Welcome || len(m.sessions) != maxSessions || m.sessions[[16]byte{1}] != nil {
		t.Errorf("a coordinator that begins anew: %+v, %d sessions", got, len(m.sessions))
	}
	if got := hello(201, "coordinatora"); got.Kind != wire.Welcome || len(link.watched) != maxSessions+1 {
		t.Errorf("a coordinator that is there: %+v, %d were watched", got, len(link.watched))
	}
}

// A unit that cannot be worked on is refused, with the reason. Units wait in a bounded queue; a cancelled unit is
// dropped.
func TestUnitsThatWait(t *testing.T) {
	link := new(sentLink)
	m := newWorkerNode(testConfig(link), nil)
	s := &session{token: [16]byte{1}, coordinator: "coordinator:1", scans: map[uint64]*served{}}
	m.sessions[s.token] = s
	scan := &served{session: s, id: 7, stop: blockAt(100), set: m.sets.take(s, announce(2))}
	scan.ctx, scan.cancel = context.WithCancel(t.Context())
	s.scans[7] = scan
	unit := func(number uint64, id uint64, to int32) string {
		link.kinds()
		m.receive(nil, "coordinator:1", &wire.Message{
			Kind: wire.Unit, Session: s.token, Scan: id, Unit: number, From: 1, To: to,
		})
		if len(link.sent) == 0 {
			return ""
		}
		return link.sent[0].Text
	}
	if got := unit(1, 8, 5); got != "no such scan" {
		t.Error(got)
	}
	if got := unit(1, 7, 5); got != "it does not have the scripts" {
		t.Error(got)
	}
	scan.set.query = filters.NewQuery([][]byte{{1}})
	cancelled := 0
	scan.unit, scan.cancelUnit = 50, func() { cancelled++ } // it is worked on
	if got := unit(1, 7, 102); got != "it ends above the last block" {
		t.Error(got)
	}
	for n := range uint64(maxQueued) {
		if got := unit(n+1, 7, 101); got != "" {
			t.Errorf("unit %d: %s", n, got)
		}
		if n == 0 {
			if got := unit(50, 7, 101); got != "" || len(scan.queue) != 1 {
				t.Errorf("asked again for the unit that is worked on: %q, %d wait", got, len(scan.queue))
			}
		}
	}
	if got := unit(9, 7, 5); got != "too many units wait" {
		t.Error(got)
	}
	scan.cancelled(2)
	if len(scan.queue) != maxQueued-1 || cancelled != 0 {
		t.Errorf("%d wait after one was cancelled, %d were ended", len(scan.queue), cancelled)
	}
	if scan.cancelled(50); cancelled != 1 || len(scan.queue) != maxQueued-1 {
		t.Errorf("%d wait, %d were ended", len(scan.queue), cancelled)
	}
}

// noChain is a chain that cannot be read.
func noChain() *chainview.Current { return new(chainview.Current) }

// blockAt returns a block of some height.
func blockAt(height int32) *chainview.Block { return &chainview.Block{Height: height} }
