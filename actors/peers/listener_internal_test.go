package peers

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/netsetup"
)

// A door is a listener through which the test sends what it accepts.
type door struct {
	arrivals chan any // a net.Conn or an error
	closed   chan struct{}
}

func (d *door) Accept() (net.Conn, error) {
	select {
	case a := <-d.arrivals:
		if err, failed := a.(error); failed {
			return nil, err
		}
		return a.(net.Conn), nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

func (d *door) Close() error {
	close(d.closed)
	return nil
}

func (*door) Addr() net.Addr { return &net.TCPAddr{} }

// A guarded is one end of a pipe that knows whether it was closed.
type guarded struct {
	net.Conn
	closed bool
}

func (g *guarded) Close() error {
	g.closed = true
	return g.Conn.Close()
}

func newGuarded() *guarded {
	here, _ := net.Pipe()
	return &guarded{Conn: here}
}

// At most acceptAhead connections wait for the table, further ones outside. After a failure,
// the listener pauses and goes on. Connections that have not arrived when the table stops are
// closed.
func TestListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &door{make(chan any), make(chan struct{})}
		l := &listener{
			at: []netsetup.Listener{{Listener: d}}, pending: new(pendingConns), stopped: make(chan struct{}),
		}
		var arrived []accepted
		ended := false
		go func() {
			l.accept(&l.at[0], func(m accepted) { arrived = append(arrived, m) })
			ended = true
		}()
		var sent []*guarded
		send := func() bool {
			synctest.Wait()
			c := newGuarded()
			select {
			case d.arrivals <- c:
				sent = append(sent, c)
				synctest.Wait()
				return true
			default:
				return false
			}
		}
		for send() {
		}
		if len(arrived) != acceptAhead || len(sent) != acceptAhead+1 {
			t.Fatalf("%d of %d arrived", len(arrived), len(sent))
		}
		arrived[3].handled()
		if !send() || len(arrived) != acceptAhead+1 || arrived[acceptAhead].conn != sent[acceptAhead] {
			t.Errorf("%d of %d arrived", len(arrived), len(sent))
		}
		arrived[4].handled()
		synctest.Wait()
		arrived[5].handled()
		synctest.Wait()
		d.arrivals <- errors.New("too many open files")
		began := time.Now()
		sent = append(sent, newGuarded())
		d.arrivals <- sent[len(sent)-1]
		if waited := time.Since(began); waited != acceptPause {
			t.Errorf("accepted again after %v", waited)
		}
		if !send() || send() || len(arrived) != len(sent)-1 {
			t.Errorf("%d of %d arrived", len(arrived), len(sent))
		}
		l.stop()
		synctest.Wait()
		if !ended {
			t.Fatal("still accepting")
		}
		l.pending.close()
		for i, c := range sent {
			if taken := i == 3 || i == 4 || i == 5; c.closed == taken {
				t.Errorf("connection %d: closed %v, arrived %v", i, c.closed, taken)
			}
		}
	})
}
