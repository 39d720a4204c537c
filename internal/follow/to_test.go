package follow_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
)

// A target goes where it is told to, of any branch, and no further; then to the active tip.
func TestTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 20)
		var to atomic.Pointer[chainview.Block]
		r.cfg.To = func(reader chainview.Reader) *chainview.Block {
			if b := to.Load(); b != nil {
				return b
			}
			return reader.Active().Tip()
		}
		fork := r.chain.Active().At(10)
		stale := fork
		for range 8 {
			stale = r.chain.MineOn(stale, chaintest.Template{Version: 4})
		}
		if r.chain.Active().Contains(stale) {
			t.Fatal("the branch is active")
		}
		at := func(want *chainview.Block) {
			t.Helper()
			synctest.Wait()
			if got, ok := r.disk.Position(); !ok || got.Hash != want.Hash || r.disk.wrong != "" {
				t.Errorf("at height %d (%s), want %d", got.Height, r.disk.wrong, want.Height)
			}
		}
		to.Store(fork)
		r.start()
		at(fork)
		r.mine(3)
		at(fork)
		for _, b := range []*chainview.Block{r.chain.Active().At(15), stale, fork.Parent, stale.Parent, nil} {
			to.Store(b)
			r.ref.Tell(wake{})
			if b == nil {
				b = r.chain.Active().Tip()
			}
			at(b)
		}
	})
}

// Where the target is told to go elsewhere while a step is under way, a step that has moved
// nothing is no failure.
func TestToChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 4)
		r.disk.inActor = true
		var to atomic.Pointer[chainview.Block]
		r.cfg.To = func(chainview.Reader) *chainview.Block { return to.Load() }
		to.Store(r.chain.Active().At(2))
		r.start()
		var waits error
		r.cfg.Waits = func(err error) { waits = err }
		r.disk.advance = func(s *follow.Step) error {
			if to.Load().Height == 3 {
				to.Store(r.chain.Active().At(4))
				s.Connect = nil
			}
			return nil
		}
		to.Store(r.chain.Active().At(3))
		r.ref.Tell(wake{})
		synctest.Wait()
		if at, _ := r.disk.Position(); at.Height != 4 || waits != nil {
			t.Errorf("at height %d (%v)", at.Height, waits)
		}
	})
}

// Waits is called with the error for which the target does not go on.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 4)
		broken := errors.New("broken")
		var waits atomic.Value
		r.cfg.Waits = func(err error) { waits.Store(err) }
		r.disk.advance = func(*follow.Step) error { return broken }
		r.start()
		if err, _ := waits.Load().(error); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	})
}
