package rpc

import (
	"net/netip"
	"testing"
	"time"
)

// Where too many logins wait, the oldest of the half in which more wait is put out, be it that of known users.
func TestFullerHalf(t *testing.T) {
	for _, known := range []bool{true, false} {
		g := &guesses{limit: 2, next: time.Now().Add(time.Hour), known: map[knownLogin]bool{}}
		many, few := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("198.51.100.1/32")
		g.known[knownLogin{"user", many}], g.known[knownLogin{"user", few}] = known, !known
		waiters := []*waiter{
			g.queue("user", many, false), g.queue("user", many, false), g.queue("user", few, false),
		}
		g.timer.Stop()
		for i, w := range waiters {
			select {
			case _, ok := <-w.turn:
				if ok || i != 0 {
					t.Errorf("known %v: login %d does not wait", known, i)
				}
			default:
				if i == 0 {
					t.Errorf("known %v: the oldest login still waits", known)
				}
			}
		}
	}
}
