package follow_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/messages"
)

func tipOf(chain *chaintest.Chain) messages.TipChanged {
	tip := chain.Active().Tip()
	return messages.TipChanged{Hash: tip.Hash, Height: tip.Height}
}

// waitRetry lets the time until the next attempt pass.
func waitRetry() {
	time.Sleep(retryAfter + time.Second) // of the bubble's time
	synctest.Wait()
}

var errTorn = fmt.Errorf("table: %w", follow.ErrDamaged)

// A damaged target is reset and built again, whether a step or another part finds the damage.
// Waits end with the error, and the target is not synced until it is at the tip again.
func TestDamage(t *testing.T) {
	t.Run("found by a step", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 3)
			r.start()
			damages := 1
			held := make(chan struct{})
			r.disk.advance = func(*follow.Step) error {
				if <-held; damages > 0 {
					damages--
					return errTorn
				}
				return nil
			}
			r.mine(2)
			waits := r.wait()
			close(held)
			if err := <-waits; !errors.Is(err, follow.ErrDamaged) {
				t.Error(err)
			}
			if err := <-r.wait(); err != nil {
				t.Error(err)
			}
			r.disk.check(t, r.chain)
			if len(r.disk.resets) != 1 || !errors.Is(r.disk.resets[0], follow.ErrDamaged) {
				t.Error(r.disk.resets)
			}
			damages = 1 // at the tip it is as good as new
			r.mine(1)
			r.disk.check(t, r.chain)
		})
	})
	t.Run("found by a reader", func(t *testing.T) {
		for _, busy := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 3)
				r.start()
				held := make(chan struct{})
				r.disk.advance = func(*follow.Step) error { <-held; return nil }
				if busy {
					r.mine(1)
				}
				r.ref.Tell(damaged{errTorn})
				r.ref.Tell(damaged{errTorn})
				synctest.Wait()
				if status := r.status(); status.Started || status.Synced {
					t.Errorf("status %+v", status)
				}
				close(held)
				synctest.Wait()
				r.disk.check(t, r.chain)
				if len(r.disk.resets) != 1 {
					t.Error(r.disk.resets)
				}
				if status := r.status(); !status.Synced {
					t.Errorf("status %+v", status)
				}
			})
		}
	})
	t.Run("again before the tip", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 30)
			notified := make(chan error, 1)
			r.cfg.Failed = func(err error) { notified <- err }
			r.disk.advance = func(s *follow.Step) error {
				if s.Connect[0].Height >= 20 {
					return errTorn
				}
				return nil
			}
			r.start()
			if err := <-notified; !errors.Is(err, follow.ErrDamaged) {
				t.Error(err)
			}
			if len(r.disk.resets) != 1 {
				t.Error(r.disk.resets)
			}
			<-r.ref.Done()
		})
	})
	t.Run("and no reset", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 3)
			notified := make(chan error, 1)
			r.cfg.Failed = func(err error) { notified <- err }
			r.disk.advance = func(*follow.Step) error { return errTorn }
			r.disk.reset = func(error) error { return errBroken }
			r.start()
			if err := <-notified; !errors.Is(err, errBroken) {
				t.Error(err)
			}
		})
	})
}

// A target that knows more than the chain goes back to what the chain knows.
func TestAheadOfTheChain(t *testing.T) {
	for _, rewinds := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 5)
			r.start()
			r.stop()
			r.disk.blocks = append(r.disk.blocks, chainhash.Hash{1}, chainhash.Hash{2})
			r.disk.reset = func(error) error {
				if rewinds {
					r.disk.blocks = r.disk.blocks[:4]
				} else {
					r.disk.blocks = r.disk.blocks[:7]
				}
				return nil
			}
			r.start()
			if len(r.disk.resets) != 1 || !errors.Is(r.disk.resets[0], follow.ErrUnknown) {
				t.Error(r.disk.resets)
			}
			if !rewinds { // and does not try for ever
				if status := r.status(); !errors.Is(status.Err, follow.ErrUnknown) {
					t.Errorf("status %+v", status)
				}
				return
			}
			r.disk.check(t, r.chain)
		})
	}
}
