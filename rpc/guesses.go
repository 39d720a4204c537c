package rpc

import (
	"maps"
	"net/netip"
	"sync"
	"time"
)

const (
	// loginDelay is how long a wrong login waits for its answer at least.
	loginDelay = 250 * time.Millisecond

	// guessEvery is the pace at which wrong logins of one address are answered.
	guessEvery = 50 * time.Millisecond

	// guessQueue is how long a wrong login may have to wait for that. Beyond it
	// an address gets no answer from which anything could be learned.
	guessQueue = 5 * time.Second

	// knownLogins bounds how many pairs of user and address are remembered.
	knownLogins = 4096
)

// guesses slows the guessing of passwords: the wrong logins of an address, or of
// an IPv6 network that one machine may have for itself, are answered one after
// the other, however many connections they come on. What a guesser can tell from
// the time that an answer takes counts as an answer too, so that a wrong login
// takes its turn although nobody waits for it any more, and nothing is compared
// for an address whose queue is full. Users who have logged in from there before
// are let in all the same, and so is whoever has the cookie, which cannot be
// guessed.
type guesses struct {
	mu    sync.Mutex
	last  map[netip.Prefix]time.Time // when the last one in the queue is answered
	prune int                        // size of last at which the past is forgotten
	known map[knownLogin]bool
}

type knownLogin struct {
	user string
	from netip.Prefix
}

// enter queues a wrong login. It returns how long its answer has to wait; full
// says that the queue is as long as it may be.
func (g *guesses) enter(from netip.Prefix) (wait time.Duration, full bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if g.fullAt(from, now) {
		return 0, true
	}
	turn := now.Add(loginDelay)
	if next := g.last[from].Add(guessEvery); next.After(turn) {
		turn = next
	}
	if g.last == nil || len(g.last) >= g.prune {
		kept := map[netip.Prefix]time.Time{}
		maps.Copy(kept, g.last)
		maps.DeleteFunc(kept, func(_ netip.Prefix, last time.Time) bool { return last.Before(now) })
		g.last, g.prune = kept, 2*len(kept)+64
	}
	g.last[from] = turn
	return turn.Sub(now), false
}

// full reports whether a login from there may not be looked at now.
func (g *guesses) full(from netip.Prefix) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fullAt(from, time.Now())
}

func (g *guesses) fullAt(from netip.Prefix, now time.Time) bool {
	return g.last[from].Sub(now) >= guessQueue
}

// remember notes that a user has logged in.
func (g *guesses) remember(user string, from netip.Prefix) {
	g.mu.Lock()
	defer g.mu.Unlock()
	login := knownLogin{user, from}
	if g.known[login] {
		return
	}
	if g.known == nil || len(g.known) >= knownLogins {
		g.known = map[knownLogin]bool{}
	}
	g.known[login] = true
}

// trusts reports whether the user has logged in from there before.
func (g *guesses) trusts(user string, from netip.Prefix) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known[knownLogin{user, from}]
}
