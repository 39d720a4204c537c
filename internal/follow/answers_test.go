package follow_test

import (
	"testing"
	"testing/synctest"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/follow"
)

// A wait for a block that leaves the chain ends when the target has disconnected the block.
func TestWaitingForABlockThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 4)
		held, left := make(chan struct{}), r.chain.Active().Tip()
		r.disk.advance = func(s *follow.Step) error {
			<-held
			if s.Chain.Contains(left) { // the one waited for is not taken in before it leaves
				s.Connect = s.Connect[:3]
			}
			return nil
		}
		r.start()
		waits := make(chan int32, 1) // the height at which a wait for block 4 ends
		r.ref.Tell(func(o *owner, c actor.Context) {
			o.f.When(c, nil, func(error) { waits <- o.f.Status().Height })
		})
		synctest.Wait()
		at := r.chain.Active().At(2)
		for range 5 {
			at = r.chain.MineOn(at, chaintest.Template{Script: []byte{1}})
		}
		r.publish()
		if at, ok := got(waits); ok {
			t.Error("answered at height", at)
		}
		close(held)
		if at := <-waits; at != r.chain.Active().Height() {
			t.Error("answered at height", at)
		}
		synctest.Wait()
		r.disk.check(t, r.chain)
	})
}

// A wait for a tip below the target ends when the blocks above it are disconnected.
func TestWaitingForALowerTip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 8)
		r.start()
		held := make(chan struct{})
		r.disk.advance = func(*follow.Step) error { <-held; return nil }
		r.chain.SetActive(r.chain.Active().At(3))
		r.publish()
		waits := r.wait()
		if err, ok := got(waits); ok {
			t.Error("answered", err)
		}
		close(held)
		if err := <-waits; err != nil {
			t.Error(err)
		}
		r.disk.check(t, r.chain)
	})
}

// Reached is called before the callbacks of those waiting for the tip.
func TestReachedBeforeTheAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 8)
		var reached, synced int
		r.cfg.Reached = func(actor.Context) { reached++ }
		r.cfg.Synced = func(actor.Context) { synced++ }
		held := make(chan struct{})
		r.disk.advance = func(*follow.Step) error { <-held; return nil }
		r.start()
		answered := make(chan int, 1)
		r.ref.Tell(func(o *owner, c actor.Context) {
			o.f.When(c, nil, func(error) { answered <- reached })
		})
		close(held)
		if n := <-answered; n != 1 {
			t.Errorf("called back when the tip was reached %d times", n)
		}
		r.mine(1)
		if reached != 2 || synced != 1 {
			t.Errorf("reached %d times, synced %d times", reached, synced)
		}
	})
}

// A wait for a block that a step took before it failed succeeds.
func TestTakenBeforeTheFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3)
		held := make(chan struct{})
		r.disk.advance = func(*follow.Step) error { <-held; return errBroken }
		moved := 0
		r.cfg.Moved = func(actor.Context) { moved++ }
		r.start()
		waits := r.wait()
		close(held)
		if err := <-waits; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if moved != 1 {
			t.Errorf("moved %d times", moved)
		}
	})
}

// A callback may pause the follower: no step begins then.
func TestPausedByAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3)
		paused := false
		r.cfg.Paused = func() bool { return paused }
		held := make(chan struct{})
		r.disk.advance = func(*follow.Step) error { <-held; return nil }
		r.start()
		r.ref.Tell(func(o *owner, c actor.Context) {
			o.f.When(c, nil, func(error) { paused = true })
		})
		synctest.Wait()
		r.mine(9) // while the step to the third block runs
		close(held)
		synctest.Wait()
		if status := r.status(); status.Height != 3 {
			t.Errorf("at height %d", status.Height)
		}
	})
}
