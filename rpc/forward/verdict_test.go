package forward

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// An answer is what a Core answers any call with.
type answer struct {
	status int
	body   string
	large  bool // it announces more than can be kept
}

func (a answer) write(w http.ResponseWriter) {
	if a.large {
		w.Header().Set("Content-Length", strconv.Itoa(corenode.MaxReply+1))
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// answering returns what judges logins at a Core that answers calls with a login, and calls without.
func answering(t *testing.T, with, without answer) (*logins, *atomic.Int32) {
	t.Helper()
	asked := new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if _, _, any := r.BasicAuth(); any {
			with.write(w)
			return
		}
		without.write(w)
	}))
	t.Cleanup(server.Close)
	address, err := corenode.ParseAddress(server.URL, 0)
	if err != nil {
		t.Fatal(err)
	}
	client := connect(t, corenode.Config{Address: address, User: "own", Password: "own"})
	l := newLogins(&Config{Core: client}, served(t).factsOf, func(string) bool { return false })
	l.waits.busy = 0
	return l, asked
}

// Each answer of Core's says one thing about a login, and what is none of Core's answers says nothing.
func TestVerdicts(t *testing.T) {
	const (
		noMethod = `{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":0}`
		result   = `{"jsonrpc":"2.0","result":1,"id":0}`
	)
	none := answer{status: http.StatusUnauthorized}
	endless := answer{http.StatusOK, `{"jsonrpc":"2.0","result":1`, true}
	for _, test := range []struct {
		name          string
		with, without answer
		want          verdict
		err           error
	}{
		{"refused", none, none, wrong, nil},
		{"bound by a whitelist", answer{status: 403}, none, limited, nil},
		{"the address is refused", answer{status: 403}, answer{status: 403}, limited, corenode.ErrForbidden},
		{"busy when asked for the address", answer{status: 403}, answer{status: 503}, limited, errBusy},
		{"the address gets an endless answer", answer{status: 403}, endless, limited, corenode.ErrForbidden},
		{"version 2 of the protocol", answer{status: 200, body: noMethod}, none, unlimited, nil},
		{"version 1 of the protocol", answer{status: 404, body: noMethod}, none, unlimited, nil},
		{"it starts", answer{status: 500, body: noMethod}, none, unlimited, nil},
		{"a result", answer{status: 200, body: result}, none, wrong, corenode.ErrReply},
		{"no JSON", answer{status: 500, body: "<html>"}, none, wrong, corenode.ErrReply},
		{"an endless answer", endless, none, wrong, corenode.ErrReply},
		{"busy", answer{status: 503}, none, wrong, errBusy},
		{"a gateway", answer{status: 502, body: noMethod}, none, wrong, corenode.ErrAway},
		{"another page", answer{status: 301, body: noMethod}, none, wrong, corenode.ErrReply},
	} {
		l, _ := answering(t, test.with, test.without)
		got, err := l.judge(t.Context(), header("u", "p"))
		if !errors.Is(err, test.err) || err == nil && got != test.want {
			t.Errorf("%s: %v, %v; want %v, %v", test.name, got, err, test.want, test.err)
		}
		login, err := l.Ask(t.Context(), header("u", "p"))
		if in := test.err == nil && test.want != wrong; (login != nil) != in || !errors.Is(err, test.err) {
			t.Errorf("%s: let in: %v, %v", test.name, login != nil, err)
		}
	}
}

// A busy Core is asked again at growing distances, until that has taken as long as it may, or nobody waits any more.
func TestBusyCoreIsSpared(t *testing.T) {
	busy := answer{status: http.StatusServiceUnavailable}
	l, asked := answering(t, busy, busy)
	l.waits.busy = 200 * time.Millisecond // at 0, 50 and 150 ms
	if _, err := l.judge(t.Context(), header("u", "p")); !errors.Is(err, errBusy) {
		t.Error(err)
	}
	if n := asked.Load(); n < 1 || n > 3 {
		t.Errorf("asked %d times", n)
	}
	l.waits.busy = time.Hour
	asked.Store(0)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := l.judge(ctx, header("u", "p")); err == nil {
		t.Error("a login is judged that nobody waits for")
	}
	if n := asked.Load(); n > 2 {
		t.Errorf("asked %d times, for nobody", n)
	}
}

// A header that holds no login is none, and nobody is asked about it.
func TestHeadersWithoutLogin(t *testing.T) {
	l, asked := answering(t, answer{status: 200}, answer{status: 200})
	for _, header := range []string{"", "Basic", "Basic !", "Bearer x", header("u", "p")[1:]} {
		login, err := l.Ask(t.Context(), header)
		if known := l.Known(t.Context(), header); login != nil || known != nil || err != nil {
			t.Errorf("%q: %v, %v, %v", header, login, known, err)
		}
	}
	if asked.Load() != 0 {
		t.Errorf("Core was asked %d times", asked.Load())
	}
}

