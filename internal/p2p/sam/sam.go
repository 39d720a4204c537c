// Package sam speaks SAM 3.1 with an I2P router: the node reaches peers by their addresses
// in I2P, and is reached at its own.
//
// A session ends with the control connection that made it. Each connection to or from a
// peer needs a further connection to the router. A persistent session has a private key
// that is kept, so that the node's address stays; a transient one forgets it.
//
// No private key is in any error or line of the log.
package sam

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// Keys keep the private key of a persistent session.
type Keys interface {
	// Load returns the key, or an error that is fs.ErrNotExist.
	Load() ([]byte, error)

	// Save keeps the key. After nil it is on the disk.
	Save(key []byte) error
}

// Config says how a session is made.
type Config struct {
	Router string // of the router's SAM bridge, "host:port"
	Dial   func(ctx context.Context, router string) (net.Conn, error)
	Keys   Keys // nil: the session is transient

	// LogName is what lines of the log call a session, "SAM session" if empty.
	LogName string

	// Log gets Bitcoin Core's lines of category i2p; may be nil.
	Log func(level slog.Level, line string)
}

// replyTime is how long the router may take for a reply: building tunnels takes minutes.
const replyTime = 3 * time.Minute

// A Session is one with a router; make one with [New]. It begins when it is needed, and
// again when it has ended. Several goroutines may use it.
type Session struct {
	cfg Config

	// lock holds what is below, while a session is made too: a mutex that can be given up.
	lock    chan struct{}
	control net.Conn // the session lives as long; nil: there is none
	id      string
	me      netaddr.Addr
}

// New returns a session that has not begun.
func New(cfg Config) *Session {
	cfg.LogName = cmp.Or(cfg.LogName, "SAM session")
	return &Session{cfg: cfg, lock: make(chan struct{}, 1)}
}

// A Conn is a connection with a peer. Its addresses are those in I2P.
type Conn struct {
	net.Conn

	reader   *bufio.Reader
	me, peer Endpoint
}

// An Endpoint is an address in I2P, as a net.Addr.
type Endpoint struct{ Addr netaddr.Addr }

// Network implements net.Addr.
func (Endpoint) Network() string { return netaddr.I2P.String() }

// String implements net.Addr.
func (e Endpoint) String() string { return e.Addr.String() }

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) { return c.reader.Read(b) }

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return c.me }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return c.peer }

// CloseWrite closes the sending half, if the connection to the router supports this.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Connect connects to a peer. The connection is the caller's.
func (s *Session) Connect(ctx context.Context, to netaddr.Addr) (*Conn, error) {
	if to.Port() != 0 { // SAM 3.1 knows no ports
		s.logf(slog.LevelDebug, "Error connecting to %v, connection refused due to arbitrary port %d", to, to.Port())
		return nil, errPort
	}
	conn, err := s.connect(ctx, to)
	if err != nil {
		s.logf(slog.LevelDebug, "Error connecting to %v: %v", to, err)
		s.checkControl(ctx)
		return nil, err
	}
	return conn, nil
}

var (
	errPort    = errors.New("peers in I2P have port 0")
	errSession = failf("Invalid session id")
)

