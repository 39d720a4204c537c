package match_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
)

// A scheduler of Apart has at most its own number of workers for all its passes together,
// and both schedulers count its work.
func TestApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for workers, want := range []int32{0, 1, 2, 3, 4, 4} {
			if workers == 0 {
				continue
			}
			s := &slowSource{each: time.Millisecond}
			whole := s.scheduler(4)
			apart := whole.Apart(workers)
			var group sync.WaitGroup
			for range 3 {
				pass := apart.NewPass(match.Config{
					Query: filters.NewQuery([][]byte{{1}}), Stop: &chainview.Block{Height: 1999, Hash: hashAt(1999)},
				})
				group.Go(func() {
					if err := apart.Run(t.Context(), pass); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			if got := s.most.Load(); got != want {
				t.Errorf("%d workers at a time of %d, want %d", got, workers, want)
			}
			if got := whole.Stats(); got.Passes != 3 || got.Filters != 6000 || got != apart.Stats() {
				t.Errorf("counted are %+v, and %+v apart", got, apart.Stats())
			}
		}
	})
}
