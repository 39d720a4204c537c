package match_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/match"
)

var errBroken = errors.New("disk is gone")

// script returns the n-th of the scripts that the tests' blocks use.
func script(n int32) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0x00, 0x14}, uint32(n)), make([]byte, 16)...)
}

// source has the filters of a chain whose blocks pay to script(height mod 10).
type source struct {
	chain *chaintest.Chain
	views atomic.Int32
	fault func(height int32) error
}

func newSource(height int) *source {
	s := &source{chain: chaintest.New(&chaincfg.RegressionNetParams)}
	for h := 1; h <= height; h++ {
		s.chain.Mine(chaintest.Template{Script: script(int32(h % 10))})
	}
	return s
}

func (s *source) View() match.View {
	s.views.Add(1)
	return &view{source: s}
}

type view struct {
	*source
	builder filters.Builder
}

func (v *view) Filters(from int32, _ bool, dst []filters.Filter) error {
	for i := range dst {
		height := from + int32(i)
		if v.fault != nil {
			if err := v.fault(height); err != nil {
				return err
			}
		}
		block := dst[i].Block
		raw, err := v.chain.Raw(&block)
		if err != nil {
			return err
		}
		if dst[i].Data, err = v.builder.BuildBlock(&block, raw, filters.HeaderLen, nil); err != nil {
			return err
		}
	}
	return nil
}

func (*view) Active(int32, *chainhash.Hash) bool { return false }
func (*view) RangeEnd(height int32) int32        { return height + 1 }
func (*view) Restrict(height int32, q *filters.Query) (*filters.Query, int32) {
	return q, height + 1
}
func (*view) Stale(*chainhash.Hash) {}

func (*view) Guard(read func()) error { read(); return nil }
func (v *view) Release()              { v.views.Add(-1) }

func heights(hits []match.Hit) []int32 {
	var list []int32
	for _, hit := range hits {
		list = append(list, hit.Height)
	}
	return list
}

// However many workers there are, each hit is found once, in order.
func TestPass(t *testing.T) {
	s := newSource(95)
	for _, workers := range []int{1, 2, 7} {
		pass := match.New(match.Config{
			Source: s, Query: filters.NewQuery([][]byte{script(3)}), First: 4, Stop: s.chain.Active().At(90),
		})
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				if left, err := pass.Work(t.Context(), match.Heights{}); err != nil || !left.Empty() {
					t.Errorf("left %v, %v", left, err)
				}
			})
		}
		group.Wait()
		hits, frontier := pass.Hits()
		if want := []int32{13, 23, 33, 43, 53, 63, 73, 83}; !slices.Equal(heights(hits), want) || frontier != 91 ||
			!pass.Complete() {
			t.Errorf("%d workers: found %v up to %d", workers, heights(hits), frontier)
		}
	}
	if n := s.views.Load(); n != 0 {
		t.Errorf("%d views are held", n)
	}
}

// Short ranges take few workers, but always one.
func TestWorkers(t *testing.T) {
	s := newSource(40)
	for _, test := range []struct{ first, stop, want int32 }{
		{0, 0, 1}, {40, 40, 1}, {1, 16, 1}, {0, 16, 2}, {0, 31, 2}, {0, 32, 3}, {0, 40, 3},
	} {
		pass := match.New(match.Config{Source: s, First: test.first, Stop: s.chain.Active().At(test.stop)})
		if got := pass.Workers(3); got != int(test.want) {
			t.Errorf("%d to %d: %d workers, want %d", test.first, test.stop, got, test.want)
		}
	}
}

// A run starts as many goroutines as there are to match beside its caller's.
func TestRunStarts(t *testing.T) {
	for _, test := range []struct{ workers, last, want int32 }{
		{1, 100, 0}, {3, 100, 2}, {8, 100, 6}, {3, 20, 1}, {3, 5, 0},
	} {
		source := &slowSource{}
		var started atomic.Int32
		s := match.NewScheduler(match.SchedulerConfig{
			Source: source, Workers: int(test.workers), Start: func(work func()) {
				started.Add(1)
				go work()
			},
		})
		if err := s.Run(t.Context(), s.NewPass(upTo(test.last))); err != nil || started.Load() != test.want {
			t.Errorf("%d workers for %d blocks: %d started, want %d, %v",
				test.workers, test.last+1, started.Load(), test.want, err)
		}
	}
}

