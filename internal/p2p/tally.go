package p2p

import (
	"maps"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/transport"
)

// Totals counts the bytes of several sessions, as getnettotals shows them. The
// zero value is ready.
type Totals struct {
	Sent, Received atomic.Uint64

	Uploads Uploads
}

// otherMessages is the name under which Core counts messages that it does not
// know.
const otherMessages = "*other*"

// A tally counts what goes through a connection.
type tally struct {
	totals    *Totals
	connected time.Time
	protocol  int32 // version that this node speaks

	mu           sync.Mutex
	lastSent     time.Time
	lastReceived time.Time
	out, in      uint64
	outBy, inBy  map[string]uint64
}

func newTally(now time.Time, totals *Totals, protocol int32) *tally {
	return &tally{
		totals: totals, connected: now, protocol: protocol,
		outBy: make(map[string]uint64), inBy: make(map[string]uint64),
	}
}

// sent counts written bytes. Bytes of a v2 handshake belong to no message.
func (t *tally) sent(now time.Time, command string, n int) {
	if n == 0 {
		return
	}
	t.totals.Sent.Add(uint64(n))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastSent = now
	t.out += uint64(n)
	if command != "" {
		t.outBy[t.known(command)] += uint64(n)
	}
}

// read counts bytes as they arrive.
func (t *tally) read(now time.Time, n int) {
	if n == 0 {
		return
	}
	t.totals.Received.Add(uint64(n))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastReceived = now
	t.in += uint64(n)
}

// received counts the bytes of a message.
func (t *tally) received(command string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inBy[t.known(command)] += uint64(n)
}

// known is the name under which a message is counted: a peer must not be able to
// make up names.
func (t *tally) known(command string) string {
	if codec.IsKnown(command, t.protocol) {
		return command
	}
	return otherMessages
}

// bytes returns how many were sent and received.
func (t *tally) bytes() (sent, received uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out, t.in
}

// times returns when bytes last went out and came in, zero for never.
func (t *tally) times() (sent, received time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lastSent, t.lastReceived
}

// A countedConn counts what is read from a connection.
type countedConn struct {
	net.Conn
	s *Session
}

func (c countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.s.tally.read(c.s.cfg.Now(), n)
	return n, err
}

// Stats is what getpeerinfo shows of a session.
type Stats struct {
	Transport transport.Kind
	SessionID [32]byte // of v2
	Remote    Remote

	Connected          time.Time
	LastSent           time.Time // zero: never
	LastReceived       time.Time
	Sent, Received     uint64            // bytes
	SentPerMessage     map[string]uint64 // bytes by name; "*other*" for unknown ones
	ReceivedPerMessage map[string]uint64

	Ping     time.Duration // the last one's round trip; 0: none was answered
	MinPing  time.Duration
	Pinged   bool          // a ping was answered: MinPing counts, 0 too
	PingWait time.Duration // for the answer that is awaited; 0: none is
}

// Stats returns how the session is doing.
func (s *Session) Stats() Stats {
	st := Stats{Connected: s.tally.connected}
	s.ping.stats(s.cfg.Now(), &st)
	s.mu.Lock()
	st.Remote, st.Transport, st.SessionID = s.remote, s.kind, s.id
	s.mu.Unlock()

	t := s.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	st.LastSent, st.LastReceived, st.Sent, st.Received = t.lastSent, t.lastReceived, t.out, t.in
	st.SentPerMessage, st.ReceivedPerMessage = maps.Clone(t.outBy), maps.Clone(t.inBy)
	return st
}
