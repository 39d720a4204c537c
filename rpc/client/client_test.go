package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/client"
)

const address = "bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202"

// account is the first public key of BIP32's test vectors, for test networks.
const account = "tpubD6NzVbkrYhZ4XgiXtGrdW5XDAPFCL9h7we1vwNCpn8tGbBcgfVYjXyhWo4E1xkh56hjod1RhGjxbaTLV3X4" +
	"FyWuejifB9jusQ46QzG87VKp"

// startNode starts a node that answers at an address, and returns what ends both.
func startNode(dir, addr string) (at string, stop func(), err error) {
	ctx := context.Background()
	n, err := trawl.Open(ctx, trawl.Config{
		Dir: dir, Chain: "regtest", BlockFilterIndex: true, Searches: trawl.SearchesConfig{LeastRoom: 1},
	})
	if err != nil {
		return "", nil, err
	}
	table, err := n.Methods(trawl.Host{Stop: func() {}, Started: time.Now()})
	if err != nil {
		return "", nil, errors.Join(err, n.Close(ctx))
	}
	_, port, _ := net.SplitHostPort(addr)
	server, err := rpc.NewServer(rpc.Config{User: "u", Password: "p", Port: port})
	if err != nil {
		return "", nil, errors.Join(err, n.Close(ctx))
	}
	server.Ready(table)
	server.Streams.Serve(n.Events())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve() }()
	return server.Addrs()[0].String(), func() {
		if err := errors.Join(server.Shutdown(ctx), <-ended, n.Close(ctx)); err != nil {
			panic(err)
		}
	}, nil
}

