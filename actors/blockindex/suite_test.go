package blockindex_test

import (
	"testing"

	"github.com/seed61375155/trawl/actors/blockindex"
	"github.com/seed61375155/trawl/internal/actortest"
)

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		r := newRig(t, &memory{}, 1500)
		follow := func() {
			r.chain.MineN(1)
			r.publish()
		}
		return &actortest.Subject{
			Ref: r.ref, Served: blockindex.Requests, News: follow,
			Check: func() {
				follow()
				if status := r.settle(t); !status.Synced {
					t.Errorf("status %+v", status)
				}
				r.index.check(t, r.chain)
			},
		}
	})
}
