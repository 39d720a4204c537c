package rpc

import (
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// conns are the open connections of a server. There are never more than the
// limit: at the limit a new connection replaces the connection that has been
// quiet longest. So half-open connections, however many, do not keep clients out.
// Connections of users who have logged in are closed last. A connection is not
// quiet while its login waits, and once its request was read.
type conns struct {
	limit, perPeer int
	patience       time.Duration // endPatience

	mu     sync.Mutex
	total  int
	byPeer map[netip.Prefix]int
	quiet  [2]list.List       // of *conn, the longest first: of strangers, and of users who have logged in
	held   map[*conn]struct{} // those that are being answered
	closed bool
}

// A conn is one of the connections.
type conn struct {
	net.Conn
	owner *conns
	peer  netip.Prefix
	quiet *list.Element // nil: a request of it is being answered
	list  *list.List    // the list that holds quiet
	gone  bool

	// The handler's, which has one request at a time.
	user   *string // the user of the last login; nil: there was none, or the last was wrong
	failed bool    // the last login was wrong
}

// isOf reports whether a user has logged in on the connection, and nobody else since.
func (c *conn) isOf(user string) bool { return c != nil && c.user != nil && *c.user == user }

// hasFailed reports whether the last login on the connection was wrong.
func (c *conn) hasFailed() bool { return c != nil && c.failed }

// belongTo sets the user that has logged in; nil: a login has failed.
func (c *conn) belongTo(user *string) {
	if c != nil {
		c.user, c.failed = user, user == nil
	}
}

func newConns(limit int) *conns {
	return &conns{
		limit: limit, perPeer: maxConnsPerPeer, patience: endPatience,
		byPeer: map[netip.Prefix]int{}, held: map[*conn]struct{}{},
	}
}

// add takes a connection up. It returns nil when there is no room for it,
// since all others are being answered, or when the server stops.
func (s *conns) add(c net.Conn) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	added := &conn{Conn: c, owner: s, peer: peerOf(c.RemoteAddr())}
	switch {
	case s.closed:
		return nil
	case !added.isLocal() && s.byPeer[added.peer] >= s.perPeer:
		if !s.evict(func(old *conn) bool { return old.peer == added.peer }) {
			return nil
		}
	case s.total >= s.limit:
		if !s.evict(func(*conn) bool { return true }) {
			return nil
		}
	}
	s.total++
	s.byPeer[added.peer]++
	added.rest()
	return added
}

func (s *conns) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// evict closes the connection that has been quiet longest of those that match, one of a stranger if there is one.
func (s *conns) evict(match func(*conn) bool) bool {
	for i := range s.quiet {
		for e := s.quiet[i].Front(); e != nil; e = e.Next() {
			if old := e.Value.(*conn); match(old) {
				s.remove(old)
				_ = old.Conn.Close()
				return true
			}
		}
	}
	return false
}

// rest has a connection be quiet from now on. The lock is held.
func (c *conn) rest() {
	c.list = &c.owner.quiet[0]
	if c.user != nil {
		c.list = &c.owner.quiet[1]
	}
	c.quiet = c.list.PushBack(c)
}

// stir ends that. The lock is held.
func (c *conn) stir() {
	if c.quiet != nil {
		c.list.Remove(c.quiet)
		c.quiet = nil
	}
}

func (s *conns) remove(c *conn) {
	if c.gone {
		return
	}
	c.gone = true
	delete(s.held, c)
	c.stir()
	s.total--
	if s.byPeer[c.peer]--; s.byPeer[c.peer] == 0 {
		delete(s.byPeer, c.peer)
	}
}

// close closes all quiet connections, and from now on each connection that becomes quiet.
func (s *conns) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for s.evict(func(*conn) bool { return true }) {
	}
	for c := range s.held {
		_ = c.Conn.SetWriteDeadline(time.Now().Add(s.patience)) // of a write that waits
	}
}

// hold keeps a connection open whose request was read and will be answered, or
// whose login waits for its turn. It is false where the connection was closed to
// make room while the request came: nobody would get the answer, so that nothing
// must be done.
func (c *conn) hold() bool {
	if c == nil {
		return true
	}
	c.owner.mu.Lock()
	defer c.owner.mu.Unlock()
	c.stir()
	if !c.gone {
		c.owner.held[c] = struct{}{}
	}
	return !c.gone
}

// release ends hold: the answer is out, or the login waits no more.
func (c *conn) release() {
	if c == nil {
		return
	}
	s := c.owner
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.gone || c.quiet != nil:
	case s.closed:
		s.remove(c)
		_ = c.Conn.Close()
	default:
		delete(s.held, c)
		c.rest()
	}
}

// limitUnsent bounds what the system keeps of what the client has not taken: some megabytes otherwise, also after the
// connection is closed.
func (c *conn) limitUnsent(bytes int) {
	if c == nil {
		return
	}
	if s, ok := within[interface{ SetWriteBuffer(bytes int) error }](c.Conn); ok {
		_ = s.SetWriteBuffer(bytes) // without it there is more
	}
}

// within returns the first connection of a kind among c and those that it is made of.
func within[T any](c net.Conn) (found T, ok bool) {
	for {
		if found, ok = c.(T); ok {
			return found, true
		}
		outer, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return found, false
		}
		c = outer.NetConn()
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.owner.mu.Lock()
	c.owner.remove(c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// isLocal reports whether the client is on this machine.
func (c *conn) isLocal() bool { return !c.peer.IsValid() || c.peer.Addr().IsLoopback() }

// peerOf returns the peer of a connection: its address or, for IPv6, the network that a single machine may have. It
// is not valid for a Unix socket.
func peerOf(addr net.Addr) netip.Prefix {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	return peerAt(tcp.AddrPort().Addr())
}

// clientOf returns whose request it is, as peerOf.
func clientOf(r *http.Request) netip.Prefix {
	if c := connOf(r); c != nil {
		return c.peer
	}
	addr, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peerAt(addr.Addr())
}

func peerAt(ip netip.Addr) netip.Prefix {
	ip = ip.Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() && !ip.IsLoopback() {
		bits = 64
	}
	peer, _ := ip.Prefix(bits)
	return peer
}

// noRoom is sent on a connection that is not taken up.
const noRoom = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// A connListener accepts connections as long as there is room.
type connListener struct {
	net.Listener
	conns  *conns
	secure bool // TLS: who is not taken up is told nothing, for that would need a handshake

	allowed []netaddr.Subnet // all others are hung up on; nil: nobody is
}

// Accept implements net.Listener.
func (l connListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.allowed != nil && isStrange(l.allowed, c) {
			_ = c.Close()
			continue
		}
		if added := l.conns.add(c); added != nil {
			return added, nil
		}
		if !l.secure {
			_ = c.SetWriteDeadline(time.Now().Add(time.Second)) // never needed: nothing was sent before
			_, _ = c.Write([]byte(noRoom))
		}
		_ = c.Close()
	}
}

// connState is notified by net/http of what a connection does.
func connState(c net.Conn, state http.ConnState) {
	if state == http.StateIdle {
		if ours, ok := c.(*conn); ok {
			ours.release()
		}
	}
}

// connKey is where the context of a request has its connection.
type connKey struct{}

// connOf returns the connection of a request, nil in tests without one.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}
