package follow_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
)

var errBroken = errors.New("broken")

// Through forks, kills, errors, damage and steps that are taken in part a target takes
// the blocks in their order, and gets to the tip.
func TestFollows(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			r := newRig(t, rnd.IntN(20))
			r.disk.inActor = seed%2 == 0
			calm := false
			r.disk.advance = func(s *follow.Step) error {
				if calm {
					return nil
				}
				s.Connect = s.Connect[:min(len(s.Connect), 1+rnd.IntN(8))]
				switch rnd.IntN(12) {
				case 0:
					s.Disconnect, s.Connect = nil, nil
					return chainview.ErrNotYet
				case 1: // after some blocks
					return errBroken
				case 2:
					return follow.ErrDamaged
				case 3:
					return fmt.Errorf("read: %w", chainview.ErrClosed)
				}
				return nil
			}
			r.start()
			for range 60 {
				switch rnd.IntN(5) {
				case 0: // a branch that may win
					tip := r.chain.Active().Tip()
					at := tip.Ancestor(max(0, tip.Height-int32(rnd.IntN(9))))
					for range 1 + rnd.IntN(12) {
						at = r.chain.MineOn(at, chaintest.Template{})
					}
					r.publish()
				case 1:
					r.stop()
					r.start()
				default:
					r.mine(1 + rnd.IntN(4))
				}
			}
			calm = true
			r.publish()
			if err := <-r.wait(); err != nil {
				t.Error(seed, err)
			}
			r.disk.check(t, r.chain)
			if status := r.status(); !status.Synced || status.Err != nil || status.Hash != r.chain.Active().Tip().Hash {
				t.Errorf("seed %d: status %+v", seed, status)
			}
		})
	}
}

// While the chain is away nothing is tried; its next tip brings the follower on.
func TestChainAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3)
		attempts := 0
		r.disk.advance = func(s *follow.Step) error {
			s.Connect = nil
			attempts++
			return fmt.Errorf("read: %w", chainview.ErrClosed)
		}
		r.start()
		waitRetry()
		if status := r.status(); attempts != 1 || status.Err != nil {
			t.Errorf("%d attempts, status %+v", attempts, status)
		}
		r.disk.advance = nil
		r.publish()
		r.disk.check(t, r.chain)
	})
	t.Run("before it was opened", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 3)
			r.cfg.Chain = new(chainview.Current)
			r.start()
			waits := r.wait()
			if err, ok := got(waits); ok {
				t.Error("answered", err)
			}
			r.cfg.Chain.Set(r.chain)
			r.publish()
			if err, ok := got(waits); !ok || err != nil {
				t.Error(err, ok)
			}
		})
	})
	t.Run("and back during a step", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 3)
			var once sync.Once
			r.disk.advance = func(s *follow.Step) (err error) {
				once.Do(func() {
					s.Connect, err = nil, chainview.ErrClosed
					r.publishOnly()
					_, _ = ask.Ask(t.Context(), r.ref, getStatus{}) // the actor has heard of it
				})
				return err
			}
			r.chain.MineN(1)
			ready := make(chan struct{})
			inner := r.disk.advance
			r.disk.advance = func(s *follow.Step) error { <-ready; return inner(s) }
			r.start()
			close(ready)
			synctest.Wait()
			r.disk.check(t, r.chain)
		})
	})
}

// publishOnly announces the tip, and waits for nothing.
func (r *rig) publishOnly() { r.cfg.Tip.Publish(tipOf(r.chain)) }

// A block that is not here yet is waited for.
func TestNotYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 8)
		var there atomic.Bool
		r.disk.advance = func(s *follow.Step) error {
			if there.Load() || s.Connect[len(s.Connect)-1].Height < 6 {
				return nil
			}
			s.Connect = nil
			return fmt.Errorf("block 6: %w", chainview.ErrNotYet)
		}
		r.start()
		waits := r.wait()
		if status := r.status(); status.Height != 4 || status.Synced || !errors.Is(status.Err, chainview.ErrNotYet) {
			t.Errorf("status %+v", status)
		}
		if err, ok := got(waits); ok {
			t.Error("waiting callers get", err)
		}
		there.Store(true)
		if err := <-waits; err != nil { // after Retry
			t.Error(err)
		}
		r.disk.check(t, r.chain)
	})
}

