package e2e_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// A streamReader reads GET /events, and comes back with its last id.
type streamReader struct {
	t    *testing.T
	d    *e2e.Daemon
	path string
	last string
}

// read hands each event on until one is enough.
func (r *streamReader) read(enough func(name, data string) bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.d.Addr+r.path, http.NoBody)
	if err != nil {
		r.t.Fatal(err)
	}
	cookie, err := os.ReadFile(filepath.Join(r.d.NetDir, ".cookie"))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString(cookie))
	if r.last != "" {
		request.Header.Set("Last-Event-ID", r.last)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		r.t.Fatal(reply.Status)
	}
	name := ""
	lines := bufio.NewScanner(reply.Body)
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			r.last = value
		case "event":
			name = value
		case "data":
			if enough(name, value) {
				return
			}
		}
	}
	r.t.Fatal(lines.Err(), "the stream has ended")
}

// A reader of a search's stream gets each payment with three confirmations once, through kills
// and reorganisations.
func TestSearchEvents(t *testing.T) {
	t.Parallel()
	const address = "bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202"
	// Blocks of branches pay to another address, so that they differ.
	const another = "bcrt1qqqqqpqqqqqqqqqqqqqqqqqqqqqqqqqqqy4vsul"
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex=1", "-searchroom=1"}})
	var made struct{ ID string }
	objects := []string{"addr(" + address + ")", "addr(" + another + ")"}
	d.Get(&made, "createsearch", objects, map[string]any{"follow": true})
	r := &streamReader{t: t, d: d, path: "/events?topics=search&minconf=3&search=" + made.ID}
	var held []string
	upTo := func(height int) {
		t.Helper()
		var hash string
		d.Get(&hash, "getblockhash", height)
		r.read(func(name, data string) bool {
			var e struct{ Type, BlockHash string }
			if err := json.Unmarshal([]byte(data), &e); err != nil || name != "entry" {
				return false
			}
			if e.Type != "disconnect" {
				held = append(held, e.BlockHash)
			} else if n := len(held); n > 0 && held[n-1] == e.BlockHash {
				held = held[:n-1]
			}
			return e.BlockHash == hash
		})
	}
	d.Get(nil, "generatetoaddress", 10, address)
	upTo(8)
	var tenth string
	d.Get(&tenth, "getblockhash", 10)
	d.Get(nil, "invalidateblock", tenth) // which has too few confirmations to be told
	d.Get(nil, "generatetoaddress", 5, another)
	d.Kill()
	d.Restart()
	upTo(12)
	var seventh string
	d.Get(&seventh, "getblockhash", 7)
	d.Get(nil, "invalidateblock", seventh) // it was told
	d.Kill()
	d.Restart()
	d.Get(nil, "generatetoaddress", 20, another)
	upTo(24)
	if len(held) != 24 {
		t.Errorf("%d blocks are held, want 24", len(held))
	}
	for i, hash := range held {
		var want string
		if d.Get(&want, "getblockhash", i+1); hash != want {
			t.Errorf("height %d: %s, want %s", i+1, hash, want)
		}
	}
}
