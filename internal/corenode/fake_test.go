package corenode

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// secret is a password that must not be seen anywhere.
const secret = "hunter2-correct-horse"

// A fakeCore answers as Core does, from replies by method.
type fakeCore struct {
	*httptest.Server
	login   atomic.Pointer[string]
	replies map[string]string // by method: a whole reply
	calls   atomic.Int64
}

func newFakeCore(t *testing.T, replies map[string]string) *fakeCore {
	t.Helper()
	f := &fakeCore{replies: replies}
	f.setLogin("__cookie__:" + secret)
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fakeCore) setLogin(login string) { f.login.Store(&login) }

func (f *fakeCore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.calls.Add(1)
	user, password, ok := r.BasicAuth()
	if !ok || user+":"+password != *f.login.Load() {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var call struct{ Method string }
	if json.NewDecoder(r.Body).Decode(&call) != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	reply, ok := f.replies[call.Method]
	if !ok {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	_, _ = w.Write([]byte(reply))
}

// cookie writes a cookie file.
func cookie(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), ".cookie")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// addressOf returns the address of a test server.
func addressOf(t *testing.T, url string) Address {
	t.Helper()
	a, err := ParseAddress(url, 0)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// dial returns a client with the login of a cookie file.
func dial(t *testing.T, url, cookieFile string) *Client {
	t.Helper()
	c, err := New(Config{Address: addressOf(t, url), Cookie: cookieFile, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
