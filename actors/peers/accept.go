package peers

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/link"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
)

// ahead is how many accepted connections of a listener wait for the table. More
// wait with the operating system, so that a storm of them costs no memory.
const ahead = 16

// accepted is a connection that a peer made. handled makes room for the next.
type accepted struct {
	conn     net.Conn
	listener *netsetup.Listener
	handled  func()
}

// accept begins to accept, once in the life of the table.
func (t *Table) accept(c actor.Context) {
	if t.accepting != nil {
		return
	}
	for i := range t.cfg.Listeners {
		l, to := &t.cfg.Listeners[i], t.self
		t.accepting = append(t.accepting, ask.Go(c, func() any {
			t.acceptFrom(l, to)
			return nil
		}))
		t.printf("Bound to %s", l.Addr())
	}
}

func (t *Table) stopAccepting() {
	close(t.stopped)
	for i := range t.cfg.Listeners {
		_ = t.cfg.Listeners[i].Close()
	}
	for _, w := range t.accepting {
		w.Drop()
	}
}

// acceptFrom accepts until the listener is closed. It outlives a restart of the
// table, which finds what was accepted meanwhile in its mailbox.
func (s *shared) acceptFrom(l *netsetup.Listener, to mailbox) {
	room := make(chan struct{}, ahead)
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // say, too many open files
			select {
			case <-time.After(acceptPause):
				continue
			case <-s.stopped:
				return
			}
		}
		select {
		case room <- struct{}{}:
		case <-s.stopped:
			_ = conn.Close()
			return
		}
		s.transit.add(conn)
		to.tell(accepted{conn, l, func() {
			s.transit.remove(conn)
			<-room
		}})
	}
}

// transit are connections on their way to the table. Those that do not arrive,
// because it stops, are closed.
type transit struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

func (t *transit) add(conn net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conns == nil {
		t.conns = make(map[net.Conn]struct{})
	}
	t.conns[conn] = struct{}{}
}

func (t *transit) remove(conn net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, conn)
}

func (t *transit) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for conn := range t.conns {
		_ = conn.Close()
	}
	clear(t.conns)
}

// acceptPause is how long nothing is accepted after a failure.
const acceptPause = 50 * time.Millisecond

// accepted takes a connection. Where there are too many, it first finds out which
// one can be spared.
func (t *Table) accepted(c actor.Context, m accepted) {
	if t.guestCount() >= t.maxInbound() && t.active {
		t.makeRoom(c, merit{accepted: m})
		return
	}
	defer m.handled()
	t.take(c, m, false)
}

// take takes a connection, if it may be; full says that room was made for it as far
// as possible.
func (t *Table) take(c actor.Context, m accepted, full bool) {
	addr := addrOf(m.conn.RemoteAddr())
	e := &entry{name: addr.String(), addr: addr, onion: m.listener.Onion, typ: p2p.Inbound}
	e.allowed = t.permit(e)
	if g := m.listener.Grant; g != nil {
		e.allowed = access.Union(e.allowed, g.Of(t.cfg.Defaults))
	}
	if !t.admit(e, full) {
		_ = m.conn.Close()
		return
	}
	t.debugf("connection from %s accepted", e.name)
	t.add(c, m.conn, e, t.cfg.V2)
}

// admit reports whether an inbound connection may stay.
func (t *Table) admit(e *entry, full bool) bool {
	guests, now := t.guestCount(), t.cfg.Now()
	e.shunned = t.bans.isDiscouraged(e.addr)
	switch {
	case !t.active:
		t.debugf("connection from %s dropped: not accepting new connections", e.name)
		return false
	case !e.allowed.NoBan && t.bans.isBanned(e.addr, now):
		t.debugf("connection from %s dropped (banned)", e.name)
		return false
	case !e.allowed.NoBan && e.shunned && (full || guests+1 >= t.maxInbound()):
		t.debugf("connection from %s dropped (discouraged)", e.name)
		return false
	case guests >= t.maxInbound():
		t.debugf("failed to find an eviction candidate - connection dropped (full)")
		return false
	}
	return true
}

// permit returns what a peer may do by its address.
func (t *Table) permit(e *entry) link.Permissions {
	var p link.Permissions
	if e.onion {
		return p
	}
	for _, w := range t.cfg.Whitelist {
		if (w.In && e.typ == p2p.Inbound || w.Out && e.typ != p2p.Inbound) && w.Subnet.Contains(e.addr) {
			p = access.Union(p, w.Of(t.cfg.Defaults))
		}
	}
	return p
}

// A ClockSet tells the table that the clock was set: what is due by it is done.
type ClockSet struct{}

// clockSet does what is due by a clock that was set.
func (t *Table) clockSet() {
	for _, e := range t.peers {
		_ = e.session.Tick() // ends itself
	}
	t.addrs.sendDue()
}

// A tick is the time to look after connections.
type tick struct{ handled func() }

// interval is how often the table looks after its connections.
const interval = 500 * time.Millisecond

// tick has the table look after its connections from time to time. One that is
// busy gets one tick, not many.
func (t *Table) tick(c actor.Context) {
	to, ctx := t.self, t.ctx
	t.workers.start(c, func() any {
		var waiting atomic.Bool
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
				if waiting.CompareAndSwap(false, true) {
					to.tell(tick{func() { waiting.Store(false) }})
				}
			}
		}
	})
}