// A worker that meets damage gives its unit back, which counts as not done until
// another takes it.
func TestDamage(t *testing.T) {
	s := newSource(60)
	damaged := s.chain.Active().At(30).Hash
	var broken atomic.Bool
	broken.Store(true)
	s.fault = func(height int32) error {
		if height == 30 && broken.Load() {
			return &match.DamagedError{Block: damaged, Err: errBroken}
		}
		return nil
	}
	pass := match.New(match.Config{
		Source: s, Query: filters.NewQuery([][]byte{script(5)}), Stop: s.chain.Active().Tip(),
	})
	left, err := pass.Work(t.Context(), match.Heights{})
	var damage *match.DamagedError
	if !errors.As(err, &damage) || damage.Block != damaged || !errors.Is(err, errBroken) || left.From > 30 ||
		left.To <= 30 {
		t.Fatalf("left %v, %v", left, err)
	}
	if hits, frontier := pass.Hits(); frontier != left.From || pass.Complete() ||
		slices.Max(heights(hits)) >= frontier {
		t.Errorf("found %v up to %d", heights(hits), frontier)
	}
	broken.Store(false)
	if left, err := pass.Work(t.Context(), left); err != nil || !left.Empty() {
		t.Fatalf("left %v, %v", left, err)
	}
	if hits, _ := pass.Hits(); !slices.Equal(heights(hits), []int32{5, 15, 25, 35, 45, 55}) || !pass.Complete() {
		t.Errorf("found %v", heights(hits))
	}
}

// Keep decides which matches are hits; what it fails with ends the worker.
func TestKeep(t *testing.T) {
	s := newSource(40)
	for _, fails := range []bool{false, true} {
		pass := match.New(match.Config{
			Source: s, Query: filters.NewQuery([][]byte{script(1)}), Stop: s.chain.Active().Tip(),
			Keep: func(_ context.Context, block *chainhash.Hash) (bool, error) {
				if fails {
					return false, errBroken
				}
				height := s.chain.Lookup(block).Height
				return height == 11 || height == 31, nil
			},
		})
		_, err := pass.Work(t.Context(), match.Heights{})
		if hits, _ := pass.Hits(); fails != errors.Is(err, errBroken) || !fails &&
			!slices.Equal(heights(hits), []int32{11, 31}) {
			t.Errorf("fails %v: found %v, %v", fails, heights(hits), err)
		}
	}
}

// Work ends with its context.
func TestEnd(t *testing.T) {
	s := newSource(40)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	pass := match.New(match.Config{Source: s, Query: filters.NewQuery(nil), Stop: s.chain.Active().Tip()})
	if _, err := pass.Work(ctx, match.Heights{}); err != nil || pass.Complete() {
		t.Errorf("complete %v, %v", pass.Complete(), err)
	}
}

// A pass that ends while Keep decides asks it nothing more.
func TestKeepEnds(t *testing.T) {
	s := newSource(15)
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	pass := match.New(match.Config{
		Source: s, Query: filters.NewQuery([][]byte{script(1), script(2), script(3)}), Stop: s.chain.Active().Tip(),
		Keep: func(context.Context, *chainhash.Hash) (bool, error) {
			asked++
			cancel()
			return true, nil
		},
	})
	left, err := pass.Work(ctx, match.Heights{})
	if hits, _ := pass.Hits(); !errors.Is(err, context.Canceled) || left.Empty() || asked != 1 || len(hits) > 0 {
		t.Errorf("asked %d times, left %v, found %v: %v", asked, left, heights(hits), err)
	}
}

// Hits are given below the frontier alone, in order, whatever has ended first.
func TestHitsBelowTheFrontier(t *testing.T) {
	s := newSource(60)
	entered, release := make(chan struct{}), make(chan struct{})
	var first sync.Once
	s.fault = func(height int32) error {
		if height == 16 { // where the second unit begins
			first.Do(func() {
				close(entered)
				<-release
			})
		}
		return nil
	}
	pass := match.New(match.Config{
		Source: s, Query: filters.NewQuery([][]byte{script(5), script(6)}), Stop: s.chain.Active().Tip(),
	})
	work := func() {
		if _, err := pass.Work(t.Context(), match.Heights{}); err != nil {
			t.Error(err)
		}
	}
	var group sync.WaitGroup
	group.Go(work)
	<-entered
	work()
	hits, frontier := pass.Hits()
	if frontier != 16 || !slices.Equal(heights(hits), []int32{5, 6, 15}) || pass.Complete() {
		t.Errorf("found %v up to %d", heights(hits), frontier)
	}
	close(release)
	group.Wait()
	hits, _ = pass.Hits()
	if want := []int32{5, 6, 15, 16, 25, 26, 35, 36, 45, 46, 55, 56}; !slices.Equal(heights(hits), want) {
		t.Errorf("found %v", heights(hits))
	}
}
