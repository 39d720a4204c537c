package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/rpc/command"
)

// A gate is the part of a server that judges logins, with a log.
type gate struct {
	*Server
	log  safeBuffer
	stop context.CancelFunc
}

func newGate(t *testing.T, elsewhere Logins, users ...string) *gate {
	t.Helper()
	g := &gate{}
	ctx, stop := context.WithCancel(t.Context())
	g.stop = stop
	g.Server = &Server{
		log: slog.New(slog.NewTextHandler(&g.log, nil)), ctx: ctx, elsewhere: elsewhere, observer: nobody{},
		cookie: &cookie{password: "crumbs"},
	}
	all := &accounts{}
	for _, user := range users {
		all.credentials = append(all.credentials, rpcauth.New(user, "right"))
	}
	g.accounts.Store(all)
	return g
}

// ask has a login judged that comes from an address, on a connection if there is one.
func (g *gate) ask(from string, on *conn, user, password string) (who command.Caller, status int) {
	ctx := g.ctx
	if on != nil {
		ctx = context.WithValue(ctx, connKey{}, on)
	}
	r := (&http.Request{RemoteAddr: from}).WithContext(ctx)
	whole := func() string { return basic(user + ":" + password) }
	who, refused := g.judge(r, &claim{user: user, password: []byte(password), header: whole})
	if refused != nil {
		return who, refused.status
	}
	return who, http.StatusOK
}

// connFrom returns a quiet connection from an address.
func connFrom(ip string) *conn { return newConns(1).add(&distant{from: ip + ":1"}) }

// core is another node that knows one login, and notes each comparison.
type core struct {
	mu       sync.Mutex
	compared []time.Time
	asked    int
}

func (c *core) Known(_ context.Context, header string) command.Login {
	if header == basic("core:right") {
		return coreUser{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compared = append(c.compared, time.Now())
	return nil
}

func (c *core) Ask(context.Context, string) (command.Login, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return nil, nil //nolint:nilnil // wrong
}

type coreUser struct{}

func (coreUser) Limited() bool      { return false }
func (coreUser) Any() bool          { return true }
func (coreUser) Allows(string) bool { return true }

// Of guesses from any mix of addresses, connections, users and doors no more than 20 are compared in any second; each
// that was is in the log. Right logins are let in soon meanwhile, each in its own way.
func TestGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := &core{}
		g := newGate(t, other, "alice", "bob")
		const home, cafe = "192.0.2.1:1", "198.51.100.1:1"
		mine := connFrom("192.0.2.1")
		for _, known := range []struct {
			on   *conn
			user string
		}{{mine, "alice"}, {nil, "alice"}, {nil, "core"}} {
			if _, status := g.ask(home, known.on, known.user, "right"); status != http.StatusOK {
				t.Fatal(known, status)
			}
		}
		var attack sync.WaitGroup
		guess := func(n int, from, user string, on func(i int) *conn) {
			for i := range n {
				c := on(i)
				attack.Go(func() {
					for g.ctx.Err() == nil {
						if _, status := g.ask(from, c, user, "wrong"); status == http.StatusOK {
							t.Error("a guess is let in")
						}
					}
				})
			}
		}
		none := func(int) *conn { return nil } // a new one for each guess
		keep := func(int) *conn { return connFrom("192.0.2.1") }
		guess(130, home, "nobody", none)
		guess(60, home, "alice", keep)
		guess(20, home, "bob", keep)
		guess(60, home, "core", keep)
		for _, user := range []string{"bob", "nobody"} { // by the form of the page
			for range 20 {
				attack.Go(func() {
					for g.ctx.Err() == nil {
						r := (&http.Request{RemoteAddr: home}).WithContext(g.ctx)
						if _, status := (&Door{g.Server}).Login(r, user, []byte("wrong")); status == 0 {
							t.Error("the form lets a guess in")
						}
					}
				})
			}
		}
		guess(1, home, "alice", none)
		guess(3, home, "alice", func(int) *conn { // connections on which alice has logged in
			c := connFrom("192.0.2.1")
			_, _ = g.ask(home, c, "alice", "right")
			return c
		})
		for i := range 20 {
			guess(1, fmt.Sprintf("203.0.113.%d:1", i), fmt.Sprintf("user%d", i%3), none)
		}
		for _, honest := range []struct {
			what, from string
			on         *conn
			user       string
			after      time.Duration
			within     time.Duration
			least      int // of ten
		}{
			{"with the cookie", home, nil, cookieUser, 3 * time.Second, 0, 10},
			{"on a connection where the user has logged in", home, mine, "alice", 0, 0, 10},
			// By then each kept connection has failed once.
			{"from where the user has logged in before", home, nil, "alice", time.Minute, 4 * time.Second, 9},
			{"the same, of another node", home, nil, "core", 0, 4 * time.Second, 9},
			{"from a new address", cafe, nil, "bob", 0, 4 * time.Second, 10},
		} {
			time.Sleep(honest.after)
			in := 0
			for range 10 {
				began, password := time.Now(), "right"
				if honest.user == cookieUser {
					password = "crumbs"
				}
				_, status := g.ask(honest.from, honest.on, honest.user, password)
				if status == http.StatusOK && time.Since(began) <= honest.within {
					in++
				}
			}
			if in < honest.least {
				t.Errorf("%s: in time %d of 10", honest.what, in)
			}
		}
		g.stop()
		attack.Wait()
		if len(other.compared) < 100 {
			t.Errorf("%d guesses were compared: more wait", len(other.compared))
		}
		slices.SortFunc(other.compared, time.Time.Compare)
		for i, at := range other.compared {
			if i >= 20 && at.Sub(other.compared[i-20]) < time.Second {
				t.Fatalf("21 guesses are compared within %v", at.Sub(other.compared[i-20]))
			}
		}
		if n := strings.Count(g.log.String(), "incorrect password attempt from "); n != other.asked || n == 0 {
			t.Errorf("%d wrong logins in the log, of %d", n, other.asked)
		}
	})
}

