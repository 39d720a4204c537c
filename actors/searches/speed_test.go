package searches_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// While a search runs its speed and the time that is left are reported.
func TestSpeedIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		r := newRig(t, 30)
		const blocks = 1200
		r.grow(blocks, 0)
		do(t, r.indexer, messages.WaitIndexed{Block: r.chain.Active().Tip().Hash})
		r.workers, r.way = 1, match.WayFilters
		r.source = func(s match.Source) match.Source { return &turns{Source: s, each: time.Millisecond} }
		r.start()
		began := time.Now()
		scripts := make([][]byte, 20_000) // with so many a round is of some blocks
		for i := range scripts {
			scripts[i] = script(900 + i)
		}
		id := do(t, r.ref, messages.CreateSearch{Objects: objects(scripts), Stop: -1}).ID
		var states []messages.SearchState
		timed := 0
		for state := messages.SearchQueued; state != messages.SearchDone; time.Sleep(10 * time.Millisecond) {
			st := do(t, r.ref, messages.GetSearch{ID: id})
			if state = st.State; !slices.Contains(states, state) {
				states = append(states, state)
			}
			if st.Rate == 0 {
				continue
			}
			timed++
			if all := st.Left + time.Since(began); all < time.Second || all > 2*time.Second || st.Rate > 1100 {
				t.Errorf("at height %d: %v blocks a second, %v left", st.Height, st.Rate, st.Left)
			}
		}
		want := []messages.SearchState{messages.SearchRunning, messages.SearchDone}
		if !slices.Equal(states, want) || timed < 5 {
			t.Errorf("it was %v, its speed reported %d times", states, timed)
		}
	})
}
