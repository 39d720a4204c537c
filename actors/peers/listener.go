package peers

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
)

const (
	// acceptAhead is how many accepted connections of a listener wait for the table.
	// More wait with the operating system, so that a storm of them costs no memory.
	acceptAhead = 16

	// acceptPause is how long nothing is accepted after a failure.
	acceptPause = 50 * time.Millisecond
)

// accepted is a connection that a peer made. handled lets the next one in.
type accepted struct {
	conn     net.Conn
	listener *netsetup.Listener
	handled  func()
}

// A listener accepts connections for the table, in workers that outlive a restart of
// it: what was accepted meanwhile waits in its mailbox.
type listener struct {
	at      []netsetup.Listener
	pending *pendingConns
	stopped chan struct{} // closed when nothing is accepted any more
	begun   bool
	workers ask.Tasks
}

// start begins to accept, once. Workers of the actor in c pass connections to deliver.
func (l *listener) start(
	c actor.Context, deliver func(accepted), reports netsetup.Reporter, printf func(format string, args ...any),
) {
	if l.begun {
		return
	}
	l.begun = true
	for i := range l.at {
		i2p, ok := l.at[i].Listener.(*netsetup.I2PListener)
		if ok {
			i2p.Report(reports)
		} else {
			printf("Bound to %s", l.at[i].Addr())
		}
		l.workers.Go(c, func() func() {
			l.accept(&l.at[i], deliver)
			return nil
		})
	}
}

// stop ends accepting, and waits for the workers.
func (l *listener) stop() {
	close(l.stopped)
	for i := range l.at {
		_ = l.at[i].Close()
	}
	l.workers.Drop()
}

// accept accepts until the listener is closed.
func (l *listener) accept(at *netsetup.Listener, deliver func(accepted)) {
	ahead := make(chan struct{}, acceptAhead)
	for {
		conn, err := at.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // say, too many open files
			select {
			case <-time.After(acceptPause):
				continue
			case <-l.stopped:
				return
			}
		}
		select {
		case ahead <- struct{}{}:
		case <-l.stopped:
			_ = conn.Close()
			return
		}
		l.pending.add(conn)
		deliver(accepted{conn, at, func() {
			l.pending.remove(conn)
			<-ahead
		}})
	}
}

// pendingConns are connections on their way to the table. When it stops, it closes connections
// that have not arrived.
type pendingConns struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

func (p *pendingConns) add(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		p.conns = make(map[net.Conn]struct{})
	}
	p.conns[conn] = struct{}{}
}

func (p *pendingConns) remove(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

func (p *pendingConns) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
	clear(p.conns)
}
