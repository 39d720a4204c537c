package metrics

import (
	"bytes"
	"container/list"
	"net"
	"net/http"
	"sync"
)

// A limitListener is a listener with a bounded number of connections. A new one takes the place of the oldest of
// that address which has most of them: so neither silent clients nor slow ones keep others out.
type limitListener struct {
	net.Listener

	mu   sync.Mutex
	open list.List // of *limitedConn, the oldest first
}

type limitedConn struct {
	net.Conn
	of    *limitListener
	from  string
	place *list.Element // nil: it is closed
}

// Accept implements net.Listener.
func (c *limitListener) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		host = ""
	}
	m := &limitedConn{Conn: conn, of: c, from: host}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open.Len() >= MaxConns {
		c.evict()
	}
	m.place = c.open.PushBack(m)
	return m, nil
}

// evict closes the connection that makes room. The lock is held.
func (c *limitListener) evict() {
	count := map[string]int{}
	most := 0
	for e := c.open.Front(); e != nil; e = e.Next() {
		from := e.Value.(*limitedConn).from
		count[from]++
		most = max(most, count[from])
	}
	for e := c.open.Front(); e != nil; e = e.Next() {
		if m := e.Value.(*limitedConn); count[m.from] == most {
			m.leave()
			_ = m.Conn.Close()
			return
		}
	}
}

// leave takes a connection out. The lock is held.
func (m *limitedConn) leave() {
	if m.place != nil {
		m.of.open.Remove(m.place)
		m.place = nil
	}
}

// Close implements net.Conn.
func (m *limitedConn) Close() error {
	m.of.mu.Lock()
	m.leave()
	m.of.mu.Unlock()
	return m.Conn.Close()
}

// buffered keeps a handler's reply in memory and sends it after the handler has returned, so that a slow client does
// not hold the handler up.
func buffered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		made := &page{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(made, r)
		w.WriteHeader(made.status)
		_, _ = w.Write(made.body.Bytes()) // a client that has left is its own affair
	})
}

// A page is a reply that is not sent yet.
type page struct {
	http.ResponseWriter

	status int
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (p *page) WriteHeader(status int) { p.status = status }

// Write implements io.Writer.
func (p *page) Write(b []byte) (int, error) { return p.body.Write(b) }
