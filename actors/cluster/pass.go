package cluster

import (
	"crypto/rand"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/cluster/wire"
)

// Large sets of scripts go from the coordinator to one worker node, and from each worker node to the next, while
// they come in. A worker node asks the worker node before it for chunk after chunk. If that does not answer, the
// coordinator sends the missing chunks.

const (
	sourcePatience = 2 * time.Second        // the worker node before may be silent for so long
	sourceGrace    = 700 * time.Millisecond // and say that it has nothing: it may not have heard yet
)

// source is the worker node that a set is fetched from.
type source struct {
	address  string
	token    [16]byte // that nobody else knows
	asked    map[uint32]time.Time
	lastSeen time.Time
}

func newSource(address string) *source {
	s := &source{address: address, asked: make(map[uint32]time.Time), lastSeen: time.Now()}
	_, _ = rand.Read(s.token[:]) // it never fails
	return s
}

// passOn looks at a message of another worker node.
func (m *workerNode) passOn(c actor.Context, from string, r *wire.Message) {
	if r.Kind == wire.Fetch {
		m.serveChunk(from, r)
		return
	}
	for _, s := range m.sets.byKey {
		// Only the worker node that was asked knows the token, whatever address it claims.
		if s.from != nil && s.from.token == r.Session && s.receiving() {
			m.piece(c, s, r)
			return
		}
	}
}

// serveChunk sends a worker node a chunk that it asks for, now or when it is there.
func (m *workerNode) serveChunk(from string, r *wire.Message) {
	s := m.passable(r)
	if s == nil {
		m.cfg.send(from, &wire.Message{Kind: wire.Piece, Session: r.Session, Set: r.Set, Index: r.Index})
		return
	}
	w := waiter{address: from, token: r.Session, index: r.Index}
	if s.chunks[r.Index] != nil {
		m.sendPiece(s, w)
	} else if len(s.waiting) < maxWaiting && !slices.Contains(s.waiting, w) {
		s.waiting = append(s.waiting, w)
	}
}

// passable returns the set whose chunk another worker node asks for, nil if the set is not here or cannot be
// passed on.
func (m *workerNode) passable(r *wire.Message) *set {
	for _, s := range m.sets.byKey {
		if s.key.digest == r.Set && s.uses > 0 && int(r.Index) < len(s.chunks) {
			return s
		}
	}
	return nil
}

func (m *workerNode) sendPiece(s *set, w waiter) {
	m.cfg.send(w.address, &wire.Message{
		Kind: wire.Piece, Session: w.token, Set: s.key.digest, Index: w.index, Data: s.chunks[w.index],
	})
}

// arrived passes a chunk on to the worker nodes that have asked.
func (m *workerNode) arrived(s *set, index uint32) {
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool {
		if w.index == index {
			m.sendPiece(s, w)
		}
		return w.index == index
	})
}

// piece takes a chunk of another worker node.
func (m *workerNode) piece(c actor.Context, s *set, r *wire.Message) {
	if len(r.Data) == 0 {
		if time.Since(s.from.lastSeen) > sourceGrace {
			m.fromCoordinator(s)
		}
		return // and asked again
	}
	delete(s.from.asked, r.Index)
	s.from.lastSeen = time.Now()
	if m.take(c, s, r) && s.receiving() {
		m.fetchMore(s, time.Now())
	}
}

// fetchMore asks for the next chunks, a few at a time, and again for chunks that may be lost.
func (m *workerNode) fetchMore(s *set, now time.Time) {
	from := s.from
	for i, at := s.first(), 0; i < len(s.chunks) && at < window; i++ {
		if s.chunks[i] != nil {
			continue
		}
		at++
		if asked, ok := from.asked[uint32(i)]; ok && now.Sub(asked) < askAgain {
			continue
		}
		from.asked[uint32(i)] = now
		m.cfg.send(from.address, &wire.Message{
			Kind: wire.Fetch, Session: from.token, Set: s.key.digest, Index: uint32(i),
		})
	}
}

// fromCoordinator has the coordinator send the missing chunks of a set.
func (m *workerNode) fromCoordinator(s *set) {
	s.from = nil
	for scan := range m.of(s) {
		m.opened(scan)
	}
}

// fetch goes on with the sets that other worker nodes are to send.
func (m *workerNode) fetch(now time.Time) {
	for _, s := range m.sets.byKey {
		switch {
		case s.from == nil || !s.receiving():
		case now.Sub(s.from.lastSeen) > sourcePatience:
			m.fromCoordinator(s)
		default:
			m.fetchMore(s, now)
		}
	}
}