// Core's verdict on a login in a call that is passed on counts from the next call. A refused login is forgotten, and
// Core is asked about a login that a whitelist has bound.
func TestStatusOfCalls(t *testing.T) {
	core := newCoreSim(t)
	core.start(t, wide, "1")
	g := newGate(t, core, false)
	for _, test := range []struct {
		user   string
		status int
		asked  int // at the next look
	}{
		{"full", http.StatusOK, 0},
		{"full", http.StatusInternalServerError, 0},
		{"full", http.StatusForbidden, 1},
		{"full", http.StatusUnauthorized, 1},
		{"low", http.StatusForbidden, 0}, // its whitelist is known
		{"low", http.StatusUnauthorized, 2},
		{"unheard of", http.StatusForbidden, 0},
	} {
		login := header(test.user, password(test.user))
		id, _ := g.id(login)
		known := g.Known(t.Context(), login)
		before := core.count()
		g.noteStatus(login, test.status)
		if _, kept := g.recall(id); kept != (known != nil && test.status != http.StatusUnauthorized) {
			t.Errorf("%s after status %d: remembered %v", test.user, test.status, kept)
		}
		if got := g.Known(t.Context(), login); (got != nil) != (known != nil) {
			t.Errorf("%s after status %d: %v", test.user, test.status, got)
		}
		if asked := core.count() - before; asked != test.asked {
			t.Errorf("%s after status %d: asked %d times, want %d", test.user, test.status, asked, test.asked)
		}
	}
}

// A login is limited where its list is, and where that is not known. Without a list where one is needed it may
// nothing, which is not so where nobody knows the lists.
func TestLimitedLogins(t *testing.T) {
	lists := rpcauth.ParseWhitelists([]string{"u:getblock", "e:"}, nil)
	for _, test := range []struct {
		name         string
		list         list
		limited, any bool
	}{
		{"not known", nil, true, true},
		{"free", rpcauth.ParseWhitelists(nil, nil).Of("u"), false, true},
		{"listed", lists.Of("u"), true, true},
		{"listed with nothing", lists.Of("e"), true, true},
		{"not listed", lists.Of("n"), true, false},
	} {
		login := coreLogin{"", func() rights { return rights{list: test.list} }}
		if login.Limited() != test.limited || login.Any() != test.any {
			t.Errorf("%s: limited %v, any %v", test.name, login.Limited(), login.Any())
		}
	}
}

// The cookie file proves the one login that it holds. While it cannot be read, a cookie that was accepted before
// counts on; once another is in it, the old one does not.
func TestCookies(t *testing.T) {
	core := newCoreSim(t)
	core.start(t, wide, "1")
	g := newGate(t, core, false)
	for login, want := range map[string]bool{
		header(cookieName, "1"): true, header(cookieName, "2"): false, header(cookieName, ""): false,
		header("full", "1"): false, header("", cookieName+":1"): false,
	} {
		if got, _ := g.proven(login); got != want {
			t.Errorf("%q is the cookie: %v", login, got)
		}
	}
	cookie := header(cookieName, "1")
	id, _ := g.id(cookie)
	if g.Known(t.Context(), cookie) == nil {
		t.Fatal("not let in")
	}
	file := g.configuration().Cookie
	g.configured.Cookie = core.dir // a folder
	if g.isOldCookie(id, cookie) {
		t.Error("a cookie is old since its file cannot be read")
	}
	g.configured.Cookie = file
	core.start(t, wide, "2")
	if !g.isOldCookie(id, cookie) || g.Known(t.Context(), cookie) != nil {
		t.Error("the old cookie counts")
	}
	g.configured.Cookie = ""
	if same, _ := g.proven(header(cookieName, "2")); same {
		t.Error("a cookie is proven without a file")
	}
}

// A login that is remembered already pushes out no other, however many there are, and what Core has said before all
// was read again is not remembered.
func TestRememberedInPlace(t *testing.T) {
	core := newCoreSim(t)
	core.start(t, wide, "1")
	g := newGate(t, core, false)
	at := g.now()
	for i := range maxRemembered {
		g.remember(loginID{byte(i), byte(i >> 8)}, accepted{at: at.Add(time.Duration(i))})
	}
	g.remember(loginID{7}, accepted{at: at.Add(time.Hour)})
	if _, known := g.recall(loginID{}); !known || len(g.known) != maxRemembered {
		t.Errorf("the oldest is known: %v; there are %d", known, len(g.known))
	}
	g.remember(loginID{0, 0, 1}, accepted{at: at})
	for id, want := range map[loginID]bool{{}: false, {1}: true, {0, 0, 1}: true} {
		if _, known := g.recall(id); known != want {
			t.Errorf("%v is known: %v", id[:3], known)
		}
	}
	if err := g.reload(); err != nil {
		t.Fatal(err)
	}
	if g.remember(loginID{1}, accepted{at: at}); len(g.known) != 0 {
		t.Error("remembered what Core said before all was read again")
	}
}

// Before there are methods of the node every method is Core's, which may do anything: own logins may use none.
func TestBeforeTheNodeServes(t *testing.T) {
	f := New(Config{})
	if _, err := f.Forwards(command.Caller{}, "getblock", false); err == nil || f.Public("getblock") {
		t.Errorf("passed on for an own login: %v; public: %v", err == nil, f.Public("getblock"))
	}
}

