package trawl_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/actors/cluster/link"
	"github.com/seed61375155/trawl/actors/notify/zmqsink"
	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/web"
)

// Logins of the server under test.
const (
	serverUser     = "user"
	serverPassword = "password"
)

// reopen has the chain's actor of a node fail, and waits until it has opened the chain again.
func reopen(t *testing.T, n *trawl.Node) {
	t.Helper()
	_, err := trawl.Ask(faulty{t.Context()}, n.Chain(), messages.GetCoins{Outs: make([]wire.OutPoint, 1)})
	if !errors.Is(err, trawl.ErrRestarted) {
		t.Fatalf("the chain's actor: %v", err)
	}
	if _, err := trawl.Ask(t.Context(), n.Chain(), messages.WaitOpen{}); err != nil {
		t.Fatal(err)
	}
}

// subscribed publishes the blocks of a node at a socket, where a subscriber adds them to told.
func subscribed(t *testing.T, told *heard) trawl.Publisher {
	t.Helper()
	at := "tcp://" + freeAddress(t)
	publisher, err := zmqsink.Open(zmqsink.Config{Topics: []zmqsink.Topic{{Name: "hashblock", Address: at}}})
	if err != nil {
		t.Fatal(err)
	}
	subscriber, err := e2e.DialZMQ(at, "hashblock")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for number := uint32(0); ; number++ {
			m, err := subscriber.Next(time.Minute)
			if err != nil {
				return // closed
			}
			if m.Number != number {
				told.add("published", fmt.Sprintf("message %d is missing", number))
			}
			told.add("published", hex.EncodeToString(m.Body))
		}
	}()
	t.Cleanup(func() {
		if err := errors.Join(subscriber.Close(), publisher.Close()); err != nil {
			t.Error(err)
		}
		<-done
	})
	return publisher
}

// clustered returns what a node needs to scan together with others, and where these reach it.
func clustered(t *testing.T, at string, with ...string) *trawl.ClusterConfig {
	t.Helper()
	secret := sha256.Sum256([]byte("cluster"))
	credentials, err := link.FromSecrets(secret[:])
	if err != nil {
		t.Fatal(err)
	}
	l, err := link.New(link.Config{Listen: at, Credentials: credentials})
	if err != nil {
		t.Fatal(err)
	}
	return &trawl.ClusterConfig{Link: l, Nodes: with, Serve: true, After: 1}
}

// A site is a node as browsers and programs see it over HTTP.
type site struct {
	t       *testing.T
	address string
	browser *http.Client
	place   string // of the session
}

// served serves a node with its page and REST until the test ends, or stop is called.
func served(t *testing.T, n *trawl.Node) (s *site, stop func()) {
	t.Helper()
	page, err := web.New(web.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server, err := rpc.NewServer(rpc.Config{User: serverUser, Password: serverPassword, Page: page, REST: true})
	if err != nil {
		t.Fatal(err)
	}
	table, err := n.Methods(trawl.Host{})
	if err != nil {
		t.Fatal(err)
	}
	server.Streams.Serve(n.Events())
	server.Ready(table)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve() }()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	s = &site{t: t, address: "http://" + server.Addrs()[0].String()}
	s.browser = &http.Client{Jar: jar, Transport: transport}
	s.browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		transport.CloseIdleConnections()
		if err := errors.Join(server.Shutdown(context.Background()), <-ended); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	form := url.Values{"user": {serverUser}, "password": {serverPassword}}
	status, location, _ := s.do(http.MethodPost, "/ui/login", form.Encode())
	if s.place = location; status != http.StatusSeeOther {
		t.Fatalf("login: %d", status)
	}
	s.place = "/ui" + s.place[strings.LastIndex(s.place, "/~"):]
	return s, stop
}

// do makes a request as a browser does.
func (s *site) do(method, path, form string) (status int, location, body string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.address+path, strings.NewReader(form))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", s.address)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	request.Header.Set("X-Trawl-Fresh", "1") // pages are shown again for a moment otherwise
	response, err := s.browser.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	raw, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("Location"), string(raw)
}

