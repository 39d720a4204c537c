package corenode

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// serve answers every connection with bytes, and closes it then.
func serve(t *testing.T, reply func() []byte) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
			if req, err := http.ReadRequest(bufReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, req.Body)
				_, _ = conn.Write(reply())
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	return "http://" + listener.Addr().String()
}

// A reply that is cut anywhere is no reply, whatever part of it has come.
func TestCutAtEveryByte(t *testing.T) {
	const body = `{"jsonrpc":"2.0","result":12345,"id":0}`
	whole := []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	var length atomic.Int64
	c := dial(t, serve(t, func() []byte { return whole[:length.Load()] }), cookie(t, "a:"+secret))
	for n := range len(whole) + 1 {
		length.Store(int64(n))
		var got int
		err := c.Call(t.Context(), &got, "x")
		switch {
		case n == len(whole) && (err != nil || got != 12345):
			t.Errorf("whole: %d, %v", got, err)
		case n < len(whole) && !errors.Is(err, ErrAway):
			t.Errorf("cut at %d: %d, %v", n, got, err)
		}
		noSecret(t, err)
	}
}

// wholeReply is the limit of a reply that is sent whole.
const wholeReply = 2 << 20

func TestOddReplies(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for name, test := range map[string]struct {
		reply func(w http.ResponseWriter, r *http.Request)
		want  error
	}{
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, ErrReply},
		"compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			_, _ = zip.Write(make([]byte, 1<<20))
			_ = zip.Close()
		}, ErrReply},
		"said to be huge": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(MaxReply+1))
			w.WriteHeader(http.StatusOK)
		}, ErrTooLarge},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			chunk := bytes.Repeat([]byte{' '}, 1<<20)
			for range wholeReply>>20 + 1 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, ErrTooLarge},
		"silent":   {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, ErrAway},
		"trickles": {trickle, ErrAway},
		"empty":    {func(http.ResponseWriter, *http.Request) {}, ErrReply},
		"teapot":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }, ErrReply},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			test.reply(w, r)
		}))
		timeout := 5 * time.Second
		if name == "silent" || name == "trickles" {
			timeout = 50 * time.Millisecond
		}
		c, err := New(Config{Address: addressOf(t, server.URL), User: "a", Password: secret, Timeout: timeout})
		if err != nil {
			t.Fatal(err)
		}
		if name == "endless" {
			c.maxReply = wholeReply
		}
		err = c.Call(t.Context(), new(any), "x")
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		noSecret(t, err)
		c.Close()
		server.Close()
	}
	if elsewhere.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

func trickle(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		_, _ = w.Write([]byte{' '})
		_ = http.NewResponseController(w).Flush()
		time.Sleep(5 * time.Millisecond)
	}
}

// A login that the other side repeats stays out of errors, which are logged.
func TestLoginInErrors(t *testing.T) {
	const password = "a long secret"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, sent, _ := r.BasicAuth()
		body, _ := io.ReadAll(r.Body)
		reply := `{"jsonrpc":"2.0","id":0,"error":{"code":-5,"message":"you said ` + sent + ` and ` +
			strings.TrimPrefix(r.Header.Get("Authorization"), "Basic ") + `"}}`
		switch {
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusNotFound)
			reply = "you said " + password
		case bytes.HasPrefix(body, []byte("[")):
			reply = "[" + reply + "]"
		}
		_, _ = io.WriteString(w, reply)
	}))
	defer server.Close()
	c := dial(t, server.URL, cookie(t, "__cookie__:"+password))
	_, errs, err := c.Batch(t.Context(), "x", [][]any{{}})
	if err != nil || len(errs) != 1 {
		t.Fatal(errs, err)
	}
	_, getErr := c.Get(t.Context(), "/rest/x")
	for _, err := range []error{c.Call(t.Context(), nil, "x"), errs[0], getErr} {
		var refused *Error
		if !errors.As(err, &refused) || refused.Code != -5 || !strings.Contains(refused.Message, "you said …") ||
			strings.Contains(refused.Message, "ZWNy") {
			t.Errorf("%v", err)
		}
	}
}

func TestCallerLeaves(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer server.Close()
	cause := errors.New("the caller has left")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
	err := dial(t, server.URL, cookie(t, "a:b")).Call(ctx, nil, "x")
	if !errors.Is(err, cause) || errors.Is(err, ErrAway) {
		t.Errorf("%v", err)
	}
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]error{
		"http://127.0.0.1:8332": nil, "http://localhost": nil, "http://[::1]:1/": nil, "https://core.example:8332": nil,
		"http://10.0.0.1:8332": ErrPlain, "http://core.example": ErrPlain, "http://127.0.0.1.example": ErrPlain,
		"http://u:" + secret + "@127.0.0.1": ErrUserURL, "http://u@127.0.0.1": ErrUserURL,
		"127.0.0.1:8332": ErrAddress, "ftp://127.0.0.1": ErrAddress, "http://": ErrAddress, "http://x:0": ErrAddress,
		"http://x:99999": ErrAddress, "http://x/" + secret: ErrAddress, "http://x?" + secret: ErrAddress,
		"http://x:" + secret: ErrAddress, "": ErrAddress,
	} {
		a, err := ParseAddress(text, 8332)
		if err == nil {
			_, err = New(Config{Address: a})
		}
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
		noSecret(t, err)
	}
	if _, err := New(Config{Address: Address{Host: "10.0.0.1", Port: 1}, Insecure: true}); err != nil {
		t.Errorf("insecure: %v", err)
	}
	if checkDialed(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}) == nil {
		t.Error("localhost may be another machine")
	}
}