// Waits end with an error that cannot be mended; the follower tries again.
func TestFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3)
		r.start()
		var mended atomic.Bool
		r.disk.advance = func(s *follow.Step) error {
			if !mended.Load() {
				s.Connect = s.Connect[:1] // one is taken, then it fails
				return errBroken
			}
			return nil
		}
		r.mine(3)
		if status := r.status(); status.Height != 4 || !errors.Is(status.Err, errBroken) || !status.Synced {
			t.Errorf("status %+v", status)
		}
		if err := <-r.wait(); !errors.Is(err, errBroken) { // tried again
			t.Error(err)
		}
		if status := r.status(); status.Height != 5 {
			t.Errorf("status %+v", status)
		}
		mended.Store(true)
		waitRetry()
		r.disk.check(t, r.chain)
		if status := r.status(); status.Err != nil {
			t.Errorf("status %+v", status)
		}
	})
	t.Run("for good", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 3)
			notified := make(chan error, 9)
			r.cfg.Failed = func(err error) { notified <- err }
			ready := make(chan struct{})
			r.disk.advance = func(s *follow.Step) error { <-ready; s.Connect = nil; return errBroken }
			r.start()
			waits := r.wait()
			close(ready)
			if err := <-waits; !errors.Is(err, errBroken) {
				t.Error(err)
			}
			if err := <-notified; !errors.Is(err, errBroken) {
				t.Error(err)
			}
			<-r.ref.Done()
			waitRetry()
			if err, ok := got(notified); ok {
				t.Error("tried again", err)
			}
		})
	})
	t.Run("nothing taken", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 3)
			steps := 0
			r.disk.advance = func(s *follow.Step) error { s.Connect = nil; steps++; return nil }
			r.start()
			if status := r.status(); status.Err == nil || steps != 1 {
				t.Errorf("status %+v after %d steps", status, steps)
			}
		})
	})
}

// A panic of a step is overcome by the next instance of the actor.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 12)
		var once sync.Once
		r.disk.advance = func(s *follow.Step) error {
			if s.Connect[0].Height >= 5 {
				once.Do(func() { panic("boom") })
			}
			return nil
		}
		r.start()
		r.publish()
		r.disk.check(t, r.chain)
	})
}

// A follower that stops ends its step, and leaves nothing behind.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 12)
		held := make(chan struct{})
		r.disk.advance = func(*follow.Step) error { <-held; return nil }
		r.start()
		waits := r.wait()
		stopped := make(chan error, 1)
		go func() { stopped <- r.ref.Stop(t.Context()) }()
		synctest.Wait()
		if err, ok := got(stopped); ok {
			t.Error("stopped before its worker", err)
		}
		close(held)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if err := <-waits; !errors.Is(err, ask.ErrStopped) {
			t.Error(err)
		}
		r.disk.advance = nil
		r.mine(1)
		if n := len(r.disk.blocks); n != 5 {
			t.Errorf("%d blocks after the stop, want the 5 of the step", n)
		}
	})
}

// A paused follower begins nothing until it is woken.
func TestPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 12)
		paused := true
		r.cfg.Paused = func() bool { return paused }
		r.start()
		waits := r.wait()
		r.mine(1)
		if status := r.status(); status.Started {
			t.Errorf("status %+v", status)
		}
		paused = false
		r.ref.Tell(wake{})
		if err := <-waits; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		r.disk.check(t, r.chain)
	})
}

// A target that was in step with the chain is called so while it takes in a few blocks,
// and not while it takes in very many.
func TestFarBehind(t *testing.T) {
	for blocks, want := range map[int]bool{1000: true, 1001: false} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 1)
			r.start()
			if !r.status().Synced {
				t.Fatal("not in step at the beginning")
			}
			var wait atomic.Bool
			wait.Store(true)
			r.disk.advance = func(s *follow.Step) error {
				if !wait.Load() {
					return nil
				}
				s.Connect = nil
				return chainview.ErrNotYet
			}
			r.mine(blocks)
			if s := r.status(); s.Synced != want {
				t.Errorf("%d blocks behind it is in step: %t", blocks, s.Synced)
			}
			wait.Store(false)
			time.Sleep(2 * retryAfter)
			synctest.Wait()
			if s := r.status(); !s.Synced || s.Height != int32(blocks)+1 {
				t.Errorf("at the end: %+v", s)
			}
			r.stop()
		})
	}
}
