package link

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A process may open and close several links while others are in use.
func TestSeveral(t *testing.T) {
	t.Parallel()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 5 {
				a, b := open(t, secret(1)), open(t, secret(1))
				a.Send(b.address, []byte("x"))
				receive(t, b.frames)
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// A wire is what lies between two nodes: it forwards bytes until it swallows them, and nobody is told.
type wire struct {
	address string
	cut     atomic.Bool
	bytes   atomic.Int64 // that were swallowed
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{address: listener.Addr().String()}
	var group sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	group.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, from)
			mu.Unlock()
			if w.cut.Load() {
				continue // it stays open, and nothing comes
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			conns = append(conns, out)
			mu.Unlock()
			group.Go(func() { w.forward(out, from) })
			group.Go(func() { w.forward(from, out) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		group.Wait()
	})
	return w
}

// forward goes on until a side ends, of which the other is told where the wire is not cut.
func (w *wire) forward(to, from net.Conn) {
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		if w.cut.Load() {
			w.bytes.Add(int64(n))
			if err != nil {
				return
			}
			continue
		}
		if err != nil {
			_ = to.Close()
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			_ = from.Close()
			return
		}
	}
}

// A machine that is gone without a word is noticed at both ends, whether something is sent or not, and what is said to
// it meanwhile is bounded. When it is there again it is reached again.
func TestHalfOpen(t *testing.T) {
	t.Parallel()
	c, err := FromSecrets(secret(1))
	if err != nil {
		t.Fatal(err)
	}
	const every, silence = 50 * time.Millisecond, time.Second
	for _, sends := range []bool{false, true} {
		a, b := openWith(t, c, every, silence), openWith(t, c, every, silence)
		w := newWire(t, b.address)
		a.Send(w.address, []byte("there"))
		if got := receive(t, b.frames); got != a.address+" there" {
			t.Fatal(got)
		}
		a.Watch(w.address)
		b.Watch(a.address)
		<-time.After(2 * silence) // what says nothing else says that it is there
		if len(a.gone)+len(b.gone) > 0 {
			t.Fatal("a node is gone that is there")
		}
		w.cut.Store(true)
		if sends {
			for range 3 * maxQueuedSize / MaxFrame {
				a.Send(w.address, make([]byte, MaxFrame))
			}
		}
		if got := receive(t, a.gone); got != w.address {
			t.Errorf("%s is gone", got)
		}
		if got := receive(t, b.gone); got != a.address {
			t.Errorf("%s is gone", got)
		}
		w.cut.Store(false)
		eventually(t, "it is reached again", func() bool {
			a.Send(w.address, []byte("again"))
			return len(b.frames) > 0
		})
	}
}

// A node that never finishes a handshake is given up.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	a := open(t, secret(1))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	a.Send(listener.Addr().String(), []byte("anybody"))
	a.Watch(listener.Addr().String())
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { _, _ = io.Copy(io.Discard, conn) }() // it ends with the connection
	receive(t, a.gone)
}

// Frames that wait for a node are bounded in number and in bytes.
func TestQueue(t *testing.T) {
	t.Parallel()
	o := &outbound{more: make(chan struct{}, 1)}
	for range 2 * maxQueued {
		o.put([]byte{1})
	}
	if n := len(o.frames); n != maxQueued {
		t.Errorf("%d frames wait", n)
	}
	for o.next() != nil {
		continue
	}
	for range maxQueued {
		o.put(make([]byte, MaxFrame))
	}
	if n := o.size; n > maxQueuedSize || n < maxQueuedSize-MaxFrame {
		t.Errorf("%d bytes wait", n)
	}
}

// at are credentials at a time of their own.
func at(c *Credentials, now *atomic.Int64) *Credentials {
	c.now = func() time.Time { return time.Now().Add(time.Duration(now.Load())) }
	return c
}

// reaches reports whether a frame of one node reaches another. Where it does not, both nodes have noticed when it
// returns.
func reaches(t *testing.T, a, b *node) (arrived bool) {
	t.Helper()
	before := b.refused.Load()
	a.Watch(b.address)
	a.Send(b.address, []byte("hello"))
	eventually(t, "it arrives or not", func() bool {
		return len(b.frames) > 0 || len(a.gone) > 0
	})
	if len(b.frames) == 0 {
		receive(t, a.gone)
		eventually(t, "it is refused", func() bool { return b.refused.Load() > before })
		return false
	}
	receive(t, b.frames)
	return true
}

