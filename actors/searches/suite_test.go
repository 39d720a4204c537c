package searches_test

import (
	"testing"

	"github.com/seed61375155/trawl/actors/searches"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/messages"
)

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		actortest.InBubble(t)
		r := newRig(t, 3)
		r.grow(20, 0)
		pool := r.withPool()
		pool.come()
		ref := r.start()
		scripts := [][]byte{script(1), script(2)}
		q := messages.CreateSearch{Name: "kept", Objects: objects(scripts), Follow: true}
		made := do(t, ref, q)
		other := do(t, ref, messages.CreateSearch{Name: "other", Objects: objects(scripts), Stop: 10})
		a := r.reader(made.ID)
		m := messages.CreateSearch{Name: "unconfirmed", Objects: objects(scripts), Follow: true, Mempool: true}
		do(t, ref, m)
		return &actortest.Subject{
			Ref: ref, Served: searches.Requests,
			Requests: []actortest.Request{
				actortest.Sample(q), actortest.Sample(messages.ListSearches{}),
				actortest.Sample(messages.GetSearch{ID: made.ID}), actortest.Sample(
					messages.WaitSearch{ID: made.ID, Limit: 1},
				),
				actortest.Sample(messages.GetSearchScope{ID: made.ID}),
				actortest.Sample(messages.GetSearchEntries{ID: made.ID, Limit: 3}),
				actortest.Sample(messages.PauseSearch{ID: other.ID}), actortest.Sample(
					messages.ResumeSearch{ID: other.ID},
				),
				actortest.Sample(messages.AbortSearch{ID: other.ID}),
			},
			News: func() {
				r.grow(1, 1)
				pool.come()
				pool.leave()
			},
			Check: func() {
				p := a.wait(messages.SearchFollowing)
				a.holds(scripts, 0, p.Height)
			},
		}
	})
}