// Without an attack nobody waits, however many log in at a time; a wrong login takes a quarter of a second.
func TestNoGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, nil, "u")
		began := time.Now()
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				who, status := g.ask(fmt.Sprintf("192.0.2.%d:1", i%7), nil, "u", "right")
				if who.User != "u" || status != http.StatusOK {
					t.Error(who, status)
				}
			})
		}
		all.Wait()
		if time.Since(began) > 0 {
			t.Errorf("they have waited %v", time.Since(began))
		}
		for _, wrong := range [][2]string{{"u", "wrong"}, {"", ""}, {"nobody", "right"}, {cookieUser, "right"}} {
			time.Sleep(time.Second)
			began = time.Now()
			if _, status := g.ask("192.0.2.1:1", nil, wrong[0], wrong[1]); status != http.StatusUnauthorized ||
				time.Since(began) != loginDelay {
				t.Error(wrong, status, time.Since(began))
			}
		}
	})
}

// A guesser with a connection of its own pays like everybody: right logins there, between the guesses, buy no guess.
func TestGuessesOnProvenConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, nil, "u")
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				c := connFrom("192.0.2.1")
				for g.ctx.Err() == nil {
					_, _ = g.ask("192.0.2.1:1", c, "u", "right")
					_, _ = g.ask("192.0.2.1:1", c, "u", "wrong")
				}
			})
		}
		time.Sleep(20 * time.Second)
		n := strings.Count(g.log.String(), "incorrect password")
		g.stop()
		all.Wait()
		if n < 100 || n > 20*20 {
			t.Errorf("%d guesses are compared in 20 s", n)
		}
	})
}

// The memory of logins has an end: of addresses, of users, and of logins that no longer wait.
func TestGuessesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, nil)
		var all sync.WaitGroup
		for i := range 2000 {
			from := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}).String() + ":1"
			all.Go(func() { _, _ = g.ask(from, nil, fmt.Sprint("user", i), "wrong") })
		}
		all.Wait()
		for i := range g.guesses.lanes {
			if l := &g.guesses.lanes[i]; !l.empty() || len(l.below) > 0 {
				t.Errorf("%d addresses still wait", len(l.below))
			}
		}
		if text := g.log.String(); strings.Count(text, "refused unseen") != 1 {
			t.Errorf("logged\n%.2000s", text)
		}
		for n := range 3 * knownLogins {
			g.guesses.right(turn{}, strconv.Itoa(n), netip.Prefix{})
		}
		if len(g.guesses.known) > knownLogins {
			t.Errorf("%d logins are remembered", len(g.guesses.known))
		}
	})
}

