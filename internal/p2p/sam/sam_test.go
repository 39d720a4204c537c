package sam_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/sam"
)

// privateKey is one as routers make them: keys, a certificate of 4 bytes, the private part.
func privateKey(n byte) []byte {
	key := make([]byte, 387+4+64)
	key[0], key[386] = n, 4
	return key
}

// base64Key is a key as a router writes it.
func base64Key(key []byte) string { return sam.Base64.EncodeToString(key) }

// A router answers as an I2P router does, and keeps what it was asked.
type router struct {
	net.Listener

	answer func(request string) string // what differs; empty: as usual

	mu       sync.Mutex
	asked    []string
	sessions []net.Conn
	conns    []net.Conn
}

func newRouter(t *testing.T) *router {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &router{Listener: l}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.mu.Lock()
			r.conns = append(r.conns, conn)
			r.mu.Unlock()
			done.Go(func() { r.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		r.mu.Lock()
		for _, conn := range r.conns {
			_ = conn.Close()
		}
		r.mu.Unlock()
		done.Wait()
	})
	return r
}

func (r *router) serve(conn net.Conn) {
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			_ = conn.Close()
			return
		}
		line = strings.TrimSuffix(line, "\n")
		r.mu.Lock()
		r.asked = append(r.asked, line)
		if strings.HasPrefix(line, "SESSION CREATE") {
			r.sessions = append(r.sessions, conn)
		}
		answer := usual(line)
		if r.answer != nil {
			if other := r.answer(line); other != "" {
				answer = other
			}
		}
		r.mu.Unlock()
		_, _ = io.WriteString(conn, answer)
		if strings.HasPrefix(line, "STREAM") && strings.Contains(answer, "RESULT=OK") {
			_, _ = io.Copy(conn, lines) // an echo is at the other end
			_ = conn.Close()
			return
		}
	}
}

// usual is what a router answers when all is well.
func usual(request string) string {
	switch verb, _, _ := strings.Cut(request, "="); {
	case strings.HasPrefix(request, "HELLO"):
		return "HELLO REPLY RESULT=OK VERSION=3.1\n"
	case strings.HasPrefix(request, "DEST GENERATE"):
		return "DEST REPLY PUB=x PRIV=" + base64Key(privateKey(1)) + "\n"
	case strings.Contains(request, "DESTINATION=TRANSIENT"):
		return "SESSION STATUS RESULT=OK DESTINATION=" + base64Key(privateKey(2)) + "\n"
	case strings.HasPrefix(request, "SESSION CREATE"):
		return "SESSION STATUS RESULT=OK DESTINATION=x\n"
	case strings.HasPrefix(request, "NAMING LOOKUP"):
		return "NAMING REPLY RESULT=OK NAME=x VALUE=abc=\n"
	case strings.HasPrefix(request, "STREAM CONNECT"):
		return "STREAM STATUS RESULT=OK\n"
	case strings.HasPrefix(request, "STREAM ACCEPT"):
		return "STREAM STATUS RESULT=OK\n" + base64Key(privateKey(3)[:391]) + "\n"
	default:
		return verb
	}
}

func (r *router) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.asked...)
}

// A keeper keeps a key, and lines of the log.
type keeper struct {
	key    []byte
	failed error

	mu    sync.Mutex
	lines []string
}

func (k *keeper) Load() ([]byte, error) {
	if k.key == nil {
		return nil, fs.ErrNotExist
	}
	return k.key, nil
}

func (k *keeper) Save(key []byte) error {
	if k.failed == nil {
		k.key = key
	}
	return k.failed
}

func (k *keeper) log(_ slog.Level, line string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lines = append(k.lines, line)
}

func (k *keeper) text() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.lines, "\n")
}

func session(r *router, k *keeper, persistent bool) *sam.Session {
	cfg := sam.Config{
		Router: r.Addr().String(), Log: k.log,
		Dial: func(ctx context.Context, router string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", router)
		},
	}
	if persistent {
		cfg.Keys = k
	}
	return sam.New(cfg)
}

