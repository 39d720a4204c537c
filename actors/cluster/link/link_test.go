package link

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long something may take on a busy machine.
const patience = 30 * time.Second

func secret(n byte) []byte { return bytes.Repeat([]byte{n}, SecretSize) }

// node is a link that notes what it receives.
type node struct {
	*Link
	conf    *Credentials
	address string
	frames  chan string
	gone    chan string
	mu      sync.Mutex
	hold    bool // frames are not looked at
	held    []func()
}

// open opens a link, for the time of a test.
func open(tb testing.TB, secrets ...[]byte) *node {
	tb.Helper()
	c, err := FromSecrets(secrets...)
	if err != nil {
		tb.Fatal(err)
	}
	return openWith(tb, c, beatEvery, maxSilence)
}

func openWith(tb testing.TB, c *Credentials, every, silence time.Duration) *node {
	tb.Helper()
	l, err := New(Config{Listen: "127.0.0.1:0", Credentials: c, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	l.every, l.silence = every, silence
	n := &node{Link: l, conf: c, frames: make(chan string, 1<<16), gone: make(chan string, 100)}
	if err := l.Open(n.frame, func(address string) { n.gone <- address }); err != nil {
		tb.Fatal(err)
	}
	n.address, _ = l.State()
	tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			tb.Error(err)
		}
	})
	return n
}

func (n *node) frame(from string, frame []byte, taken func()) {
	n.frames <- from + " " + string(frame)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hold {
		n.held = append(n.held, taken)
		return
	}
	taken()
}

func receive(tb testing.TB, from chan string) string {
	tb.Helper()
	select {
	case s := <-from:
		return s
	case <-time.After(patience):
		tb.Fatal("nothing came")
		return ""
	}
}

