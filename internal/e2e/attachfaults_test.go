package e2e_test

import (
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// While Core rebuilds its chain from its files a node scans up to where Core was all
// the time, and afterwards has its filters.
func TestLiveAttachReindex(t *testing.T) {
	t.Parallel()
	c := startBitcoind(t, "fastprune=1", "rest=1")
	s := &attachStress{t: t, random: rand.New(rand.NewPCG(8, 8)), core: c, seen: map[string]bool{}}
	for range 15 {
		c.get(nil, "generatetodescriptor", 10, anyScript(s.random))
	}
	s.mine(20, 2)
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-attach=" + c.dir}})
	wantSame(t, c, d)
	var was int32
	d.Get(&was, "getblockcount")
	c.stop()
	_ = os.Remove(c.cookie())
	c.process = e2e.Run(t, os.Getenv("BITCOIND"), "-datadir="+c.dir, "-printtoconsole=0", "-reindex")
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var scan struct {
			To        int32 `json:"to_height"`
			Completed bool  `json:"completed"`
		}
		d.Get(&scan, "scanblocks", "start", []string{"raw(51)"})
		if !scan.Completed || scan.To < was {
			t.Fatalf("scanned to %d of %d, completed: %v", scan.To, was, scan.Completed)
		}
	}
	c.stop()
	c.start()
	s.mine(1, 0)
	wantSame(t, c, d)
}

// A hostile server in Core's place may answer anything: the node still answers, takes no
// answer for a chain, and stops when asked to.
func TestAttachHostile(t *testing.T) {
	t.Parallel()
	const secret = "never-to-be-seen"
	for name, answer := range map[string]http.HandlerFunc{
		"garbage": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("\x00\xff{[", 1000))
		},
		"deep": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"result":`+strings.Repeat("[", 1<<20))
		},
		"endless": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"result":"`)
			for piece := []byte(strings.Repeat("a", 1<<20)); r.Context().Err() == nil; {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		},
		"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"slow": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/"+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"wrong types": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"result":{"chain":"regtest","blocks":-5,"headers":1e300,"bestblockhash":7},"id":0}`)
		},
		"high": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"result":{"chain":"regtest","blocks":2147483647,"headers":2147483647,"version":300200,`+
				`"bestblockhash":"`+strings.Repeat("a", 64)+`"},"id":0}`)
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			core := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				_, _ = io.Copy(io.Discard, r.Body) // else its end is not noticed
				answer(w, r)
			}))
			t.Cleanup(core.Close) // after the node has been stopped
			login := filepath.Join(t.TempDir(), "login")
			if err := os.WriteFile(login, []byte("user:"+secret), 0o600); err != nil {
				t.Fatal(err)
			}
			_, port, _ := net.SplitHostPort(core.Listener.Addr().String())
			d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{
				"-attach=http://127.0.0.1:" + port, "-attachlogin=" + login,
			}})
			e2e.Eventually(t, 10*time.Second, "it is asked", func() bool { return asked.Load() > 0 })
			time.Sleep(500 * time.Millisecond) // it is asked again after a second at the soonest
			if err := d.Call(t.Context(), nil, "getblockcount"); err == nil {
				t.Error("it knows of a chain")
			}
			var info struct{ State, Reason string }
			d.Get(&info, "getattachinfo")
			if info.State == "following" {
				t.Errorf("%+v", info)
			}
			began := time.Now()
			d.Stop()
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("stopped after %v", took)
			}
			if strings.Contains(d.Log()+info.Reason, secret) {
				t.Error("the login is told")
			}
		})
	}
}
