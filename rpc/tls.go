package rpc

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/seed61375155/trawl/internal/vfs"
)

// maxPEM bounds the bytes of a certificate's file and of its key's.
const maxPEM = 1 << 20

// errTLSForm refuses a value of -rpctls.
var errTLSForm = errors.New("-rpctls needs two files, <certificate>,<key>")

// A certificate is what the server shows to clients of TLS. It may be replaced while the
// server runs: connections that are open keep the old one.
type certificate struct {
	current atomic.Pointer[tls.Certificate]
}

// reload reads the files that a value of -rpctls names. Without one, and where the server was
// started without, there is nothing to do.
func (c *certificate) reload(files string) error {
	if files == "" || c.current.Load() == nil {
		return nil
	}
	return c.read(files)
}

func (c *certificate) read(files string) error {
	chain, key, ok := strings.Cut(files, ",")
	if !ok || chain == "" || key == "" || strings.Contains(key, ",") {
		return errTLSForm
	}
	var pem [2][]byte
	for i, file := range []string{chain, key} {
		text, err := vfs.ReadFile(vfs.OS, file, maxPEM) // to open a pipe may take for ever
		if err != nil {
			return fmt.Errorf("%s: %w", files, err)
		}
		pem[i] = text
	}
	pair, err := tls.X509KeyPair(pem[0], pem[1])
	if err != nil {
		return fmt.Errorf("%s: %w", files, err)
	}
	c.current.Store(&pair)
	return nil
}

// config is that of the server: TLS 1.3 alone, HTTP/1.1 alone.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS13,
		NextProtos:     []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}

// A tlsListener has clients speak TLS. The first read makes the handshake, under the deadline
// of a request's head, so that a silent client holds up nobody else.
type tlsListener struct {
	net.Listener
	config *tls.Config
}

// Accept implements net.Listener.
func (l tlsListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return tlsConn{tls.Server(c, l.config)}, nil
}

// A tlsConn closes without waiting: another goroutine sends its last words, which a client that
// reads nothing may not take, and ends within seconds.
type tlsConn struct{ *tls.Conn }

// noteTLS sets what a request says of TLS, as net/http does where it knows the connection: it knows only ours, around
// that of TLS.
func noteTLS(r *http.Request) {
	c := connOf(r)
	if c == nil {
		return
	}
	if secure, ok := within[tlsConn](c.Conn); ok {
		state := secure.ConnectionState()
		r.TLS = &state
	}
}

// Close implements net.Conn.
func (c tlsConn) Close() error {
	go c.Conn.Close() // nobody is left to get an error
	return nil
}
