package rpc

import (
	"context"
	"net/netip"
	"sync"
	"time"
)

const (
	// loginDelay is how long a wrong login waits for its answer at least.
	loginDelay = 250 * time.Millisecond

	// guessGap lies between two comparisons that may fail, and guessBurst is how many more proven connections may
	// cause at a time: 20 in any second, together.
	guessGap   = 60 * time.Millisecond
	guessBurst = 3

	// guessPatience is how long a login waits for its turn. Then it is refused unseen.
	guessPatience = 5 * time.Second

	// knownLogins bounds how many pairs of user and address are remembered.
	knownLogins = 4096
)

// guesses slows the guessing of passwords. A login is compared when it has a turn, and turns are the server's: so many
// a second, from whatever addresses, connections and users the logins come. A right login gives its turn back at once,
// so that only wrong ones make others wait.
//
// Where logins wait, turns go around by lanes. Users who have logged in from an address before share half of them, all
// others the other half; in either half each address has the same share, and of that each user. Of a user's share at an
// address one half is for connections on which a login was wrong before, the other for all else. Beyond that nothing
// tells a user from a guesser but the password.
//
// Two logins need no turn. The cookie cannot be guessed. And a connection on which a user has logged in is that
// user's: a wrong login there ends that, and costs the next turns of all.
//
// A login that waits keeps its connection open, and the server cannot see that the client has hung up before it has
// read the whole request. So at most limit logins wait, and at most perPeer from one address. One more login ends the
// wait of the oldest in the fullest lane.
type guesses struct {
	limit, perPeer int // 0: no limit

	mu    sync.Mutex
	next  time.Time // no turn begins before
	lanes [2]lane   // of users known at their address, and of all others
	half  int       // whose turn it is
	timer *time.Timer
	known map[knownLogin]bool
}

type knownLogin struct {
	user string
	from netip.Prefix
}

// A turn is a place in time for one comparison that may fail.
type turn time.Time

// enter waits for a turn of a login that came on a connection, nil in tests without one. It is false where none came in
// time, too many wait, or ctx or stopped has ended.
func (g *guesses) enter(
	ctx, stopped context.Context, user string, from netip.Prefix, on *conn,
) (t turn, ok bool) {
	w := g.queue(user, from, on.hasFailed())
	select {
	case t, ok := <-w.turn:
		return t, ok
	default:
	}
	if on.hold() {
		defer on.release()
	}
	patience := time.NewTimer(guessPatience)
	defer patience.Stop()
	select {
	case t, ok := <-w.turn:
		return t, ok
	case <-patience.C:
	case <-ctx.Done():
	case <-stopped.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.in != nil {
		w.leave()
	} else if late, ok := <-w.turn; ok { // its turn has just come: the next one's, then
		g.giveBack(late)
	}
	return t, false
}

// queue has a login wait for its turn.
func (g *guesses) queue(user string, from netip.Prefix, failed bool) *waiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	half := &g.lanes[1]
	if g.known[knownLogin{user, from}] {
		half = &g.lanes[0]
	}
	w := &waiter{turn: make(chan turn, 1)}
	tried := "fresh"
	if failed {
		tried = "failed"
	}
	peer := half.lane(from.String())
	peer.lane(user).lane(tried).add(w)
	g.dispatch()
	switch all := g.lanes[0].size + g.lanes[1].size; {
	case g.limit > 0 && all > g.limit:
		g.fuller().putOut()
	case g.perPeer > 0 && peer.size > g.perPeer && from.IsValid() && !from.Addr().IsLoopback():
		peer.putOut()
	}
	return w
}

// fuller returns the half in which more wait.
func (g *guesses) fuller() *lane {
	if g.lanes[0].size > g.lanes[1].size {
		return &g.lanes[0]
	}
	return &g.lanes[1]
}

// dispatch gives the next turn away if its time has come. The lock is held.
func (g *guesses) dispatch() {
	wait := time.Until(g.next)
	if wait <= 0 {
		w := g.pick()
		if w == nil {
			return
		}
		g.next = time.Now().Add(guessGap)
		wait = guessGap
		w.turn <- turn(g.next)
	}
	if !g.lanes[0].empty() || !g.lanes[1].empty() {
		g.wakeIn(wait)
	}
}

func (g *guesses) pick() *waiter {
	for range g.lanes {
		g.half = 1 - g.half
		if w := g.lanes[g.half].pick(); w != nil {
			return w
		}
	}
	return nil
}

func (g *guesses) wakeIn(wait time.Duration) {
	if g.timer != nil {
		g.timer.Reset(wait)
		return
	}
	g.timer = time.AfterFunc(wait, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.dispatch()
	})
}

// giveBack has the next login take a turn in which nothing failed. The lock is held.
func (g *guesses) giveBack(t turn) {
	if g.next.Equal(time.Time(t)) {
		g.next = g.next.Add(-guessGap)
	}
	g.dispatch()
}

// right gives a turn back after a right login, and remembers the user and the network that the login came from.
func (g *guesses) right(t turn, user string, from netip.Prefix) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.giveBack(t)
	login := knownLogin{user, from}
	if g.known[login] {
		return
	}
	if g.known == nil || len(g.known) >= knownLogins {
		g.known = map[knownLogin]bool{}
	}
	g.known[login] = true
}

// allowProven reports whether a proven connection may have a login compared without a turn.
func (g *guesses) allowProven() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Until(g.next) <= guessBurst*guessGap
}

// pay takes a turn afterwards, for a comparison that failed without one.
func (g *guesses) pay() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if g.next.Before(now) {
		g.next = now
	}
	g.next = g.next.Add(guessGap)
}