// The node passes transactions on for itself where own logins may send them.
func TestSends(t *testing.T) {
	send := Facts("sendrawtransaction")
	for _, m := range []Mode{Default, All, Read, None} {
		if m.Sends() != m.delegates(&send, false) {
			t.Errorf("mode %v sends: %v", m, m.Sends())
		}
	}
}

// Results are public, and may be streamed, for methods that only look, and for Core's own state. They are not public
// for methods that take secrets, change something, or are about a wallet.
func TestPublicResults(t *testing.T) {
	f := served(t)
	for method, want := range map[string]bool{
		"getrawmempool": true, "getblock": true, "decodescript": true, "getblockfilter": true, "sendrawtransaction": true,
		"deriveaddresses": false, "signmessagewithprivkey": false, "getbalance": false, "createwallet": false,
		"listwallets": false, "dumpsecrets": false,
	} {
		if f.Public(method) != want {
			t.Errorf("%s is public: %v", method, !want)
		}
	}
	shows := command.Command{
		Name: "shows", About: command.Pure, Effect: command.Reads,
		Results: []command.Result{{Type: command.String, Secret: true}},
		Run:     func(context.Context, *command.Args) (any, error) { return "", nil },
	}
	table, err := command.NewTable([]command.Command{shows})
	if err != nil {
		t.Fatal(err)
	}
	if f.Serve(table); f.Public("shows") {
		t.Error("a result that shows secrets is public")
	}
}

// While Core is known to be silent nobody waits long. A login that was never asked about gets its answer after a
// moment that Core is away; an accepted login keeps its rights.
func TestSilentCoreIsNotWaitedFor(t *testing.T) {
	core := newCoreSim(t)
	core.start(t, wide, "1")
	g := newGate(t, core, false)
	address, err := corenode.ParseAddress(core.URL, 0)
	if err != nil {
		t.Fatal(err)
	}
	g.logins.core = connect(t, corenode.Config{
		Address: address, User: "own", Password: "own", Timeout: 20 * time.Millisecond,
	})
	if g.Known(t.Context(), header("full", password("full"))) == nil {
		t.Fatal("not let in")
	}
	core.set(hung)
	_, _ = g.logins.core.BestBlock(t.Context())
	if _, silent := g.logins.core.Silent(); !silent {
		t.Fatal("Core is not known to be silent")
	}
	g.waits.ask, g.waits.judge = time.Hour, time.Hour
	g.ago += remembered
	if got := rightsOf(g.Known(t.Context(), header("full", password("full")))); got != "chsw" {
		t.Errorf("may %q", got)
	}
	if login, err := g.Ask(t.Context(), header("unheard of", "x")); login != nil || err == nil {
		t.Errorf("%v, %v", login, err)
	}
}

// A caller who leaves ends the wait for what Core says of a login.
func TestCallerLeavesTheQuestion(t *testing.T) {
	core := newCoreSim(t)
	core.start(t, wide, "1")
	g := newGate(t, core, false)
	core.set(hung)
	g.waits.judge, g.waits.ask = time.Hour, time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if login := g.Known(ctx, header("full", password("full"))); login != nil {
		t.Errorf("let in with %q", rightsOf(login))
	}
}

// A reply that is too large for a use is given up: Core stops sending.
func TestLargeRepliesAreGivenUp(t *testing.T) {
	type use struct {
		name  string
		call  func(*Forwarder)
		first int // status of the reply to a request with a login; 0: the large reply
	}
	for _, u := range []use{
		{"a secret result", func(f *Forwarder) {
			_, _ = f.Forward(context.Background(), command.Caller{}, "getbalance", nil)
		}, 0},
		{"a list of indexes", func(f *Forwarder) {
			_, _ = f.Own(context.Background(), command.Caller{}, "getindexinfo", nil, func() (any, error) {
				return jsontree.Members{}, nil
			})
		}, 0},
		{"a login", func(f *Forwarder) { _, _ = f.Logins().Ask(context.Background(), header("u", "p")) }, 0},
		{"no login", func(f *Forwarder) { _, _ = f.Logins().Ask(context.Background(), header("u", "p")) }, 403},
	} {
		t.Run(u.name, func(t *testing.T) {
			ended := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, _, any := r.BasicAuth(); any && u.first != 0 {
					w.WriteHeader(u.first)
					return
				}
				answer{http.StatusOK, `{"jsonrpc":"2.0","result":[` + strings.Repeat("1,", 100), true}.write(w)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				close(ended)
			}))
			defer server.Close()
			address, err := corenode.ParseAddress(server.URL, 0)
			if err != nil {
				t.Fatal(err)
			}
			f := New(Config{Core: connect(t, corenode.Config{Address: address, User: "own", Password: "own"})})
			f.Serve(Table(t, nil))
			u.call(f)
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				server.CloseClientConnections()
				t.Error("Core still sends")
			}
		})
	}
}
