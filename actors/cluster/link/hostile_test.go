package link

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"time"
)

const attackerAddress = "127.0.0.1:9"

// attack connects to a link with knowledge of the secret.
func (n *node) attack(tb testing.TB) *tls.Conn {
	tb.Helper()
	conn, err := tls.Dial("tcp", n.address, n.conf.tls())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	return conn
}

// bytesOf are frames as they are sent.
func bytesOf(frames ...string) []byte {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	for _, f := range frames {
		writeFrame(w, []byte(f))
	}
	_ = w.Flush()
	return b.Bytes()
}

// alive fails unless the link takes a frame of an honest peer.
func (n *node) alive(tb testing.TB) {
	tb.Helper()
	if _, err := n.attack(tb).Write(bytesOf(attackerAddress, "alive")); err != nil {
		tb.Fatal(err)
	}
	for !strings.HasSuffix(receive(tb, n.frames), " alive") {
		continue
	}
}

// A peer that knows the secret but breaks the protocol is refused and counted, and its later frames are not read.
func TestHostilePeer(t *testing.T) {
	t.Parallel()
	n := open(t, secret(1))
	large := binary.BigEndian.AppendUint32(bytesOf(attackerAddress), MaxFrame+1)
	for name, said := range map[string][]byte{
		"no address":            bytesOf(""),
		"no port":               bytesOf("127.0.0.1"),
		"a wrong port":          bytesOf("127.0.0.1:65536"),
		"a long address":        bytesOf(strings.Repeat("a", maxAddress) + ":1"),
		"the address of itself": bytesOf(n.address),
		"another protocol":      []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
		"a large frame":         large,
		"the largest":           binary.BigEndian.AppendUint32(bytesOf(attackerAddress), 1<<32-1),
	} {
		before := n.refused.Load()
		conn := n.attack(t)
		if _, err := conn.Write(append(said, bytesOf("bad", "bad")...)); err != nil {
			t.Fatal(name, err)
		}
		eventually(t, name+" is refused", func() bool { return n.refused.Load() > before })
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		for err := error(nil); err == nil; _, err = conn.Read(make([]byte, 1)) { // skips signs of life
			continue
		}
		n.alive(t)
	}
	if len(n.frames) > 0 {
		t.Errorf("it has heard %q", <-n.frames)
	}
}

// The handshake refuses connections without a certificate, without TLS, with an earlier TLS version, or for another
// protocol.
func TestHandshake(t *testing.T) {
	t.Parallel()
	n := open(t, secret(1))
	for name, change := range map[string]func(c *tls.Config){
		"no certificate":   func(c *tls.Config) { c.GetClientCertificate = nil },
		"TLS 1.2":          func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 },
		"no protocol":      func(c *tls.Config) { c.NextProtos = nil },
		"another protocol": func(c *tls.Config) { c.NextProtos = []string{"h2"} },
		"another secret": func(c *tls.Config) {
			other, err := FromSecrets(secret(2))
			if err != nil {
				t.Fatal(err)
			}
			c.GetClientCertificate = other.tls().GetClientCertificate
		},
	} {
		before := n.refused.Load()
		conf := n.conf.tls()
		conf.VerifyConnection = nil
		change(conf)
		conn, err := tls.Dial("tcp", n.address, conf)
		if err == nil {
			_, _ = conn.Write(bytesOf(attackerAddress, "bad"))
		}
		eventually(t, name+" is refused", func() bool { return n.refused.Load() > before })
		if err == nil {
			_ = conn.Close()
		}
	}
	before := n.refused.Load()
	conn, err := net.Dial("tcp", n.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = conn.Write(bytesOf(attackerAddress, "bad"))
	eventually(t, "no TLS is refused", func() bool { return n.refused.Load() > before })
	if n.alive(t); len(n.frames) > 0 {
		t.Errorf("it has heard %q", <-n.frames)
	}
}

// Untaken frames are bounded in number, however many addresses their peers claim.
func TestFlood(t *testing.T) {
	t.Parallel()
	n := open(t, secret(1))
	n.mu.Lock()
	n.hold = true
	n.mu.Unlock()
	large := strings.Repeat("x", MaxFrame)
	for i := range 10 {
		conn := n.attack(t)
		go func() { // it ends with its connection
			_, _ = conn.Write(bytesOf(attackerAddress + string(rune('0'+i))))
			for range 1000 {
				if _, err := conn.Write(bytesOf(large)); err != nil {
					return
				}
			}
		}()
	}
	eventually(t, "some came", func() bool { return len(n.frames) >= maxWaitingAll })
	<-time.After(200 * time.Millisecond)
	if k := len(n.frames); k != maxWaitingAll {
		t.Errorf("%d frames were taken", k)
	}
}

// Any bytes over a real connection leave the link alive.
func FuzzStream(f *testing.F) {
	n := open(f, secret(1))
	f.Add(bytesOf(attackerAddress, "x", "", "y"))
	f.Add(bytesOf("a:1")[:5])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		conn := n.attack(t)
		if _, err := conn.Write(data); err == nil {
			_ = conn.CloseWrite()
		}
		n.alive(t)
	})
}
