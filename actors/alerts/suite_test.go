package alerts_test

import (
	"testing"

	"github.com/seed61375155/trawl/actors/alerts"
	"github.com/seed61375155/trawl/internal/actortest"
)

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		r := newRig(t)
		return &actortest.Subject{
			Ref: r.ref, Served: alerts.Requests, News: func() { r.mine(300, unknown) },
			Check: func() {
				r.mine(500, unknown)
				if got := r.warnings(); len(got) != 1 || got[0] != warning {
					t.Errorf("got %q", got)
				}
			},
		}
	})
}