// The payments of an address are followed; each is there once, whatever becomes of the connection.
func ExampleClient_FollowSearch() {
	dir, err := os.MkdirTemp("", "trawl")
	must(err)
	defer os.RemoveAll(dir)
	addr, stop, err := startNode(dir, "")
	must(err)
	defer stop()

	ctx := context.Background()
	c := client.New(client.Config{URL: "http://" + addr, User: "u", Password: "p"})
	must(c.Call(ctx, nil, "generatetoaddress", 3, address))
	objects := []client.ScanObject{{Desc: "addr(" + address + ")"}}
	id, _, err := c.CreateSearch(ctx, objects, client.SearchOptions{Name: "shop", Follow: true})
	must(err)

	entries := 0
	for page, err := range c.FollowSearch(ctx, id, "") {
		must(err)
		for _, e := range page.Entries {
			fmt.Println(e.Type, e.Amount, "at height", e.Height)
			entries++
		}
		if entries == 4 {
			break
		}
		if entries == 3 && page.State == client.Following {
			must(c.Call(ctx, nil, "generatetoaddress", 1, address))
		}
	}
	// Output:
	// receive 50.00000000 at height 1
	// receive 50.00000000 at height 2
	// receive 50.00000000 at height 3
	// receive 50.00000000 at height 4
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Pages and events go on over a restart of the node, and nothing is missed or comes twice.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	addr, stop, err := startNode(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := client.New(client.Config{URL: "http://" + addr, User: "u", Password: "p"})
	mine := func(blocks int) {
		t.Helper()
		if err := c.Call(ctx, nil, "generatetoaddress", blocks, address); err != nil {
			t.Fatal(err)
		}
	}
	mine(3)
	id, created, err := c.CreateSearch(ctx, []client.ScanObject{{Desc: "addr(" + address + ")"}},
		client.SearchOptions{Follow: true})
	if err != nil || !created {
		t.Fatal(err)
	}
	heights := make(chan int32, 100)
	go func() {
		for page, err := range c.FollowSearch(ctx, id, "") {
			if err != nil {
				break
			}
			for _, e := range page.Entries {
				heights <- e.Height
			}
		}
		close(heights)
	}()
	received := make(chan int32, 100)
	go func() {
		q := client.EventQuery{Topics: []string{"search"}, Search: id}
		for e, err := range c.Events(ctx, q) {
			var entry client.Entry
			if err != nil {
				break
			}
			if e.Name == "entry" && json.Unmarshal(e.Data, &entry) == nil {
				received <- entry.Height
			}
		}
		close(received)
	}()
	want := func(from, to int32) {
		t.Helper()
		for h := from; h <= to; h++ {
			if a, b := <-heights, <-received; a != h || b != h {
				t.Fatalf("heights %d and %d, want %d", a, b, h)
			}
		}
	}
	want(1, 3)
	stop()
	if addr, stop, err = startNode(dir, addr); err != nil {
		t.Skip("the port was taken meanwhile: ", err)
	}
	defer stop()
	_ = addr
	mine(4)
	want(4, 7)
	if removed, err := c.RemoveSearch(ctx, id); err != nil || !removed {
		t.Error(err)
	}
	if _, more := <-heights; more {
		t.Error("an entry of a search that is removed")
	}
	if _, more := <-received; more {
		t.Error("an event of a search that is removed")
	}
}

// Typed calls give what the methods answer.
func TestMethods(t *testing.T) {
	addr, stop, err := startNode(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	ctx := t.Context()
	c := client.New(client.Config{URL: "http://" + addr + "/", User: "u", Password: "p"})
	if err := c.Call(ctx, nil, "generatetoaddress", 5, address); err != nil {
		t.Fatal(err)
	}
	objects := []client.ScanObject{{Desc: "addr(" + address + ")"}}
	scan, err := c.ScanBlocks(ctx, objects, 2, -1, client.ScanOptions{Activity: true})
	if err != nil || len(scan.Blocks) != 4 || len(scan.Activity) != 4 || scan.Activity[0].Amount != 50e8 {
		t.Errorf("%+v, %v", scan, err)
	}
	id, created, err := c.CreateSearch(ctx, objects, client.SearchOptions{Name: "n"})
	if err != nil || !created {
		t.Fatal(err)
	}
	again, created, err := c.CreateSearch(ctx, objects, client.SearchOptions{Name: "n"})
	if again != id || created || err != nil {
		t.Error(again, created, err)
	}
	pages := 0
	for page, err := range c.FollowSearch(ctx, id, "") {
		if err != nil {
			t.Fatal(err)
		}
		if pages += len(page.Entries); page.State == client.Done && pages != 5 {
			t.Errorf("%d entries", pages)
		}
	}
	page, err := c.SearchEntries(ctx, id, "", 2)
	if err != nil || len(page.Entries) != 2 || !page.More || page.Entries[1].Output.Address != address {
		t.Errorf("%+v, %v", page, err)
	}
	ranged := []client.ScanObject{{Desc: "wpkh(" + account + "/0/*)", Range: &[2]int64{5, 9}}}
	s, err := c.ExtendSearch(ctx, id, ranged, -1)
	if err != nil || s.Scripts != 6 || s.ID != id {
		t.Errorf("%+v, %v", s, err)
	}
	_, err = c.ExtendSearch(ctx, id, ranged, 6)
	if err == nil || !strings.Contains(err.Error(), "Invalid start_height") {
		t.Error("above the tip: ", err)
	}
	blocks, _, err := c.CreateSearch(ctx, objects, client.SearchOptions{BlocksOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for page, err := range c.FollowSearch(ctx, blocks, "") {
		other := func(e client.Entry) bool { return e.Type != client.BlockOnly }
		if err != nil || slices.ContainsFunc(page.Entries, other) {
			t.Errorf("%+v, %v", page, err)
		}
	}
	if _, err := c.RemoveSearch(ctx, blocks); err != nil {
		t.Error(err)
	}
	err = c.Call(ctx, nil, "createsearch", []any{"raw(51)"}, map[string]any{"folow": true})
	if err == nil || !strings.Contains(err.Error(), "Unexpected key folow") {
		t.Error("a wrong option: ", err)
	}
	list, err := c.ListSearches(ctx)
	if err != nil || len(list) != 1 || list[0].Name != "n" {
		t.Errorf("%+v, %v", list, err)
	}
	for name, change := range map[string]func(context.Context, string) (bool, error){
		"pause": c.PauseSearch, "resume": c.ResumeSearch, "abort": c.AbortSearch,
	} {
		if _, err := change(ctx, id); err != nil {
			t.Error(name, err)
		}
	}
	if s, err := c.GetSearch(ctx, id); err != nil || !s.Ended() {
		t.Errorf("%+v, %v", s, err)
	}
	var refused *client.Error
	if _, err := c.GetSearch(ctx, "00"); !errors.As(err, &refused) || refused.Code != -8 {
		t.Error(err)
	}
	wrong := client.New(client.Config{URL: "http://" + addr, User: "u", Password: "q"})
	var status *client.StatusError
	err = wrong.Call(ctx, nil, "getblockcount")
	if !errors.As(err, &status) || status.Status != http.StatusUnauthorized {
		t.Error(err)
	}
	for _, err := range wrong.Events(ctx, client.EventQuery{Topics: []string{"tip"}}) {
		if !errors.As(err, &status) || status.Status != http.StatusUnauthorized {
			t.Error(err)
		}
	}
}

// A cookie is read again for each call; what a node says that starts is not final.
func TestCookie(t *testing.T) {
	cookie := filepath.Join(t.TempDir(), ".cookie")
	if err := os.WriteFile(cookie, []byte("__cookie__:old"), 0o600); err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		switch n := calls.Add(1); {
		case password == "old":
			_ = os.WriteFile(cookie, []byte("__cookie__:new"), 0o600)
			w.WriteHeader(http.StatusUnauthorized)
		case n == 2:
			_, _ = w.Write([]byte(`{"result":null,"error":{"code":-28,"message":"starting"},"id":1}`))
		case n == 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			_, _ = w.Write([]byte(`{"result":{"entries":[],"state":"done","cursor":"1"},"error":null,"id":1}`))
		}
	}))
	defer s.Close()
	c := client.New(client.Config{URL: s.URL, Cookie: cookie})
	pages := 0
	for _, err := range c.FollowSearch(t.Context(), "id", "") {
		if pages++; err != nil {
			t.Error(err)
		}
	}
	if pages != 1 || calls.Load() != 4 {
		t.Errorf("%d pages after %d calls", pages, calls.Load())
	}
	if err := os.WriteFile(cookie, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(t.Context(), nil, "getblockcount"); err == nil || strings.Contains(err.Error(), "nothing") {
		t.Error(err)
	}
}

// Amounts are exact.
func TestAmount(t *testing.T) {
	for text, want := range map[string]client.Amount{
		"0.00000001": 1, "21000000.00000000": 21e14, "-0.10000000": -1e7, "5": 5e8, "0.1": 1e7,
	} {
		var got client.Amount
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
		back, _ := json.Marshal(got)
		if again := client.Amount(0); json.Unmarshal(back, &again) != nil || again != want {
			t.Errorf("%s becomes %s", text, back)
		}
	}
	for _, text := range []string{`""`, "1e3", "0.000000001", "184467440738", `"1"`, "true"} {
		var got client.Amount
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is taken for %d", text, got)
		}
	}
}