func (s *Session) connect(ctx context.Context, to netaddr.Addr) (*Conn, error) {
	id, me, err := s.begun(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := s.hello(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.release()
	conn.me, conn.peer = Endpoint{me}, Endpoint{to}
	found, err := conn.demand(ctx, "NAMING LOOKUP NAME="+to.Host())
	if err != nil {
		return nil, err
	}
	destination, err := found.get("VALUE")
	if err != nil {
		return nil, err
	}
	if err := s.stream(ctx, conn, id, "STREAM CONNECT ID="+id+" DESTINATION="+destination+" SILENT=false"); err != nil {
		return nil, err
	}
	return conn.keep(), nil
}

// stream asks for a connection with a peer.
func (s *Session) stream(ctx context.Context, conn *pending, id, request string) error {
	answer, err := conn.ask(ctx, request)
	if err != nil {
		return err
	}
	result, err := answer.get("RESULT")
	switch {
	case err != nil:
		return err
	case result == "OK":
		return nil
	case result == "INVALID_ID":
		s.end(ctx, id)
		return errSession
	default:
		return fmt.Errorf("%q", answer.line)
	}
}

// An Incoming is a connection that waits for a peer.
type Incoming struct {
	conn *pending
	s    *Session
	id   string

	Me netaddr.Addr // where peers reach the node
}

// Listen waits for a peer, by [Incoming.Accept]. The session has begun when it returns.
func (s *Session) Listen(ctx context.Context) (*Incoming, error) {
	in, err := s.listen(ctx)
	if err != nil {
		s.logf(slog.LevelError, "Couldn't listen: %v", err)
		s.checkControl(ctx)
	}
	return in, err
}

func (s *Session) listen(ctx context.Context) (*Incoming, error) {
	id, me, err := s.begun(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := s.hello(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.release()
	conn.me = Endpoint{me}
	if err := s.stream(ctx, conn, id, "STREAM ACCEPT ID="+id+" SILENT=false"); err != nil {
		return nil, err
	}
	return &Incoming{conn: conn.pass(), s: s, id: id, Me: me}, nil
}

// Accept returns the connection when a peer has come. It is the caller's. However it ends, the Incoming is of no
// use after it.
func (in *Incoming) Accept(ctx context.Context) (*Conn, error) {
	defer in.conn.release()
	line, err := in.conn.await(ctx)
	var destination []byte
	if err == nil {
		destination, err = decode(line)
	}
	if err != nil {
		unusable := parseReply(line).values["RESULT"] == "I2P_ERROR"
		how := ""
		if unusable {
			how, err = " (will close the session)",
				fmt.Errorf("unexpected reply that hints the session is unusable: %s", line)
		}
		in.s.logf(slog.LevelDebug, "Error accepting%s: %v", how, err)
		if unusable {
			in.s.end(ctx, in.id)
		} else {
			in.s.checkControl(ctx)
		}
		return nil, err
	}
	in.conn.peer = Endpoint{addressOf(destination)}
	return in.conn.keep(), nil
}

// Close ends the session. It may begin again.
func (s *Session) Close() {
	s.lock <- struct{}{}
	s.disconnect()
	<-s.lock
}

// hold takes the lock.
func (s *Session) hold(ctx context.Context) error {
	select {
	case s.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// begun returns the session, which it begins where there is none.
func (s *Session) begun(ctx context.Context) (id string, me netaddr.Addr, err error) {
	if err := s.hold(ctx); err != nil {
		return "", me, err
	}
	defer func() { <-s.lock }()
	if s.control != nil && isAlive(s.control) == nil {
		return s.id, s.me, nil
	}
	err = s.begin(ctx)
	return s.id, s.me, err
}

// kind names the kind of a session.
func (s *Session) kind() string {
	if s.cfg.Keys == nil {
		return "transient"
	}
	return "persistent"
}

// begin makes a session. The caller has the lock.
func (s *Session) begin(ctx context.Context) error {
	var random [5]byte
	_, _ = rand.Read(random[:]) // never fails
	id := hex.EncodeToString(random[:])
	s.logf(slog.LevelDebug, "Creating %s %s %s with %s", s.kind(), s.cfg.LogName, id, s.cfg.Router)
	conn, err := s.hello(ctx)
	if err != nil {
		return err
	}
	defer conn.release()
	key, err := s.create(ctx, conn, id)
	if err != nil {
		return err
	}
	destination, err := destinationOf(key)
	if err != nil {
		return err
	}
	s.disconnect() // an earlier session, whose connection has ended
	s.control, s.id, s.me = conn.keep().Conn, id, addressOf(destination)
	s.logf(slog.LevelInfo, "%s %s %s created, my address=%v",
		map[bool]string{true: "Transient", false: "Persistent"}[s.cfg.Keys == nil], s.cfg.LogName, id, s.me)
	return nil
}

// create has the router make a session, and returns its private key.
func (s *Session) create(ctx context.Context, conn *pending, id string) ([]byte, error) {
	request := "SESSION CREATE STYLE=STREAM ID=" + id
	if s.cfg.Keys == nil {
		answer, err := conn.demand(ctx, request+" DESTINATION=TRANSIENT SIGNATURE_TYPE=7 "+
			"i2cp.leaseSetEncType=4,0 inbound.quantity=1 outbound.quantity=1")
		if err != nil {
			return nil, err
		}
		text, err := answer.get("DESTINATION")
		if err != nil {
			return nil, err
		}
		return decode(text)
	}
	key, err := s.key(ctx, conn)
	if err != nil {
		return nil, err
	}
	_, err = conn.demand(ctx, request+" DESTINATION="+i2pBase64.EncodeToString(key)+
		" i2cp.leaseSetEncType=4,0 inbound.quantity=3 outbound.quantity=3")
	return key, err
}

// key returns the private key, which the router makes where there is none.
func (s *Session) key(ctx context.Context, conn *pending) ([]byte, error) {
	key, err := s.cfg.Keys.Load()
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	answer, err := conn.ask(ctx, "DEST GENERATE SIGNATURE_TYPE=7")
	if err != nil {
		return nil, err
	}
	text, err := answer.get("PRIV")
	if err != nil {
		return nil, err
	}
	if key, err = decode(text); err != nil {
		return nil, err
	}
	if err := s.cfg.Keys.Save(key); err != nil {
		return nil, failf("Cannot save I2P private key: %w", err)
	}
	return key, nil
}

// checkControl ends a session whose connection has ended.
func (s *Session) checkControl(ctx context.Context) {
	if s.hold(ctx) != nil {
		return
	}
	defer func() { <-s.lock }()
	if s.control == nil {
		return
	}
	if err := isAlive(s.control); err != nil {
		s.logf(slog.LevelDebug, "Control socket error: %v", err)
		s.disconnect()
	}
}

// end ends the session with an id, unless another session has begun.
func (s *Session) end(ctx context.Context, id string) {
	if s.hold(ctx) != nil {
		return
	}
	defer func() { <-s.lock }()
	if s.id == id {
		s.disconnect()
	}
}

// disconnect ends the session. The caller has the lock.
func (s *Session) disconnect() {
	if s.control != nil {
		s.logf(slog.LevelInfo, "Destroying %s %s", s.cfg.LogName, s.id)
		_ = s.control.Close()
	}
	s.control, s.id = nil, ""
}

// logf writes a line.
func (s *Session) logf(level slog.Level, format string, args ...any) {
	if s.cfg.Log != nil {
		s.cfg.Log(level, fmt.Sprintf(format, args...))
	}
}
