package netsetup

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/sam"
)

// An I2P is the way into I2P through a router. A node that peers reach there has one
// session, for both directions. Another has one for each connection, so that nobody sees
// that they are one node's.
type I2P struct {
	cfg     sam.Config
	session *sam.Session // nil: one for each connection

	mu     sync.Mutex
	unused []*sam.Session // of connections that were not made
}

// maxUnused is how many sessions are kept for later connections (Core:
// MAX_UNUSED_I2P_SESSIONS_SIZE).
const maxUnused = 10

// newI2P returns the way through a router. With keys the node is reached, too.
func newI2P(router string, keys sam.Keys, c *Config) *I2P {
	timeout, log := c.Timeout, c.Log
	log = log.With(slog.String(corelog.CategoryKey, "i2p"))
	p := &I2P{cfg: sam.Config{
		Router: router, LogName: c.SessionName,
		Dial: func(ctx context.Context, router string) (net.Conn, error) {
			return TCP{Timeout: timeout}.connect(ctx, router)
		},
		Log: func(level slog.Level, line string) { corelog.Printf(log, level, "%s", line) },
	}}
	if keys != nil {
		p.cfg.Keys = keys
		p.session = sam.New(p.cfg)
	}
	return p
}

// Connect connects to a peer.
func (p *I2P) Connect(ctx context.Context, to netaddr.Addr) (net.Conn, error) {
	if p.session != nil {
		return orNil(p.session.Connect(ctx, to))
	}
	return p.connectOnce(ctx, to)
}

// connectOnce connects to a peer from an address of its own.
func (p *I2P) connectOnce(ctx context.Context, to netaddr.Addr) (net.Conn, error) {
	s := p.transient()
	conn, err := s.Connect(ctx, to)
	if err != nil {
		p.keep(s)
		return nil, err
	}
	return &ownSession{conn, s}, nil
}

// orNil makes no interface of a connection that is not there.
func orNil(conn *sam.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// transient returns a session for one connection.
func (p *I2P) transient() *sam.Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.unused); n > 0 {
		s := p.unused[n-1]
		p.unused = p.unused[:n-1]
		return s
	}
	once := p.cfg
	once.Keys = nil
	return sam.New(once)
}

// keep keeps a session for a later connection.
func (p *I2P) keep(s *sam.Session) {
	p.mu.Lock()
	full := len(p.unused) >= maxUnused
	if !full {
		p.unused = append(p.unused, s)
	}
	p.mu.Unlock()
	if full {
		s.Close()
	}
}

// Close ends all sessions but those of connections that were made.
func (p *I2P) Close() {
	p.mu.Lock()
	unused := p.unused
	p.unused = nil
	p.mu.Unlock()
	if p.session != nil {
		unused = append(unused, p.session)
	}
	for _, s := range unused {
		s.Close()
	}
}

// An ownSession is a connection that closes its own session.
type ownSession struct {
	*sam.Conn

	session *sam.Session
}

// Close implements net.Conn.
func (c *ownSession) Close() error {
	c.session.Close()
	return c.Conn.Close()
}

// A Reporter is notified of the addresses at which the node is reached.
type Reporter interface {
	AddLocal(l Local)
	RemoveLocal(addr netaddr.Addr)
}

// An I2PListener accepts peers through a router. It is a net.Listener that tries again for
// as long as it is open.
type I2PListener struct {
	session *sam.Session
	ctx     context.Context //nolint:containedctx // ends with the listener
	cancel  context.CancelFunc
	report  Reporter     // is notified of the address; set before Accept is called
	me      netaddr.Addr // that was reported; of Accept
	failed  time.Duration
}

// Listen returns what accepts peers, nil where the node is not reached through I2P.
func (p *I2P) listener() *I2PListener {
	if p.session == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &I2PListener{session: p.session, ctx: ctx, cancel: cancel}
}

// Report sets the reporter that is notified of the node's address, before the first Accept.
func (l *I2PListener) Report(to Reporter) { l.report = to }

const (
	// firstWait and longestWait are how long nothing is tried after the first failure, and
	// at most.
	firstWait   = time.Second
	longestWait = 5 * time.Minute
)

// Accept implements net.Listener. One goroutine at a time may call it.
func (l *I2PListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.acceptOnce()
		if l.ctx.Err() != nil {
			if err == nil {
				_ = conn.Close()
			}
			return nil, net.ErrClosed
		}
		if err == nil {
			l.failed = 0
			return conn, nil
		}
		l.failed = min(l.failed+firstWait, longestWait)
		select {
		case <-time.After(l.failed):
		case <-l.ctx.Done():
			return nil, net.ErrClosed
		}
	}
}

// acceptOnce waits for one peer.
func (l *I2PListener) acceptOnce() (*sam.Conn, error) {
	in, err := l.session.Listen(l.ctx)
	if err != nil {
		l.advertise(netaddr.Addr{})
		return nil, err
	}
	l.advertise(in.Me)
	return in.Accept(l.ctx)
}

// advertise reports the address at which the node is reached, zero for none.
func (l *I2PListener) advertise(me netaddr.Addr) {
	if me == l.me || l.report == nil {
		return
	}
	if l.me != (netaddr.Addr{}) {
		l.report.RemoveLocal(l.me)
	}
	if l.me = me; me != (netaddr.Addr{}) {
		l.report.AddLocal(Local{Addr: me, Score: scoreManual})
	}
}

// Close implements net.Listener.
func (l *I2PListener) Close() error {
	l.cancel()
	return nil
}

// Addr implements net.Listener.
func (*I2PListener) Addr() net.Addr { return sam.Endpoint{} }
