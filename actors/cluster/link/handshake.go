package link

import (
	"errors"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"
)

const (
	maxHandshakes     = 128 // at a time
	maxHandshakesEach = 16  // of them from one address
	maxConnections    = 1024
)

var errBusy = errors.New("too many connections")

// bounded are transport credentials that refuse connections above a number, before anything
// is computed for them.
type bounded struct {
	credentials.TransportCredentials
	doors *doors
}

// doors counts connections that come in.
type doors struct {
	mu         sync.Mutex
	handshakes int
	by         map[string]int // handshakes, by address
	open       int            // connections whose handshake was good
	refused    func()
}

// ServerHandshake implements credentials.TransportCredentials.
func (b bounded) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	host, _, err := net.SplitHostPort(raw.RemoteAddr().String())
	if err != nil || !b.doors.enter(host) {
		b.doors.refused()
		return nil, nil, errBusy
	}
	conn, info, err := b.TransportCredentials.ServerHandshake(raw)
	b.doors.leave(host, err == nil)
	if err != nil {
		b.doors.refused()
		return nil, nil, err
	}
	return &counted{Conn: conn, closed: sync.OnceFunc(b.doors.closed)}, info, nil
}

// Clone implements credentials.TransportCredentials.
func (b bounded) Clone() credentials.TransportCredentials {
	return bounded{b.TransportCredentials.Clone(), b.doors}
}

func (d *doors) enter(host string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handshakes >= maxHandshakes || d.by[host] >= maxHandshakesEach || d.open >= maxConnections {
		return false
	}
	d.handshakes++
	d.by[host]++
	return true
}

func (d *doors) leave(host string, good bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handshakes--
	if d.by[host]--; d.by[host] == 0 {
		delete(d.by, host)
	}
	if good {
		d.open++
	}
}

func (d *doors) closed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open--
}

// counted is a connection whose end is noticed.
type counted struct {
	net.Conn
	closed func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.closed()
	return c.Conn.Close()
}
