package match_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/match"
)

// slowSource has a long chain of empty filters, each of which takes a while.
type slowSource struct {
	each          time.Duration // to read one
	reading, most atomic.Int32  // workers at a time
	views         atomic.Int32
	fault         func(height int32) error
}

func (s *slowSource) View() match.View {
	s.views.Add(1)
	return &slowView{s: s}
}

type slowView struct {
	view
	s *slowSource
}

func hashAt(height int32) (h chainhash.Hash) {
	binary.BigEndian.PutUint32(h[:], uint32(height))
	return h
}

func (*slowView) Active(int32, *chainhash.Hash) bool { return true }
func (v *slowView) Release()                         { v.s.views.Add(-1) }
func (v *slowView) Filters(from int32, _ bool, dst []filters.Filter) error {
	n := v.s.reading.Add(1)
	defer v.s.reading.Add(-1)
	for most := v.s.most.Load(); n > most && !v.s.most.CompareAndSwap(most, n); {
		most = v.s.most.Load()
	}
	for i := range dst {
		time.Sleep(v.s.each)
		height := from + int32(i)
		if v.s.fault != nil {
			if err := v.s.fault(height); err != nil {
				return err
			}
		}
		dst[i] = filters.Filter{Block: hashAt(height), Data: []byte{0}}
	}
	return nil
}

func (s *slowSource) scheduler(workers int) *match.Scheduler {
	return match.NewScheduler(match.SchedulerConfig{Source: s, Workers: workers})
}

func upTo(stop int32) match.Config {
	return match.Config{
		Query: filters.NewQuery([][]byte{script(1)}), Stop: &chainview.Block{Height: stop, Hash: hashAt(stop)},
	}
}

// A small search beside huge ones gets its turn soon, although no more workers match
// at a time than there are cores.
func TestSmallSearchBesideHugeOnes(t *testing.T) {
	for _, test := range []struct {
		workers, huge int
	}{{1, 1}, {2, 1}, {2, 5}, {8, 20}} {
		synctest.Test(t, func(t *testing.T) {
			source := &slowSource{each: 100 * time.Microsecond}
			s := source.scheduler(test.workers)
			ctx, cancel := context.WithCancelCause(t.Context())
			enough := errors.New("enough")
			var huge sync.WaitGroup
			for range test.huge {
				huge.Go(func() {
					if err := s.Run(ctx, s.NewPass(upTo(10_000_000))); !errors.Is(err, enough) {
						t.Errorf("ended with %v", err)
					}
				})
			}
			time.Sleep(50 * time.Millisecond)
			synctest.Wait()
			for _, last := range []int32{0, 5, 20} {
				began := time.Now()
				pass := s.NewPass(upTo(last))
				if err := s.Run(t.Context(), pass); err != nil || !pass.Complete() {
					t.Errorf("complete %v, %v", pass.Complete(), err)
				}
				if took := time.Since(began); took > 100*time.Millisecond {
					t.Errorf("%d blocks beside %d searches on %d cores: %v", last+1, test.huge, test.workers, took)
				}
			}
			cancel(enough)
			huge.Wait()
			if got := int(source.most.Load()); got != test.workers {
				t.Errorf("%d workers at a time, want %d", got, test.workers)
			}
			if n := source.views.Load(); n != 0 {
				t.Errorf("%d views are held", n)
			}
		})
	}
}

// Passes of the same size that run beside each other end at about the same time.
func TestEqualShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slowSource{each: 100 * time.Microsecond}
		s := source.scheduler(2)
		var group sync.WaitGroup
		took := make([]time.Duration, 3)
		began := time.Now()
		for i := range took {
			group.Go(func() {
				if err := s.Run(t.Context(), s.NewPass(upTo(9_999))); err != nil {
					t.Error(err)
				}
				took[i] = time.Since(began)
			})
		}
		group.Wait()
		if slices.Min(took) < 1400*time.Millisecond || slices.Max(took) > 1550*time.Millisecond {
			t.Errorf("1.5 s of work for each of three: %v", took)
		}
	})
}