// No more logins wait than may. The next login puts out the oldest login of the fullest lane, so that others keep
// their turns. A connection is not closed for a new connection while its login waits, but may be afterwards.
func TestFewWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, nil, "alice")
		g.guesses.limit, g.guesses.perPeer = 20, 12
		began := time.Now()
		type outcome struct {
			status int
			after  time.Duration
		}
		var mu sync.Mutex
		got := map[string][]outcome{}
		var all sync.WaitGroup
		ask := func(from, user, password string, on *conn) {
			all.Go(func() {
				_, status := g.ask(from, on, user, password)
				mu.Lock()
				defer mu.Unlock()
				got[from] = append(got[from], outcome{status, time.Since(began)})
			})
			synctest.Wait()
		}
		const guesser, far, home = "127.0.0.1:1", "192.0.2.1:1", "198.51.100.1:1"
		ask(guesser, "nobody", "wrong", nil) // takes the first turn
		own := newConns(1)
		waits := own.add(&distant{from: home})
		ask(home, "alice", "right", waits)
		if own.add(&distant{from: home}) != nil {
			t.Error("a connection whose login waits is closed")
		}
		for range 14 {
			ask(far, "nobody", "wrong", nil)
		}
		if len(got[far]) != 2 || got[far][0] != (outcome{tooManyGuesses.status, 0}) {
			t.Errorf("of one address: %v", got[far])
		}
		for range 30 {
			ask(guesser, "nobody", "wrong", nil)
		}
		g.guesses.mu.Lock()
		if n := g.guesses.lanes[0].size + g.guesses.lanes[1].size; n != 20 {
			t.Errorf("%d logins wait", n)
		}
		g.guesses.mu.Unlock()
		all.Wait()
		if len(got[home]) != 1 || got[home][0].status != http.StatusOK || got[home][0].after > 2*guessGap {
			t.Errorf("a right login: %v", got[home])
		}
		if own.add(&distant{from: home}) == nil {
			t.Error("the connection is not quiet after its login has waited")
		}
		atOnce := slices.DeleteFunc(append(got[far], got[guesser]...), func(o outcome) bool { return o.after > 0 })
		if len(atOnce) != 25 {
			t.Errorf("%d of 45 are put out, want 25", len(atOnce))
		}
	})
}

// Where the other node cannot judge a login, nobody is told that it is wrong.
func TestNobodyCanJudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, away{})
		if _, status := g.ask("192.0.2.1:1", nil, "core", "right"); status != http.StatusServiceUnavailable {
			t.Error(status)
		}
		if text := g.log.String(); strings.Contains(text, "incorrect") {
			t.Error(text)
		}
	})
}

type away struct{}

func (away) Known(context.Context, string) command.Login { return nil }

func (away) Ask(context.Context, string) (command.Login, error) {
	return nil, errors.New("away")
}

// A header that holds no login is wrong also where a user has no name, or no password.
func TestNoLoginInHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, nil)
		g.accounts.Store(&accounts{credentials: []rpcauth.Credential{rpcauth.New("u", ""), rpcauth.New("", "")}})
		for header, want := range map[string]int{
			basic("u:"): 0, basic(":"): 0,
			basic("u"): 401, "Bearer x": 401, "Basic ": 401, "Basic %": 401, "basic " + basic("u:")[6:]: 401, "": 401,
		} {
			r := (&http.Request{Header: http.Header{"Authorization": {header}}}).WithContext(g.ctx)
			status := 0
			if _, refused := authorize(g.Server, r); refused != nil {
				status = refused.status
			}
			if status != want {
				t.Errorf("%q: %d, want %d", header, status, want)
			}
		}
	})
}

// A visitor of the page stays logged in when the other node's logins are forgotten, if that still has the login.
func TestForgottenVisitor(t *testing.T) {
	for _, has := range []bool{true, false} {
		g := newGate(t, forgetful{has})
		v := &Visitor{server: g.Server, header: basic("core:right")}
		if v.LoggedIn(g.ctx) != has {
			t.Errorf("logged in is not %v", has)
		}
	}
}

// A forgetful node has to be asked each time.
type forgetful struct{ has bool }

func (forgetful) Known(context.Context, string) command.Login { return nil }

func (f forgetful) Ask(context.Context, string) (command.Login, error) {
	if f.has {
		return coreUser{}, nil
	}
	return nil, nil //nolint:nilnil // wrong
}
