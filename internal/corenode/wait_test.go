package corenode

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// The tip of a Core that has had too many calls is polled: a long poll would keep one of its
// threads, of which it may have no other.
func TestNewsOfFullCore(t *testing.T) {
	var polls, waits atomic.Int32
	var full atomic.Bool
	core := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		result := `"` + strings.Repeat("0", 64) + `"`
		switch {
		case full.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case strings.Contains(string(body), "waitfornewblock"):
			waits.Add(1)
			result = `{"hash":"` + strings.Repeat("0", 63) + `1"}`
		case strings.Contains(string(body), "getnetworkinfo"):
			result = `{"version":300200}`
		default:
			polls.Add(1)
		}
		_, _ = io.WriteString(w, `{"result":`+result+`,"error":null,"id":0}`)
	}))
	defer core.Close()
	c := dial(t, core.URL, cookie(t, "a:b"))
	wait := func() chainhash.Hash {
		tip, err := c.WaitNewBlock(t.Context(), &chainhash.Hash{}, time.Millisecond)
		if err != nil {
			t.Error(err)
		}
		return tip
	}
	if wait() == (chainhash.Hash{}) || waits.Load() != 1 {
		t.Errorf("%d long polls of a Core that has room", waits.Load())
	}
	full.Store(true)
	if _, err := c.BestBlock(t.Context()); !errors.Is(err, ErrAway) {
		t.Errorf("full: %v", err)
	}
	full.Store(false)
	before := polls.Load()
	if wait() != (chainhash.Hash{}) || waits.Load() != 1 || polls.Load() == before {
		t.Errorf("%d long polls, %d polls after it was full", waits.Load(), polls.Load()-before)
	}
}