// The login goes over https to a server that the operator's own authority vouches for,
// and to no other.
func TestTLS(t *testing.T) {
	var logins atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password == secret {
			logins.Add(1)
		}
		_, _ = io.WriteString(w, `{"result":1,"error":null,"id":0}`)
	}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for _, own := range []bool{false, true} {
		config := Config{Address: addressOf(t, server.URL), User: "a", Password: secret}
		if own {
			config.CA = ca
		}
		c, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Call(t.Context(), nil, "x"); (err == nil) != own || !own && !errors.Is(err, ErrAway) {
			t.Errorf("own authority %t: %v", own, err)
		}
		c.Close()
	}
	if logins.Load() != 1 {
		t.Errorf("the login was sent %d times", logins.Load())
	}
	if _, err := New(Config{Address: addressOf(t, server.URL), CA: []byte(secret)}); err == nil {
		t.Error("no certificate is taken")
	}
}

func TestLoginFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, test := range map[string]struct {
		path string
		want error
	}{
		"right":      {write("right", "user:"+secret+"\n", 0o600), nil},
		"group":      {write("group", "user:"+secret, 0o640), errReadable},
		"others":     {write("others", "user:"+secret, 0o604), errReadable},
		"no colon":   {write("none", secret, 0o600), ErrLogin},
		"two lines":  {write("two", "user:"+secret+"\nx:y", 0o600), ErrLogin},
		"large":      {write("large", "user:"+strings.Repeat("x", maxLogin), 0o600), errLarge},
		"a folder":   {dir, errNotRegular},
		"a device":   {os.DevNull, errNotRegular},
		"not there":  {filepath.Join(dir, "x"), os.ErrNotExist},
		"empty user": {write("user", ":"+secret, 0o600), ErrLogin},
	} {
		login, err := (&loginFile{path: test.path, private: true}).readLogin()
		if !errors.Is(err, test.want) || err != nil && !errors.Is(err, ErrAway) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if test.want == nil && string(login) != "user:"+secret {
			t.Errorf("%s: another login", name)
		}
		noSecret(t, err)
	}
}

func TestRESTReplies(t *testing.T) {
	core := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("a login goes to REST")
		}
		switch r.URL.Path {
		case "/ok":
			_, _ = io.WriteString(w, "bytes")
		case "/unknown":
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "00 not found\r\n")
		case "/off":
			w.WriteHeader(http.StatusNotFound)
		case "/warm":
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "Service temporarily unavailable: Loading block index…")
		}
	}))
	defer core.Close()
	c := dial(t, core.URL, cookie(t, "a:"+secret))
	for path, want := range map[string]error{"/ok": nil, "/off": ErrNoREST, "/warm": ErrAway} {
		body, err := c.Get(t.Context(), path)
		if !errors.Is(err, want) || err == nil && string(body) != "bytes" {
			t.Errorf("%s: %q, %v", path, body, err)
		}
	}
	_, err := c.Get(t.Context(), "/unknown")
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != -5 || e.Message != "00 not found" {
		t.Errorf("%v", err)
	}
}

func FuzzFilter(f *testing.F) {
	var hash Hash
	f.Add(append(append([]byte{0}, hash[:]...), 2, 'a', 'b'))
	f.Add(append(append([]byte{0}, hash[:]...), 0xfd, 1, 0, 'x'))
	f.Add(append(append([]byte{0}, hash[:]...), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		if filter, ok := parseFilter(body, (*chainHash)(&hash)); ok && !bytes.HasSuffix(body, filter) {
			t.Errorf("%x of %x", filter, body)
		}
	})
}

// A link below Core's directory leads to no file outside the directory.
func TestCookieLink(t *testing.T) {
	outside := cookie(t, "user:"+secret)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "inside"), []byte("user:"+secret), 0o600); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{outside: false, "inside": true, "../x": false} {
		link := filepath.Join(dir, ".cookie")
		_ = os.Remove(link)
		if err := os.Symlink(target, link); err != nil {
			t.Skip(err)
		}
		login, err := (&Configured{Cookie: link, CookieBelow: dir}).ReadCookie()
		if (err == nil) != want || want && string(login) != "user:"+secret {
			t.Errorf("%s: %v", target, err)
		}
		noSecret(t, err)
	}
}
