package corenode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// endless sends as much as is taken.
func endless(chunk string, length int) http.HandlerFunc {
	chunk = strings.Repeat(chunk, 1<<16/len(chunk))
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if length > 0 {
			w.Header().Set("Content-Length", strconv.Itoa(length))
		}
		_, _ = io.WriteString(w, `{"result":[`)
		for {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}
}

// The client's memory stays small when a hostile node sends anything, to any number of calls at
// a time.
func TestHostileMemory(t *testing.T) {
	const large = 16 << 20 // in the place of MaxReply
	for name, server := range map[string]http.HandlerFunc{
		"endless":               endless("{},", 0),
		"as much as is allowed": endless("[],", large),
		"many members":          endless(`"":0,`, smallReply-16),
	} {
		t.Run(name, func(t *testing.T) {
			core := httptest.NewServer(server)
			defer core.Close()
			c, err := New(Config{Address: addressOf(t, core.URL), User: "a", Password: "b"})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.maxReply = large
			stop, most := watchHeap()
			var calls sync.WaitGroup
			for i := range DefaultConns {
				for method, to := range map[string]any{
					"getblockchaininfo": new(ChainInfo), "getblock": new(string), "getrawmempool": new([]Hash),
					"getpeerinfo": new([]struct{ ID int }), "getindexinfo": new(map[string]IndexState),
				} {
					if i > 0 && bounds[method].bytes == MaxReply { // one after the other
						continue
					}
					calls.Go(func() {
						err := c.Call(t.Context(), to, method)
						if !errors.Is(err, ErrReply) && !errors.Is(err, ErrAway) {
							t.Errorf("%s: %v", method, err)
						}
					})
				}
			}
			calls.Wait()
			stop()
			if grown := *most >> 20; grown > 150 {
				t.Errorf("the heap grew by %d MiB", grown)
			}
		})
	}
}

// watchHeap notes by how much the heap in use grows, garbage not yet collected included.
func watchHeap() (stop func(), most *uint64) {
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	done, ended := make(chan struct{}), make(chan struct{})
	most = new(uint64)
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-done:
				return
			}
			if runtime.ReadMemStats(&now); now.HeapInuse > before.HeapInuse {
				*most = max(*most, now.HeapInuse-before.HeapInuse)
			}
		}
	}()
	return func() { close(done); <-ended }, most
}

// A body is read whole up to the limit, in whatever pieces it comes, and room for a large one is
// asked for once, before it is large.
func TestReadBody(t *testing.T) {
	for _, size := range []int{
		0, 1, 1<<16 - 1, 1 << 16, 1<<16 + 1, freeReply - 1, freeReply, freeReply + 1, 3 * freeReply,
	} {
		body := bytes.Repeat([]byte("ab"), size/2+1)[:size]
		for _, length := range []int64{-1, int64(size)} {
			for _, limit := range []int64{int64(size), int64(size) - 1, int64(size) + 1} {
				asked := 0
				got, err := readBody(bytes.NewReader(body), length, limit, func() error { asked++; return nil })
				if limit < int64(size) {
					if !errors.Is(err, ErrTooLarge) {
						t.Errorf("%d bytes of %d: %v", limit, size, err)
					}
					continue
				}
				rooms := size > freeReply && asked == 1 || size <= freeReply && asked <= size/(freeReply/2)
				if err != nil || !bytes.Equal(got, body) || !rooms {
					t.Errorf("%d bytes, %d announced: got %d, %v, asked %d times", size, length, len(got), err, asked)
				}
			}
		}
	}
	gone := errors.New("gone")
	_, err := readBody(bytes.NewReader(make([]byte, 2*freeReply)), -1, MaxReply, func() error { return gone })
	if !errors.Is(err, gone) {
		t.Errorf("no room: %v", err)
	}
}