func peer(t *testing.T) netaddr.Addr {
	t.Helper()
	a, err := netaddr.Parse("zsxwyo6qcn3chqzwxnseusqgsnuw3maqnztkiypyfxtya4snkoka.b32.i2p", 0)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A connection is one with the peer, from the node's own address, and no request has more
// than it says; both kinds of sessions.
func TestConnect(t *testing.T) {
	for _, persistent := range []bool{true, false} {
		r, k := newRouter(t), &keeper{}
		s := session(r, k, persistent)
		for range 2 { // the second time in the same session
			conn, err := s.Connect(t.Context(), peer(t))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(conn, "hello")
			b := make([]byte, 5)
			if _, err := io.ReadFull(conn, b); err != nil || string(b) != "hello" {
				t.Errorf("%q, %v", b, err)
			}
			if got := conn.RemoteAddr().String(); got != peer(t).String() {
				t.Errorf("peer %s", got)
			}
			if me := conn.LocalAddr().String(); !strings.HasSuffix(me, ".b32.i2p:0") {
				t.Errorf("me %s", me)
			}
			_ = conn.Close()
		}
		created := 0
		for _, request := range r.requests() {
			if strings.HasPrefix(request, "SESSION CREATE STYLE=STREAM ID=") {
				created++
			}
		}
		if created != 1 {
			t.Errorf("%d sessions: %q", created, r.requests())
		}
		if persistent != (k.key != nil) {
			t.Errorf("key kept: %t", k.key != nil)
		}
		secret := base64Key(privateKey(1))
		if strings.Contains(k.text(), secret[:40]) || strings.Contains(k.text(), base64Key(privateKey(2))[:40]) {
			t.Error("a private key is in the log")
		}
		s.Close()
		if !strings.Contains(k.text(), "Destroying SAM session") {
			t.Errorf("lines %s", k.text())
		}
	}
}

// The key that is kept is the one of the session.
func TestKeyStays(t *testing.T) {
	r, k := newRouter(t), &keeper{key: privateKey(9)}
	s := session(r, k, true)
	in, err := s.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := in.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if conn.LocalAddr().String() != in.Me.String() || conn.RemoteAddr().String() == in.Me.String() {
		t.Errorf("%v with %v", conn.LocalAddr(), conn.RemoteAddr())
	}
	all := strings.Join(r.requests(), "\n")
	if strings.Contains(all, "DEST GENERATE") || !strings.Contains(all, base64Key(privateKey(9))) {
		t.Error("another key was used")
	}
	s.Close()
}

// A refusal or a wrong answer of the router is an error that holds no private key.
func TestRefused(t *testing.T) {
	secret := base64Key(privateKey(2))
	for name, test := range map[string]struct {
		request, answer string
		persistent      bool
		want            string
	}{
		"version": {
			"HELLO", "HELLO REPLY RESULT=NOVERSION\n", false,
			`Unexpected reply to "HELLO VERSION MIN=3.1 MAX=3.1": "HELLO REPLY RESULT=NOVERSION"`,
		},
		"nothing": {"HELLO", "HELLO\n", false, `Missing RESULT= in the reply to "HELLO VERSION MIN=3.1 MAX=3.1": "HELLO"`},
		"no session": {
			"SESSION", "SESSION STATUS RESULT=I2P_ERROR DESTINATION=" + secret + "\n", false,
			`Unexpected reply to "SESSION CREATE ...": "..."`,
		},
		"no key":        {"SESSION", "SESSION STATUS RESULT=OK\n", false, `Missing DESTINATION= in the reply to "SESSION CREATE ...": "..."`},
		"no base 64":    {"SESSION", "SESSION STATUS RESULT=OK DESTINATION=" + secret + "!\n", false, "Cannot decode Base64"},
		"short key":     {"SESSION", "SESSION STATUS RESULT=OK DESTINATION=AAAA\n", false, "The private key is too short (3 < 387)"},
		"no new key":    {"DEST", "DEST REPLY\n", true, `Missing PRIV= in the reply to "DEST GENERATE ...": "..."`},
		"unknown peer":  {"NAMING", "NAMING REPLY RESULT=KEY_NOT_FOUND\n", false, "KEY_NOT_FOUND"},
		"out of reach":  {"STREAM", "STREAM STATUS RESULT=CANT_REACH_PEER\n", false, "CANT_REACH_PEER"},
		"other session": {"STREAM", "STREAM STATUS RESULT=INVALID_ID\n", false, "Invalid session id"},
		"long line":     {"HELLO", strings.Repeat("x", 1<<17), false, "no end of a line within 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			r, k := newRouter(t), &keeper{}
			r.answer = func(request string) string {
				if strings.HasPrefix(request, test.request) {
					return test.answer
				}
				return ""
			}
			s := session(r, k, test.persistent)
			defer s.Close()
			_, err := s.Connect(t.Context(), peer(t))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
			if strings.Contains(fmt.Sprint(err)+k.text(), secret[:40]) {
				t.Error("a private key is shown")
			}
		})
	}
}

