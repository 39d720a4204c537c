package ask

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/messages"
)

// Stats are numbers about an actor.
type Stats = messages.ActorStats

// add adds other to s.
func add(s, other *Stats) {
	s.Actors += other.Actors
	s.Messages += other.Messages
	s.Restarts += other.Restarts
	s.Busy += other.Busy
	s.Queue += other.Queue
	s.Calls += other.Calls
	s.Waiting += other.Waiting
	s.Current = max(s.Current, other.Current)
}

// counts is what a Ref counts. Reading it disturbs nobody.
type counts struct {
	messages, restarts atomic.Uint64
	busy               atomic.Int64 // nanoseconds
	since              atomic.Int64 // when Receive was called, as now tells; 0: it is not running
	waiting            atomic.Int64
	began              time.Time
	mailbox            atomic.Pointer[actor.Mailbox]
}

// now is the time since the Ref was made, and never 0.
func (n *counts) now() int64 { return int64(time.Since(n.began)) + 1 }

// enter notes that Receive is called, leave that it has returned.
func (n *counts) enter() { n.since.Store(n.now()) }

func (n *counts) leave() {
	if since := n.since.Swap(0); since > 0 {
		n.busy.Add(n.now() - since)
	}
	n.messages.Add(1)
}

// watched wraps the producer of an actor's mailbox so that its length can be read.
func (n *counts) watched(make actor.MailboxProducer) actor.MailboxProducer {
	return func() actor.Mailbox {
		m := make()
		n.mailbox.Store(&m)
		return m
	}
}

// Stats returns the numbers of the actor, all zero where it is absent. It asks nobody.
func (r *Ref) Stats() Stats {
	if r.IsAbsent() {
		return Stats{}
	}
	s := Stats{
		Actors: 1, Messages: r.counts.messages.Load(), Restarts: r.counts.restarts.Load(),
		Busy:  time.Duration(r.counts.busy.Load()),
		Calls: len(r.slots), Waiting: int(r.counts.waiting.Load()),
	}
	if m := r.counts.mailbox.Load(); m != nil {
		s.Queue = max((*m).UserMessageCount(), 0)
	}
	if since := r.counts.since.Load(); since > 0 {
		s.Current = max(time.Duration(r.counts.now()-since), 0)
	}
	return s
}

// A Meter adds up the numbers of actors that come and go, such as those of wallets. The
// zero value is ready; it is safe for concurrent use.
type Meter struct {
	mu   sync.Mutex
	live map[*Ref]struct{}
	past Stats // of actors that have stopped
}

// Add counts an actor in. A nil Meter counts nothing.
func (m *Meter) Add(r *Ref) {
	if m == nil || r.IsAbsent() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !r.meter.CompareAndSwap(nil, m) {
		return // it is counted already
	}
	if m.live == nil {
		m.live = make(map[*Ref]struct{})
	}
	m.live[r] = struct{}{}
	select {
	case <-r.done: // which may not have seen the meter
		m.fold(r)
	default:
	}
}

// stopped keeps the sums of an actor that has stopped for good.
func (m *Meter) stopped(r *Ref) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fold(r)
}

// fold does so, with mu held.
func (m *Meter) fold(r *Ref) {
	if _, there := m.live[r]; there {
		delete(m.live, r)
		s := r.Stats()
		add(&m.past, &Stats{Messages: s.Messages, Restarts: s.Restarts, Busy: s.Busy})
	}
}

// Stats returns the numbers of all that were ever counted in.
func (m *Meter) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := m.past
	for r := range m.live {
		s := r.Stats()
		add(&sum, &s)
	}
	return sum
}