// A search that waits for its turn, or has one, ends with its context.
func TestSchedulerAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slowSource{each: time.Millisecond}
		s := source.scheduler(1)
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error)
		for range 2 {
			go func() { errs <- s.Run(ctx, s.NewPass(upTo(1000))) }()
		}
		synctest.Wait()
		cancel()
		for range 2 {
			if err := <-errs; !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v", err)
			}
		}
		if n := source.views.Load(); n != 0 {
			t.Errorf("%d views are held", n)
		}
		if err := s.Run(t.Context(), s.NewPass(upTo(10))); err != nil {
			t.Errorf("the core was not given back: %v", err)
		}
	})
}

// A pass whose Keep waits for the network leaves the core to others.
func TestOutside(t *testing.T) {
	s := newSource(20)
	scheduler := match.NewScheduler(match.SchedulerConfig{Source: s, Workers: 1})
	waits, answer := make(chan struct{}), make(chan struct{})
	result := make(chan error)
	waiting := scheduler.NewPass(match.Config{
		Query: filters.NewQuery([][]byte{script(3)}), Stop: s.chain.Active().At(10),
		Keep: func(ctx context.Context, _ *chainhash.Hash) (bool, error) {
			match.Outside(ctx, func() {
				close(waits)
				<-answer
			})
			return true, nil
		},
	})
	go func() { result <- scheduler.Run(t.Context(), waiting) }()
	<-waits
	other := scheduler.NewPass(match.Config{
		Query: filters.NewQuery([][]byte{script(3)}), Stop: s.chain.Active().At(20),
	})
	if err := scheduler.Run(t.Context(), other); err != nil {
		t.Error(err)
	}
	close(answer)
	if err := <-result; err != nil {
		t.Error(err)
	}
	if hits, _ := waiting.Hits(); !slices.Equal(heights(hits), []int32{3}) {
		t.Errorf("found %v", heights(hits))
	}
}

// Damaged filters are repaired once each while the rest of the pass goes on. A filter
// that is damaged again, or cannot be made again, ends the pass with an error that
// names it.
func TestSchedulerRepairs(t *testing.T) {
	errNoBlock := errors.New("no such block")
	for name, test := range map[string]struct {
		stays  bool
		repair error
		none   bool
		cause  error
	}{
		"repaired":         {},
		"damaged again":    {stays: true, cause: errBroken},
		"cannot be made":   {repair: errNoBlock, cause: errNoBlock},
		"nobody to ask":    {none: true, cause: errBroken},
		"another is broke": {stays: true, repair: errNoBlock, cause: errNoBlock},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSource(95)
			var mu sync.Mutex
			damaged := map[int32]bool{3: true, 40: true, 41: true, 95: true}
			s.fault = func(height int32) error {
				mu.Lock()
				defer mu.Unlock()
				if damaged[height] {
					return &match.DamagedError{Block: s.chain.Active().At(height).Hash, Err: errBroken}
				}
				return nil
			}
			repairs := 0
			cfg := match.SchedulerConfig{Source: s, Workers: 3}
			cfg.Repair = func(_ context.Context, block *chainhash.Hash) error {
				mu.Lock()
				defer mu.Unlock()
				repairs++
				if !test.stays {
					delete(damaged, s.chain.Lookup(block).Height)
				}
				return test.repair
			}
			if test.none {
				cfg.Repair = nil
			}
			scheduler := match.NewScheduler(cfg)
			pass := scheduler.NewPass(match.Config{
				Query: filters.NewQuery([][]byte{script(3)}), Stop: s.chain.Active().Tip(),
			})
			err := scheduler.Run(t.Context(), pass)
			if n := s.views.Load(); n != 0 {
				t.Errorf("%d views are held", n)
			}
			if test.cause == nil {
				hits, _ := pass.Hits()
				want := []int32{3, 13, 23, 33, 43, 53, 63, 73, 83, 93}
				if err != nil || !slices.Equal(heights(hits), want) || repairs != 4 {
					t.Errorf("%v after %d repairs: found %v", err, repairs, heights(hits))
				}
				return
			}
			var lost *match.LostError
			if !errors.As(err, &lost) || !errors.Is(err, test.cause) ||
				!strings.Contains(err.Error(), lost.Block.String()) {
				t.Fatalf("ended with %v", err)
			}
			if height := s.chain.Lookup(&lost.Block).Height; !damaged[height] && !errors.Is(test.cause, errNoBlock) {
				t.Errorf("names the block at height %d", height)
			}
			if pass.Complete() {
				t.Error("complete over a hole")
			}
		})
	}
}

