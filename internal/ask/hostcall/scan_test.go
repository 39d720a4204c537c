package hostcall_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/ask/hostcall"
	"github.com/seed61375155/trawl/messages"
)

func TestMain(m *testing.M) { actortest.Main(m) }

// A scanner takes a second for a scan, ten for a first height of 1, and ends it when it is aborted.
type scanner struct {
	run     messages.RunScan
	busy    bool
	aborted atomic.Int32
	free    atomic.Int32 // how often the slot was given back
}

func (s *scanner) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[messages.ReserveScan, messages.ScanSlot]:
		if s.busy {
			m.Answer(messages.ScanSlot{}, messages.ErrScanBusy)
			return
		}
		s.busy = true
		m.Answer(messages.ScanSlot{ID: 7}, nil)
	case *ask.Call[messages.RunScan, messages.ScanResult]:
		s.run = m.Req
		self, root := c.Self(), c.ActorSystem().Root
		takes := time.Second
		if m.Req.Start == 1 {
			takes = 10 * time.Second
		}
		time.AfterFunc(takes, func() { root.Send(self, finished{m}) })
	case finished:
		result := messages.ScanResult{From: s.run.Start, To: 9, Completed: s.aborted.Load() == 0}
		m.call.Answer(result, nil)
	case *ask.Call[messages.AbortScan, bool]:
		s.aborted.Add(1)
		m.Answer(true, nil)
	case *ask.Call[messages.GetScanStatus, messages.ScanStatus]:
		m.Answer(messages.ScanStatus{Running: true, Progress: 40}, nil)
	case *ask.Call[messages.ReleaseScan, messages.Done]:
		if m.Req.Slot == 7 {
			s.free.Add(1)
			s.busy = false
		}
		m.Answer(messages.Done{}, nil)
	}
}

// tip is the hash of the last block.
var tip = chainhash.Hash{9}

type finished struct {
	call *ask.Call[messages.RunScan, messages.ScanResult]
}

// with runs a test in a bubble, with a scanner and a chain.
func with(t *testing.T, do func(t *testing.T, s *scanner, ref *ask.Ref, chain *ask.Ref)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		s := &scanner{}
		sys := actortest.New(t)
		ref := sys.Spawn("scanner", func() actor.Actor { return s })
		chain := sys.Spawn("chain", func() actor.Actor {
			return actor.ReceiveFunc(func(c actor.Context) {
				if m, ok := c.Message().(*ask.Call[messages.GetTip, messages.Tip]); ok {
					m.Answer(messages.Tip{Height: 9, Hash: tip}, nil)
				}
			})
		})
		do(t, s, ref, chain)
	})
}

// A scan tells how far it is, and gives its slot back. Without a last block it goes up to the tip.
func TestScan(t *testing.T) {
	with(t, func(t *testing.T, s *scanner, ref *ask.Ref, chain *ask.Ref) {
		t.Helper()
		told := 0
		result, err := hostcall.Scan(t.Context(), chain, ref, messages.RunScan{Start: 2}, func(st messages.ScanStatus) {
			told++
			if st.Progress != 40 {
				t.Errorf("%+v", st)
			}
		})
		if err != nil || !result.Completed || result.From != 2 || s.run.Stop != tip {
			t.Errorf("%+v, %v, up to %v", result, err, s.run.Stop)
		}
		if told < 3 || s.free.Load() != 1 || s.aborted.Load() != 0 {
			t.Errorf("told %d times, freed %d times, aborted %d times", told, s.free.Load(), s.aborted.Load())
		}
		stop := chainhash.Hash{5}
		_, err = hostcall.Scan(t.Context(), chain, ref, messages.RunScan{Stop: stop}, nil)
		if err != nil || s.run.Stop != stop {
			t.Errorf("%v, up to %v", err, s.run.Stop)
		}
	})
}

// The end of the context aborts the scan, once; the slot is free when the call returns.
func TestScanIsCancelled(t *testing.T) {
	with(t, func(t *testing.T, s *scanner, ref *ask.Ref, chain *ask.Ref) {
		t.Helper()
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(2*time.Second, func() { cancel(why) })
		_, err := hostcall.Scan(ctx, chain, ref, messages.RunScan{Start: 1}, nil)
		if !errors.Is(err, why) || s.aborted.Load() != 1 || s.free.Load() != 1 {
			t.Errorf("%v, aborted %d times, freed %d times", err, s.aborted.Load(), s.free.Load())
		}
	})
}

// Of two scans the second is refused, and leaves the slot alone.
func TestScanIsBusy(t *testing.T) {
	with(t, func(t *testing.T, s *scanner, ref *ask.Ref, chain *ask.Ref) {
		t.Helper()
		first := make(chan error, 1)
		go func() {
			_, err := hostcall.Scan(t.Context(), chain, ref, messages.RunScan{}, nil)
			first <- err
		}()
		synctest.Wait()
		_, err := hostcall.Scan(t.Context(), chain, ref, messages.RunScan{}, nil)
		if !errors.Is(err, messages.ErrScanBusy) || s.free.Load() != 0 {
			t.Errorf("%v, freed %d times", err, s.free.Load())
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// A host that does not come back from progress keeps the slot from nobody, and its abort reaches the scanner.
func TestScanOfStuckHost(t *testing.T) {
	with(t, func(t *testing.T, s *scanner, ref *ask.Ref, chain *ask.Ref) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		stuck := make(chan struct{})
		ended := make(chan error, 1)
		go func() {
			_, err := hostcall.Scan(ctx, chain, ref, messages.RunScan{Start: 1}, func(messages.ScanStatus) { <-stuck })
			ended <- err
		}()
		time.Sleep(time.Second)
		cancel()
		synctest.Wait()
		if n := s.aborted.Load(); n != 1 {
			t.Errorf("aborted %d times", n)
		}
		time.Sleep(time.Minute)
		if n := s.free.Load(); n != 1 {
			t.Errorf("freed %d times", n)
		}
		if _, err := hostcall.Scan(t.Context(), chain, ref, messages.RunScan{}, nil); err != nil {
			t.Errorf("the next scan: %v", err)
		}
		if n := s.aborted.Load(); n != 1 {
			t.Errorf("aborted %d times, the scan of another as well", n)
		}
		close(stuck)
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A context that has ended before begins no scan, and takes no slot.
func TestScanOfEndedContext(t *testing.T) {
	with(t, func(t *testing.T, s *scanner, ref *ask.Ref, chain *ask.Ref) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := hostcall.Scan(ctx, chain, ref, messages.RunScan{}, nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := hostcall.Scan(t.Context(), chain, ref, messages.RunScan{}, nil); err != nil {
			t.Errorf("the next scan: %v", err)
		}
	})
}
