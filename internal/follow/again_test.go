package follow_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
)

// A failed step is tried again when somebody waits or a tip comes, and that long after
// the last attempt: never by the timer of one before.
func TestWhenItTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3)
		var attempts atomic.Int32
		r.disk.advance = func(s *follow.Step) error { s.Connect = nil; attempts.Add(1); return errBroken }
		r.start()
		after := func(d time.Duration, want int32) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := attempts.Load(); got != want {
				t.Errorf("%d attempts, want %d", got, want)
			}
		}
		after(0, 1)
		after(retryAfter/2, 1)
		if err := <-r.wait(); !errors.Is(err, errBroken) {
			t.Error(err)
		}
		after(retryAfter*3/4, 2)
		after(retryAfter/2, 3)
		r.publish()
		after(0, 4)
		after(retryAfter-time.Second, 4)
		after(2*time.Second, 5)
		r.stop()
		after(time.Hour, 5)
	})
}

// A tip that comes while a step fails is an attempt at once.
func TestTipDuringTheFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3)
		held, attempts := make(chan struct{}), 0
		r.disk.advance = func(s *follow.Step) error {
			if attempts++; attempts > 1 {
				return nil
			}
			<-held
			s.Connect = nil
			return errBroken
		}
		r.start()
		r.publish()
		close(held)
		synctest.Wait()
		if attempts != 2 {
			t.Errorf("%d attempts", attempts)
		}
		r.disk.check(t, r.chain)
	})
}

// While it tries again there is no error, and a step runs.
func TestStatusOfAnotherAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3)
		held := make(chan struct{})
		first := true
		r.disk.advance = func(s *follow.Step) error {
			if !first {
				<-held
				return nil
			}
			first, s.Connect = false, nil
			return errBroken
		}
		busy := func() bool {
			answer := make(chan bool, 1)
			r.ref.Tell(func(o *owner, _ actor.Context) { answer <- o.f.Busy() })
			return <-answer
		}
		r.start()
		if status := r.status(); !errors.Is(status.Err, errBroken) || busy() {
			t.Errorf("status %+v, busy %v", status, busy())
		}
		waitRetry()
		if status := r.status(); status.Err != nil || !busy() {
			t.Errorf("status %+v, busy %v", status, busy())
		}
		close(held)
		synctest.Wait()
		r.disk.check(t, r.chain)
	})
}

// Where nothing is said, a step has 64 blocks and is tried again after half a minute.
func TestDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 99)
		r.cfg.Batch, r.cfg.Retry = 0, 0
		var sizes []int
		var times []time.Duration
		began := time.Now()
		r.disk.advance = func(s *follow.Step) error {
			sizes, times = append(sizes, len(s.Connect)), append(times, time.Since(began))
			if len(sizes) == 2 {
				s.Connect = nil
				return errBroken
			}
			return nil
		}
		r.start()
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(sizes) != 3 || sizes[0] != 64 || sizes[1] != 36 || sizes[2] != 36 || times[1] != 0 ||
			times[2] != 30*time.Second {
			t.Errorf("steps of %v blocks at %v", sizes, times)
		}
	})
}

// A target on its way is synced every five seconds, counted from the last sync.
func TestSyncOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 39)
		r.cfg.Target = durableDisk{r.disk}
		r.disk.advance = func(*follow.Step) error { time.Sleep(2500 * time.Millisecond); return nil }
		r.start()
		time.Sleep(time.Minute)
		synctest.Wait()
		// Steps of five begin at 0, 2.5, 5 and 7.5 s. The first Sync after more than five seconds
		// follows the fourth step, which ends at 10 s; the next follows the step of 17.5 s.
		if got := r.disk.syncs; len(got) != 2 || got[0] != 20 || got[1] != 40 {
			t.Errorf("synced at %v blocks", got)
		}
	})
}

// A target whose sync fails is not said to be durable.
func TestSyncFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 12)
		keeper := &lockKeeper{}
		r.cfg.PruneLocks = r.sys.Spawn("keeper", func() actor.Actor { return keeper })
		r.cfg.Target, r.cfg.SyncAtTip = failingSync{r.disk}, true
		r.start()
		if status := r.status(); !errors.Is(status.Err, errBroken) || len(keeper.locks) != 0 {
			t.Errorf("status %+v, locks %v", status, keeper.locks)
		}
	})
}

type failingSync struct{ *disk }

func (failingSync) Sync() error { return errBroken }

// A chain that is away when the time for another attempt comes is waited for.
func TestAwayAtTheRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3)
		first := true
		r.disk.advance = func(s *follow.Step) error {
			if first {
				first, s.Connect = false, nil
				return chainview.ErrNotYet
			}
			return nil
		}
		r.start()
		r.cfg.Chain.Set(nil)
		waitRetry()
		if status := r.status(); status.Started || status.Err != nil {
			t.Errorf("status %+v", status)
		}
		r.cfg.Chain.Set(r.chain)
		r.publish()
		r.disk.check(t, r.chain)
	})
}

// An attempt that another event causes replaces the attempt that the timer was set for.
func TestNoAttemptTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3)
		reached := 0
		r.cfg.Reached = func(actor.Context) { reached++ }
		r.disk.advance = func(s *follow.Step) error { s.Connect = nil; return errBroken }
		r.start()
		r.disk.advance = nil
		r.ref.Tell(wake{})
		synctest.Wait()
		r.disk.check(t, r.chain)
		time.Sleep(time.Hour)
		synctest.Wait()
		if reached != 1 {
			t.Errorf("the tip was reached %d times", reached)
		}
	})
}

// A step that took nothing, since its blocks have left the chain or the chain is away, is no
// failure.
func TestNothingTakenOfAChainThatChanges(t *testing.T) {
	for _, away := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 3)
			held, first := make(chan struct{}), true
			r.disk.advance = func(s *follow.Step) error {
				if first {
					<-held
					first, s.Connect = false, nil
				}
				return nil
			}
			var errs []error
			r.cfg.Failed = func(err error) { errs = append(errs, err) }
			r.start()
			if r.chain.MineN(1); away {
				r.cfg.Chain.Set(nil)
			}
			close(held)
			synctest.Wait()
			if away {
				if status := r.status(); status.Started || status.Err != nil {
					t.Errorf("status %+v", status)
				}
				r.cfg.Chain.Set(r.chain)
				r.publish()
			}
			r.disk.check(t, r.chain)
			if len(errs) != 0 {
				t.Error(errs)
			}
		})
	}
}