// Clocks may differ by a day. Above that a node is refused, until its clock is set right; then it is let in with
// nothing started anew.
func TestClocks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ahead   time.Duration
		arrives bool
	}{{20 * time.Hour, true}, {-20 * time.Hour, true}, {72 * time.Hour, false}, {-40 * 24 * time.Hour, false}} {
		var shift atomic.Int64
		shift.Store(int64(test.ahead))
		c, err := FromSecrets(secret(1))
		if err != nil {
			t.Fatal(err)
		}
		a, b := openWith(t, at(c, &shift), beatEvery, maxSilence), open(t, secret(1))
		if got := reaches(t, a, b); got != test.arrives {
			t.Errorf("a clock that is ahead by %v: %v", test.ahead, got)
		}
		if shift.Store(0); !test.arrives && !reaches(t, a, b) {
			t.Errorf("a clock that was ahead by %v is right, and the node is not let in", test.ahead)
		}
	}
}

// issue makes an operator's authority and a certificate that it has signed.
func issue(t *testing.T, name string, life time.Duration, ends ...x509.ExtKeyUsage) (ca, cert, key []byte) {
	t.Helper()
	if ends == nil {
		ends = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "operator"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(1000 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	leafPublic, leafPrivate, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(life),
		ExtKeyUsage: ends,
	}
	pemOf := func(kind string, der []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, public, private)
	ca = pemOf("CERTIFICATE", der, err)
	der, err = x509.CreateCertificate(rand.Reader, leaf, authority, leafPublic, private)
	cert = pemOf("CERTIFICATE", der, err)
	der, err = x509.MarshalPKCS8PrivateKey(leafPrivate)
	return ca, cert, pemOf("PRIVATE KEY", der, err)
}

// A certificate that ends while nodes run lets connections go on, and makes none any more. One for another name
// makes none at all.
func TestCertificateEnds(t *testing.T) {
	t.Parallel()
	ca, cert, key := issue(t, Name, time.Hour)
	var later atomic.Int64
	open := func() *node {
		c, err := FromPEM(ca, cert, key)
		if err != nil {
			t.Fatal(err)
		}
		return openWith(t, at(c, &later), beatEvery, maxSilence)
	}
	a, b, c := open(), open(), open()
	if !reaches(t, a, b) {
		t.Fatal("a certificate that is good is refused")
	}
	later.Store(int64(2 * time.Hour))
	if !reaches(t, a, b) {
		t.Error("a connection has ended with its certificate")
	}
	if reaches(t, c, b) {
		t.Error("a certificate that has ended is accepted")
	}
	_, cert, key = issue(t, "elsewhere", time.Hour)
	if _, err := FromPEM(ca, cert, key); err == nil {
		t.Error("a certificate for another name is accepted")
	}
}

// A node refuses at its start an own certificate that no other node would accept, except if it has only expired.
func TestOwnCertificate(t *testing.T) {
	ca, cert, key := issue(t, Name, -time.Minute)
	if _, err := FromPEM(ca, cert, key); err != nil {
		t.Errorf("one that has ended: %v", err)
	}
	other, _, _ := issue(t, Name, time.Hour)
	_, cert, key = issue(t, Name, time.Hour)
	if _, err := FromPEM(other, cert, key); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("one of another authority: %v", err)
	}
	for _, end := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		ca, cert, key := issue(t, Name, time.Hour, end)
		if _, err := FromPEM(ca, cert, key); err == nil || !strings.Contains(err.Error(), "key usage") {
			t.Errorf("one for one end alone: %v", err)
		}
	}
}

// Why a node cannot be reached is in the log, once: that nobody listens, that it knows another secret, that it refuses
// this one.
func TestReasons(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		secrets [][]byte // of the other node; nil: nobody listens
		why     string
	}{
		"nobody": {nil, "refused"}, "another secret": {[][]byte{secret(2)}, "unknown authority"},
		"refused": {[][]byte{secret(3)}, "unknown certificate authority"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := FromSecrets(secret(1), secret(3))
			if err != nil {
				t.Fatal(err)
			}
			address := "127.0.0.1:1"
			if test.secrets != nil {
				address = open(t, test.secrets...).address
			}
			a := openWith(t, c, beatEvery, maxSilence)
			var log lockedBuffer
			a.cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
			for range 3 {
				a.Watch(address)
				a.Send(address, []byte("hello"))
				receive(t, a.gone)
			}
			if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, test.why) {
				t.Errorf("the log is\n%s", got)
			}
		})
	}
}

// lockedBuffer is a buffer that many may write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