// changing are parts of a page that are others each time it is looked at, or that tell of connections.
var changing = regexp.MustCompile(
	`data-token="[^"]*"|>up [^<]*|value="[^"]*"|since [^<]*|[0-9.]+ [kKMG]i?B|<div class="world">.*|<tr id="peer-.*|</tr>`)

// shows returns the lines of the pages about the node, and what REST says of the tip.
func (s *site) shows(search, tip string) (list []string) {
	s.t.Helper()
	for _, path := range []string{"", "ui/search/" + search, "ui/wallet/one", "ui/wallet/two"} {
		status, _, body := s.do(http.MethodGet, s.place+path, "")
		if status != http.StatusOK {
			s.t.Errorf("page %q: %d", path, status)
		}
		for line := range strings.Lines(changing.ReplaceAllString(body, "")) {
			list = append(list, path+": "+strings.TrimSpace(line))
		}
	}
	for _, path := range []string{"block/" + tip + ".hex", "spenttxouts/" + tip + ".json", "headers/" + tip + ".hex"} {
		status, _, body := s.do(http.MethodGet, "/rest/"+path, "")
		if status != http.StatusOK {
			s.t.Errorf("REST %s: %d", path, status)
		}
		list = append(list, path+": "+body)
	}
	return list
}

// attachedTo returns the configuration of a node that is attached to the node of a site.
func attachedTo(t *testing.T, s *site, dir string) trawl.Config {
	t.Helper()
	login := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(login, []byte(serverUser+":"+serverPassword), 0o600); err != nil {
		t.Fatal(err)
	}
	attachment, err := trawl.NewAttachment(trawl.AttachConfig{
		Core: s.address, Chain: "regtest", LoginFile: login, NoWallets: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := regtest(dir)
	cfg.Attach, cfg.Searches.LeastRoom, cfg.ScriptIndex = attachment, 1, true
	return cfg
}

// attachedAnswers returns what an attached node says of the chain that it follows, once it is at a block, and of a
// script that has an address there.
func attachedAnswers(t *testing.T, n *whole, tip, paid string) (list []string) {
	t.Helper()
	n.call(nil, "", "waitforblock", tip, 60_000)
	n.call(nil, "", "scanblocks", "start", []string{"raw(51)"}) // the index is there by then
	table, err := n.Methods(trawl.Host{})
	if err != nil {
		t.Fatal(err)
	}
	waitForIndexes(t, table)
	for _, c := range [][]any{
		{"getbestblockhash"},
		{"getblockcount"},
		{"getindexinfo"},
		{"getscripthistory", paid},
		{"getscriptbalance", paid},
		{"getblockfilter", tip},
		{"getblock", tip},
		{"scanblocks", "start", []string{"raw(51)"}},
		{"getchaintips"},
	} {
		var answer any
		method, _ := c[0].(string)
		n.call(&answer, "", method, c[1:]...)
		list = append(list, fmt.Sprint(c, answer))
	}
	return list
}

// members returns the states of a node's cluster members, and how many units they have done for the node.
func members(t *testing.T, n *whole) (states []string, units int) {
	t.Helper()
	var info struct {
		Members []struct {
			Address, State string
			Units          int
		}
	}
	n.call(&info, "", "getclusterinfo")
	for _, m := range info.Members {
		states, units = append(states, m.Address+" "+m.State), units+m.Units
	}
	return states, units
}

// lent has a node scan until a member has done a part of a scan.
func lent(t *testing.T, n *whole) {
	t.Helper()
	_, before := members(t, n)
	for end := time.Now().Add(30 * time.Second); ; {
		n.call(nil, "", "scanblocks", "start", []string{"raw(51)"})
		states, units := members(t, n)
		if units > before {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no member does anything: %q", states)
		}
	}
}

// same fails a test for each line that only one of got and fresh has; fresh is from a fresh node.
func same(t *testing.T, of string, got, fresh []string) {
	t.Helper()
	for who, lists := range map[string][2][]string{"only before": {got, fresh}, "only fresh": {fresh, got}} {
		left := slices.Clone(lists[1])
		for _, line := range lists[0] {
			if i := slices.Index(left, line); i >= 0 {
				left = slices.Delete(left, i, i+1)
				continue
			}
			t.Errorf("%s, %s: %.1500s", of, who, line)
		}
	}
}