// Errors tell the reason: nobody listens, the login cannot be read, or it is refused.
func TestReasons(t *testing.T) {
	core := newFakeCore(t, map[string]string{"x": `{"result":1,"error":null,"id":0}`})
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + listener.Addr().String()
	_ = listener.Close()
	dir := t.TempDir()
	missing := filepath.Join(dir, "regtest", ".cookie")
	configuration := func() (Configured, error) {
		return Configured{DataDir: dir, Cookie: missing, CookieBelow: dir}, nil
	}
	const refuses = "refuses the login"
	for name, test := range map[string]struct {
		url, cookie string
		want        []string
		not         string
	}{
		"nobody listens, no cookie":   {nobody, "", []string{"connection refused"}, refuses},
		"nobody listens, a cookie":    {nobody, cookie(t, "a:"+secret), []string{"connection refused"}, refuses},
		"no cookie":                   {core.URL, "", []string{"its login cannot be read", missing, "no such file"}, refuses},
		"no cookie of another folder": {core.URL, missing, []string{"its login cannot be read", missing}, refuses},
		"another cookie":              {core.URL, cookie(t, "a:"+secret), []string{refuses}, "cannot be read"},
	} {
		cfg := Config{Address: addressOf(t, test.url), Cookie: test.cookie, Configuration: configuration}
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		err = c.Call(t.Context(), nil, "x")
		if !errors.Is(err, ErrAway) {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		if strings.Contains(err.Error(), test.not) || strings.Contains(err.Error(), "statat") {
			t.Errorf("%s: %v", name, err)
		}
		noSecret(t, err)
		c.Close()
	}
}

// The login of the configuration is that of the running Core: it is read again when Core refuses
// it, be it a password, another password or a cookie by then.
func TestConfiguredLogin(t *testing.T) {
	core := newFakeCore(t, map[string]string{"x": `{"result":1,"error":null,"id":0}`})
	path := cookie(t, "__cookie__:"+secret)
	var now Configured
	read := func() (Configured, error) { return now, nil }
	c, err := New(Config{Address: addressOf(t, core.URL), Configuration: read})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i, step := range []struct {
		login string
		now   Configured
		want  error
	}{
		{"u:1" + secret, Configured{User: "u", Password: "1" + secret}, nil},
		{"u:2" + secret, Configured{User: "u", Password: "2" + secret}, nil},
		{"__cookie__:" + secret, Configured{Cookie: path}, nil},
		{"u:3" + secret, Configured{Cookie: path}, ErrLogin},
		{"u:3" + secret, Configured{User: "u", Password: "3" + secret}, nil},
	} {
		core.setLogin(step.login)
		now = step.now
		before := c.Lost()
		if err := c.Call(t.Context(), nil, "x"); !errors.Is(err, step.want) || step.want == nil && err != nil {
			t.Errorf("%d: %v, want %v", i, err, step.want)
		}
		if step.want == nil && i > 0 && c.Lost() == before {
			t.Errorf("%d: nobody can tell that Core has another login", i)
		}
	}
}

// A Core that hangs counts as silent until it answers again. A Core that refuses connections
// counts as lost. A caller that leaves early proves nothing about Core.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs bool
		c := &Client{
			base: "http://core", login: fixedLogin("a:b"), timeout: DefaultTimeout, maxReply: MaxReply,
		}
		c.own = &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			if hangs {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			body := `{"result":"` + strings.Repeat("0", 64) + `","error":null,"id":0}`
			return &http.Response{
				StatusCode: http.StatusOK, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)),
			}, nil
		})}
		c.life = c.own
		silent := func() bool { _, silent := c.Silent(); return silent }
		if _, err := c.BestBlock(t.Context()); err != nil || silent() || c.Lost() != 0 {
			t.Fatalf("%v, silent %t", err, silent())
		}
		hangs = true
		gone, cancel := context.WithTimeout(t.Context(), time.Second)
		_, _ = c.BestBlock(gone)
		cancel()
		if silent() || c.Lost() != 0 {
			t.Error("a caller who left makes Core one that hangs")
		}
		began := time.Now()
		go c.Ping(t.Context())
		synctest.Wait()
		c.Ping(t.Context()) // at once, for another call asks already
		if !time.Now().Equal(began) {
			t.Error("two ask whether it is there")
		}
		time.Sleep(pingTime)
		synctest.Wait()
		since, is := c.Silent()
		if !is || !since.Equal(began) || c.Lost() != 1 {
			t.Errorf("silent %t since %v, lost %d times", is, since, c.Lost())
		}
		_, err := c.BestBlock(t.Context())
		if !errors.Is(err, ErrAway) || time.Since(began) != 2*pingTime {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		hangs = false
		if _, err := c.BestBlock(t.Context()); err != nil || silent() {
			t.Errorf("%v, still silent %t", err, silent())
		}
		time.Sleep(lifeTime)
		synctest.Wait()
	})
}

// A Core whose machine takes no connection in time does not answer either.
func TestSilenceOfMachine(t *testing.T) {
	c := &Client{
		base: "http://core", login: fixedLogin("a:b"), timeout: DefaultTimeout, maxReply: MaxReply,
	}
	for err, want := range map[error]bool{os.ErrDeadlineExceeded: true, syscall.ECONNREFUSED: false} {
		c.own = &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Err: err}
		})}
		c.life = c.own
		before := c.Lost()
		if _, err := c.BestBlock(t.Context()); !errors.Is(err, ErrAway) {
			t.Error(err)
		}
		if _, silent := c.Silent(); silent != want || c.Lost() != before+1 {
			t.Errorf("%v: silent %t, lost %d times", err, silent, c.Lost()-before)
		}
	}
}

type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// Names and words that a node says of itself go into states and logs, and are short.
func TestLongWords(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	info, err := json.Marshal(map[string]any{"chain": long, "bestblockhash": strings.Repeat("0", 64)})
	if err != nil {
		t.Fatal(err)
	}
	core := newFakeCore(t, map[string]string{
		"getblockchaininfo": `{"result":` + string(info) + `,"error":null,"id":0}`,
		"x":                 `{"result":null,"error":{"code":-5,"message":"` + long + `"},"id":0}`,
	})
	c := dial(t, core.URL, cookie(t, "__cookie__:"+secret))
	for name, err := range map[string]error{
		"chain": func() error { _, err := c.Info(t.Context()); return err }(), "error": c.Call(t.Context(), nil, "x"),
	} {
		if err == nil || len(err.Error()) > 3000 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}