// Peers have no ports, and a router that is not there is named.
func TestUnreached(t *testing.T) {
	r, k := newRouter(t), &keeper{failed: errors.New("disk full")}
	s := session(r, k, true)
	if _, err := s.Connect(t.Context(), peer(t).WithPort(8333)); err == nil || len(r.requests()) > 0 {
		t.Errorf("port 8333: %v", err)
	}
	if _, err := s.Connect(t.Context(), peer(t)); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("key not kept: %v", err)
	}
	_ = r.Close()
	if _, err := s.Connect(t.Context(), peer(t)); err == nil || err.Error() != "Cannot connect to "+r.Addr().String() {
		t.Errorf("no router: %v", err)
	}
}

// A session that has ended is followed by a new session.
func TestBeginsAgain(t *testing.T) {
	r, k := newRouter(t), &keeper{}
	s := session(r, k, false)
	defer s.Close()
	for n := 1; n <= 3; n++ {
		conn, err := s.Connect(t.Context(), peer(t))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		r.mu.Lock()
		if len(r.sessions) != n {
			t.Fatalf("%d sessions, want %d", len(r.sessions), n)
		}
		_ = r.sessions[n-1].Close()
		r.mu.Unlock()
	}
}

// The end of a context ends whatever waits.
func TestCancelled(t *testing.T) {
	r, k := newRouter(t), &keeper{}
	ctx, cancel := context.WithCancel(t.Context())
	r.answer = func(request string) string {
		if strings.HasPrefix(request, "STREAM ACCEPT") {
			time.AfterFunc(0, cancel)
			return "STREAM STATUS RESULT=OK\n" // and no peer
		}
		return ""
	}
	s := session(r, k, false)
	defer s.Close()
	in, err := s.Listen(ctx)
	if err == nil {
		_, err = in.Accept(ctx)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// FuzzRouter speaks with a router that answers anything: there is an error, or a session
// with an address.
func FuzzRouter(f *testing.F) {
	f.Add("HELLO REPLY RESULT=OK\n", usual("DESTINATION=TRANSIENT"), "NAMING REPLY RESULT=OK VALUE=a\n", "STREAM STATUS RESULT=OK\n")
	f.Add("HELLO REPLY RESULT=OK\n", "SESSION STATUS RESULT=OK DESTINATION=AAAA\n", "", "")
	f.Fuzz(func(t *testing.T, hello, created, found, stream string) {
		answers := []string{hello + created, hello + found + stream}
		s := sam.New(sam.Config{Dial: func(context.Context, string) (net.Conn, error) {
			if len(answers) == 0 {
				return nil, errors.New("no more")
			}
			conn := &recorded{Reader: strings.NewReader(answers[0])}
			answers = answers[1:]
			return conn, nil
		}})
		defer s.Close()
		conn, err := s.Connect(t.Context(), netaddr.Addr{})
		if err == nil && !strings.HasSuffix(conn.LocalAddr().String(), ".b32.i2p:0") {
			t.Errorf("me %v", conn.LocalAddr())
		}
	})
}

// A recorded is a connection whose other end has said all that it will.
type recorded struct {
	io.Reader
	net.Conn
}

func (r *recorded) Read(b []byte) (int, error)    { return r.Reader.Read(b) }
func (*recorded) Write(b []byte) (int, error)     { return len(b), nil }
func (*recorded) Close() error                    { return nil }
func (*recorded) SetDeadline(time.Time) error     { return nil }
func (*recorded) SetReadDeadline(time.Time) error { return nil }