func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	for end := time.Now().Add(patience); !holds(); {
		if time.Now().After(end) {
			tb.Fatal("never:", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// Frames go both ways, under the address that the sender is reached at, and the end of a node
// that is watched is noticed.
func TestFrames(t *testing.T) {
	a, b := open(t, secret(1)), open(t, secret(1))
	a.Send(b.address, []byte("there"))
	if got := receive(t, b.frames); got != a.address+" there" {
		t.Errorf("got %q", got)
	}
	b.Send(a.address, []byte("and back"))
	if got := receive(t, a.frames); got != b.address+" and back" {
		t.Errorf("got %q", got)
	}
	large := bytes.Repeat([]byte{'x'}, MaxFrame)
	for range 40 { // more than the buffers of a connection hold
		a.Send(b.address, large)
	}
	for range 40 {
		if got := receive(t, b.frames); len(got) != len(a.address)+1+MaxFrame {
			t.Fatalf("%d bytes", len(got))
		}
	}
	a.Watch(b.address)
	a.Send(b.address, []byte("last"))
	receive(t, b.frames)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if got := receive(t, a.gone); got != b.address {
		t.Errorf("%s is gone", got)
	}
}

// Two nodes connect if each accepts the first secret of the other. Otherwise no frame gets through, in
// either direction.
func TestSecrets(t *testing.T) {
	nodes := map[string]*node{
		"a": open(t, secret(1)), "b": open(t, secret(1)), "new": open(t, secret(2)),
		"old, new": open(t, secret(1), secret(2)), "new, old": open(t, secret(2), secret(1)),
	}
	for _, test := range []struct {
		from, to string
		arrives  bool
	}{
		{"a", "b", true},
		{"new", "b", false},
		{"a", "new", false},
		{"a", "old, new", true},
		{"a", "new, old", false}, // which accepts a, but a does not accept it
		{"old, new", "new, old", true},
		{"new, old", "new", true},
		{"new, old", "a", false},
	} {
		t.Run(test.from+" to "+test.to, func(t *testing.T) {
			a, b := nodes[test.from], nodes[test.to]
			before := b.refused.Load()
			a.Send(b.address, []byte("hello"))
			if test.arrives {
				receive(t, b.frames)
				return
			}
			eventually(t, "a connection is refused", func() bool { return b.refused.Load() > before })
			if len(b.frames) > 0 {
				t.Error("a frame came through")
			}
		})
	}
}

// A node renews its certificate before it ends, and also if the clock, wrong when it was made, has been
// set right.
func TestLeaf(t *testing.T) {
	a, err := newAuthority(secret(1))
	if err != nil {
		t.Fatal(err)
	}
	first, err := a.leaf(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := a.leaf(time.Now()); err != nil || again != first {
		t.Errorf("another certificate at once: %v", err)
	}
	for name, shift := range map[string]time.Duration{
		"one that ends soon": leafRenew - leafLife - time.Hour, "one of a clock that was ahead": 48 * time.Hour,
	} {
		old := *first.Leaf
		old.NotBefore, old.NotAfter = old.NotBefore.Add(shift), old.NotAfter.Add(shift)
		a.own = &tls.Certificate{Leaf: &old}
		if now, err := a.leaf(time.Now()); err != nil || now == a.own && now.Leaf == &old {
			t.Errorf("%s is kept: %v", name, err)
		}
	}
}

// Connections that never speak are bounded in number, and in time.
func TestHandshakesAreBounded(t *testing.T) {
	b := open(t, secret(1))
	before := b.refused.Load()
	var conns []net.Conn
	for range 40 {
		conn, err := net.Dial("tcp", b.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	eventually(t, "some are refused at once", func() bool { return b.refused.Load() >= before+20 })
	for _, conn := range conns { // all are closed after their time
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("bytes for a connection without a handshake")
		} else if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("a connection is kept")
		}
	}
	open(t, secret(1)).Send(b.address, []byte("hello"))
	receive(t, b.frames)
}

// Frames that are not taken are bounded in number; the rest follows once they are.
func TestCredit(t *testing.T) {
	a, b := open(t, secret(1)), open(t, secret(1))
	b.mu.Lock()
	b.hold = true
	b.mu.Unlock()
	const sent = 500
	for range sent {
		a.Send(b.address, []byte("x"))
	}
	eventually(t, "some came", func() bool { return len(b.frames) >= 64 })
	<-time.After(100 * time.Millisecond)
	if n := len(b.frames); n != 64 {
		t.Errorf("%d frames were taken", n)
	}
	b.mu.Lock()
	b.hold = false
	for _, taken := range b.held {
		taken()
	}
	b.mu.Unlock()
	eventually(t, "the rest comes", func() bool { return len(b.frames) == sent })
}

// New checks the configuration of a link before it listens.
func TestNew(t *testing.T) {
	c := open(t, secret(1)).conf
	for name, cfg := range map[string]Config{
		"no credentials":     {Listen: "127.0.0.1:0"},
		"no address":         {Credentials: c},
		"no port":            {Listen: "127.0.0.1", Credentials: c},
		"all interfaces":     {Listen: "0.0.0.0:1", Credentials: c},
		"no host":            {Listen: ":1", Credentials: c},
		"a wrong port":       {Listen: "127.0.0.1:65536", Credentials: c},
		"advertise anything": {Listen: ":1", Advertise: "[::]:1", Credentials: c},
		"advertise no port":  {Listen: ":1", Advertise: "a:0", Credentials: c},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := New(Config{Listen: ":1", Advertise: "node.example:1", Credentials: c}); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "00", strings.Repeat("0g", 32), strings.Repeat("00", 33)} {
		if _, err := ParseSecret(text); err == nil {
			t.Errorf("%q is a secret", text)
		}
	}
}

// A secret has the form of 64 hexadecimal digits, and cannot be guessed.
func TestParseSecret(t *testing.T) {
	var counted, stepped [SecretSize]byte
	for i := range counted {
		counted[i], stepped[i] = byte(i), byte(7*i+3)
	}
	text := []byte("correct horse battery staple xyz")
	for name, weak := range map[string]string{
		"zeros": strings.Repeat("0", 64), "ones": strings.Repeat("f", 64), "digits": strings.Repeat("0123456789abcdef", 4),
		"counted": hex.EncodeToString(counted[:]), "stepped": hex.EncodeToString(stepped[:]),
		"text":      hex.EncodeToString(text),
		"dead beef": strings.Repeat("deadbeef", 8), "half": strings.Repeat("8f1d4c0a7be52396", 4),
		"short": strings.Repeat("0", 63) + "1",
	} {
		if _, err := ParseSecret(weak); err == nil || strings.Contains(err.Error(), weak) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 100_000 {
		var secret [SecretSize]byte
		_, _ = rand.Read(secret[:])
		got, err := ParseSecret(" " + strings.ToUpper(hex.EncodeToString(secret[:])) + "\r\n")
		if err != nil || !bytes.Equal(got, secret[:]) {
			t.Fatalf("%x: %x, %v", secret, got, err)
		}
	}
}
