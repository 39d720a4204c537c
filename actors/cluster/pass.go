package cluster

import (
	"crypto/rand"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/cluster/wire"
)

// Large sets of scripts go from the front to one member, and from each member to the next, while they
// come in. A member asks the member before it for chunk after chunk. If that does not answer, the front
// sends the missing chunks.

const (
	sourcePatience = 2 * time.Second        // the member before may be silent for so long
	sourceGrace    = 700 * time.Millisecond // and say that it has nothing: it may not have heard yet
)

// source is the member that a set is fetched from.
type source struct {
	address string
	token   [16]byte // that nobody else knows
	asked   map[uint32]time.Time
	heard   time.Time
}

func newSource(address string) *source {
	s := &source{address: address, asked: make(map[uint32]time.Time), heard: time.Now()}
	_, _ = rand.Read(s.token[:]) // it never fails
	return s
}

// passOn looks at a message of another member.
func (m *member) passOn(c actor.Context, from string, r *wire.Message) {
	if r.Kind == wire.Fetch {
		m.serveChunk(from, r)
		return
	}
	for _, s := range m.sets.byKey {
		// Only the member that was asked knows the token, whatever address it claims.
		if s.from != nil && s.from.token == r.Session && s.receiving() {
			m.piece(c, s, r)
			return
		}
	}
}

// serveChunk sends a member a chunk that it asks for, now or when it is there.
func (m *member) serveChunk(from string, r *wire.Message) {
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

// passable returns the set whose chunk another member asks for, nil if the set is not here or cannot be
// passed on.
func (m *member) passable(r *wire.Message) *set {
	for _, s := range m.sets.byKey {
		if s.key.digest == r.Set && s.uses > 0 && int(r.Index) < len(s.chunks) {
			return s
		}
	}
	return nil
}

func (m *member) sendPiece(s *set, w waiter) {
	m.cfg.send(w.address, &wire.Message{
		Kind: wire.Piece, Session: w.token, Set: s.key.digest, Index: w.index, Data: s.chunks[w.index],
	})
}

// arrived passes a chunk on to the members that have asked.
func (m *member) arrived(s *set, index uint32) {
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool {
		if w.index == index {
			m.sendPiece(s, w)
		}
		return w.index == index
	})
}

// piece takes a chunk of another member.
func (m *member) piece(c actor.Context, s *set, r *wire.Message) {
	if len(r.Data) == 0 {
		if time.Since(s.from.heard) > sourceGrace {
			m.fromFront(s)
		}
		return // and asked again
	}
	delete(s.from.asked, r.Index)
	s.from.heard = time.Now()
	if m.take(c, s, r) && s.receiving() {
		m.fetchMore(s, time.Now())
	}
}

// fetchMore asks for the next chunks, a few at a time, and again for chunks that may be lost.
func (m *member) fetchMore(s *set, now time.Time) {
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

// fromFront has the front send the missing chunks of a set.
func (m *member) fromFront(s *set) {
	s.from = nil
	for scan := range m.of(s) {
		m.opened(scan)
	}
}

// fetch goes on with the sets that other members are to send.
func (m *member) fetch(now time.Time) {
	for _, s := range m.sets.byKey {
		switch {
		case s.from == nil || !s.receiving():
		case now.Sub(s.from.heard) > sourcePatience:
			m.fromFront(s)
		default:
			m.fetchMore(s, now)
		}
	}
}