// While one worker waits for a repair, a pass with one core goes on nowhere, but
// another pass does.
func TestRepairHoldsNoCore(t *testing.T) {
	s := newSource(20)
	var broken atomic.Bool
	broken.Store(true)
	s.fault = func(height int32) error {
		if height == 20 && broken.Load() {
			return &match.DamagedError{Block: s.chain.Active().Tip().Hash, Err: errBroken}
		}
		return nil
	}
	asked, answer := make(chan struct{}), make(chan struct{})
	scheduler := match.NewScheduler(match.SchedulerConfig{
		Source: s, Workers: 1, Repair: func(context.Context, *chainhash.Hash) error {
			close(asked)
			<-answer
			broken.Store(false)
			return nil
		},
	})
	query := filters.NewQuery([][]byte{script(0)})
	result := make(chan error)
	go func() {
		result <- scheduler.Run(
			t.Context(), scheduler.NewPass(match.Config{Query: query, Stop: s.chain.Active().Tip()}),
		)
	}()
	<-asked
	if err := scheduler.Run(
		t.Context(), scheduler.NewPass(match.Config{Query: query, Stop: s.chain.Active().At(19)}),
	); err != nil {
		t.Error(err)
	}
	close(answer)
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// A worker's panic is the caller's, whichever goroutine it came from, and the cores
// are free afterwards.
func TestSchedulerPanic(t *testing.T) {
	source := &slowSource{}
	var panics atomic.Bool
	panics.Store(true)
	source.fault = func(height int32) error {
		if height >= 100 && panics.Load() {
			panic("boom")
		}
		return nil
	}
	s := source.scheduler(3)
	func() {
		defer func() {
			if p, ok := recover().(*cores.Panic); !ok || p.Value != "boom" {
				t.Errorf("got %v", p)
			}
		}()
		_ = s.Run(t.Context(), s.NewPass(upTo(1000)))
		t.Error("no panic")
	}()
	panics.Store(false)
	for range 5 {
		if err := s.Run(t.Context(), s.NewPass(upTo(1000))); err != nil {
			t.Error(err)
		}
	}
}

// countingContext counts what waits for its end.
type countingContext struct {
	context.Context
	waiting atomic.Int32
}

func (c *countingContext) AfterFunc(f func()) (stop func() bool) {
	c.waiting.Add(1)
	stopped := context.AfterFunc(c.Context, f)
	return func() bool {
		c.waiting.Add(-1)
		return stopped()
	}
}

// Done has contexts below this one use AfterFunc.
func (c *countingContext) Done() <-chan struct{} { return c.Context.Done() }

// A pass leaves nothing in its context, which may last as long as the node.
func TestRunLeavesNothingInItsContext(t *testing.T) {
	source := &slowSource{}
	s := source.scheduler(2)
	inner, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx := &countingContext{Context: inner}
	if err := s.Run(ctx, s.NewPass(upTo(100))); err != nil {
		t.Error(err)
	}
	if n := ctx.waiting.Load(); n != 0 {
		t.Errorf("%d still wait for its end", n)
	}
}

// A pass needs no scheduler, however long its units take.
func TestWorkAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slowSource{each: 5 * time.Millisecond}
		cfg := upTo(50)
		cfg.Source = source
		pass := match.New(cfg)
		if left, err := pass.Work(t.Context(), match.Heights{}); err != nil || !left.Empty() || !pass.Complete() {
			t.Errorf("left %v, %v", left, err)
		}
	})
}
