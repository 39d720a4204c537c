package rpc

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// secureClient trusts the certificates of a file alone, and keeps no connection.
func secureClient(t *testing.T, chain string) *http.Client {
	t.Helper()
	text, err := os.ReadFile(chain)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12},
	}}
}

func securePost(t *testing.T, c *http.Client, s *Server, body string) (string, *tls.ConnectionState, error) {
	t.Helper()
	url := "https://" + tcp4(t, s)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", basic("u:p"))
	resp, err := c.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return strings.TrimSpace(string(text)), resp.TLS, err
}

// tcp4 is the address of the server on 127.0.0.1.
func tcp4(t *testing.T, s *Server) string {
	t.Helper()
	for _, a := range s.Addrs() {
		if strings.HasPrefix(a.String(), "127.0.0.1:") {
			return a.String()
		}
	}
	t.Fatal("does not listen on 127.0.0.1")
	return ""
}

// With -rpctls calls come by TLS 1.3 or not at all, and a reload shows the new certificate.
func TestTLS(t *testing.T) {
	chain, key := e2e.Certificate(t, t.TempDir())
	s := startServer(t, Config{User: "u", Password: "p", TLS: chain + "," + key})
	s.Ready(blockerTable(t, newBlocker()))
	first := secureClient(t, chain)
	got, state, err := securePost(t, first, s, v2Call("quick"))
	if err != nil || !strings.Contains(got, `"result":1`) || state.Version != tls.VersionTLS13 {
		t.Fatal(got, state, err)
	}
	old := secureClient(t, chain)
	old.Transport.(*http.Transport).TLSClientConfig.MaxVersion = tls.VersionTLS12
	if _, _, err := securePost(t, old, s, v2Call("quick")); err == nil {
		t.Error("TLS 1.2 is taken")
	}
	plain := &client{addr: tcp4(t, s)}
	if got, err := plain.post(t.Context(), "/", "u:p", v2Call("quick")); err == nil {
		t.Error("answered without TLS:", got)
	}
	next, nextKey := e2e.Certificate(t, t.TempDir())
	if err := Reload(s, &Config{User: "u", Password: "p", TLS: next + "," + nextKey}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := securePost(t, first, s, v2Call("quick")); err == nil {
		t.Error("the old certificate is still shown")
	}
	second := secureClient(t, next)
	if _, _, err := securePost(t, second, s, v2Call("quick")); err != nil {
		t.Error(err)
	}
	if err := Reload(s, &Config{User: "u", Password: "p", TLS: next + "," + key}); err == nil {
		t.Error("a key of another certificate was taken")
	}
	if _, _, err := securePost(t, second, s, v2Call("quick")); err != nil {
		t.Error("after a mistake:", err)
	}
}

// A request that takes br is a program's without TLS. By TLS it may be a browser's.
func TestBrowsersByTLS(t *testing.T) {
	chain, key := e2e.Certificate(t, t.TempDir())
	c := secureClient(t, chain)
	for scheme, want := range map[string]int{"http": http.StatusOK, "https": http.StatusForbidden} {
		config := Config{User: "u", Password: "p", Page: noPage{}}
		if scheme == "https" {
			config.TLS = chain + "," + key
		}
		s := startServer(t, config)
		s.Ready(blockerTable(t, newBlocker()))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://"+tcp4(t, s)+"/health/live", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "evil.example"
		r.Header.Set("Accept-Encoding", "gzip, br")
		r.Header.Set("Accept-Language", "en")
		answer, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: got %d, want %d", scheme, answer.StatusCode, want)
		}
	}
}

func TestTLSFiles(t *testing.T) {
	chain, key := e2e.Certificate(t, t.TempDir())
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	huge := filepath.Join(t.TempDir(), "huge")
	if err := errors.Join(os.WriteFile(huge, nil, 0o600), os.Truncate(huge, 1<<40)); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{
		huge + "," + key, chain + "," + huge, "/dev/zero," + key, chain + "," + t.TempDir(),
		",", chain, chain + ",", "," + key, chain + "," + key + ",x", key + "," + chain,
		chain + "," + filepath.Join(t.TempDir(), "none"), chain + "," + pipe, pipe + "," + key,
	} {
		_, log, err := start(t, Config{TLS: value})
		if err == nil || !strings.Contains(log, "-rpctls") {
			t.Errorf("%q: %v, logged %s", value, err, log)
		}
	}
}

// Clients that shake no hands, more than the server takes up, keep nobody out.
func TestTLSHalfOpen(t *testing.T) {
	chain, key := e2e.Certificate(t, t.TempDir())
	s := startServer(t, Config{User: "u", Password: "p", TLS: chain + "," + key, MaxConns: 8})
	s.Ready(blockerTable(t, newBlocker()))
	for i := range 64 {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", tcp4(t, s))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			_, _ = c.Write([]byte("\x16\x03\x01\x02\x00\x01")) // the beginning of a greeting
		}
	}
	got, _, err := securePost(t, secureClient(t, chain), s, v2Call("quick"))
	if err != nil || !strings.Contains(got, `"result":1`) {
		t.Error(got, err)
	}
}

// FuzzTLS: no bytes of a client end the server or reach a method.
func FuzzTLS(f *testing.F) {
	f.Add([]byte("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"))
	f.Add([]byte("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"))
	chain, key := e2e.Certificate(f, f.TempDir())
	var own certificate
	if err := own.read(chain + "," + key); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		here, there := net.Pipe()
		defer there.Close()
		go func() {
			_, _ = there.Write(sent)
			_ = there.Close()
		}()
		go func() { _, _ = io.Copy(io.Discard, there) }()
		c := tls.Server(here, own.config())
		if n, err := c.Read(make([]byte, 100)); err == nil {
			t.Errorf("%d bytes were read of a client that knows no key", n)
		}
		_ = here.Close()
	})
}
