package match_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
)

// coldSource has filters on a slow disk: reading a filter that was not fetched is a
// fault.
type coldSource struct {
	*source
	piece int32 // blocks that what a view knows is about

	faults, fetches atomic.Int64
	fetch           func(ctx context.Context, h match.Heights) // before it is done, or nil

	mu     sync.Mutex
	memory map[int32]bool // which filters are there
}

func (s *coldSource) View() match.View {
	s.views.Add(1)
	return &coldView{view: view{source: s.source}, cold: s}
}

type coldView struct {
	view
	cold *coldSource
}

func (*coldView) Active(int32, *chainhash.Hash) bool { return true }

func (v *coldView) Faults() int64 { return v.cold.faults.Load() }

func (v *coldView) RangeEnd(height int32) int32 { return height - height%v.cold.piece + v.cold.piece }

func (v *coldView) Restrict(height int32, q *filters.Query) (*filters.Query, int32) {
	return q, v.RangeEnd(height)
}

// read brings a filter into memory, if it is not there.
func (v *coldView) read(height int32) bool {
	v.cold.mu.Lock()
	defer v.cold.mu.Unlock()
	there := v.cold.memory[height]
	v.cold.memory[height] = true
	return !there
}

func (v *coldView) Filters(from int32, active bool, dst []filters.Filter) error {
	for i := range dst {
		dst[i].Block = v.chain.Active().At(from + int32(i)).Hash
		if v.read(from + int32(i)) {
			v.cold.faults.Add(1)
		}
	}
	return v.view.Filters(from, active, dst)
}

func (v *coldView) Fetch(
	ctx context.Context, h match.Heights, q *filters.Query, _ filters.Method, restrict bool,
) (missing int) {
	v.cold.fetches.Add(1)
	if h.Empty() || h.To > v.chain.Active().Height()+1 || restrict != (q.Len() >= 16) {
		panic("fetches what is not asked for")
	}
	if v.cold.fetch != nil {
		v.cold.fetch(ctx, h)
	}
	for height := h.From; height < h.To; height++ {
		if v.read(height) {
			missing++
		}
	}
	return missing
}

func newCold(blocks int, piece int32) *coldSource {
	return &coldSource{source: newSource(blocks), piece: piece, memory: map[int32]bool{}}
}

// coldPass looks for script(3), and for others that no block has.
func coldPass(s *coldSource, others int32) *match.Pass {
	scripts := [][]byte{script(3)}
	for n := range others {
		scripts = append(scripts, script(1000+n))
	}
	return match.New(match.Config{
		Source: s, Query: filters.NewQuery(scripts), First: 1, Stop: s.chain.Active().Tip(), Exact: true,
	})
}

// workCold has workers match, and checks what they found.
func workCold(t *testing.T, s *coldSource, pass *match.Pass, workers int) {
	t.Helper()
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			if left, err := pass.Work(t.Context(), match.Heights{}); err != nil || !left.Empty() {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
	group.Wait()
	var want []int32
	for height := int32(3); height <= s.chain.Active().Height(); height += 10 {
		want = append(want, height)
	}
	if hits, _ := pass.Hits(); !slices.Equal(heights(hits), want) || !pass.Complete() {
		t.Errorf("found %v", heights(hits))
	}
	if n := s.views.Load(); n != 0 {
		t.Errorf("%d views are held", n)
	}
}

// Once a worker has waited for the disk all else is prefetched, and no worker waits
// for the disk again. This holds whether readers or workers are faster, and the
// hits are the same.
func TestReadsAhead(t *testing.T) {
	for _, others := range []int32{0, 20} { // not restricted, restricted
		for _, workers := range []int{1, 3} {
			s := newCold(900, 24)
			s.fetch = func(context.Context, match.Heights) {
				for range rand.IntN(3) {
					rand.Perm(2000) // takes some time
				}
			}
			workCold(t, s, coldPass(s, others), workers)
			// Each worker may be in the midst of a unit when the first one has waited.
			if n := s.faults.Load(); n == 0 || n > int64(workers)*24+16 {
				t.Errorf("%d others, %d workers: %d waits for the disk", others, workers, n)
			}
			if n := s.fetches.Load(); n == 0 {
				t.Errorf("%d others, %d workers: nothing is prefetched", others, workers)
			}
			fetches := s.fetches.Load()
			if workCold(t, s, coldPass(s, others), workers); s.fetches.Load() != fetches {
				t.Errorf("%d others, %d workers: reads what is in memory", others, workers)
			}
		}
	}
}

// Readers that find all in memory end.
func TestReadsAheadNoLonger(t *testing.T) {
	s := newCold(900, 8)
	for height := int32(30); height <= 900; height++ {
		s.memory[height] = true
	}
	workCold(t, s, coldPass(s, 20), 2)
	// Of 110 pieces: those on the disk, those that it takes to notice, and those that
	// other readers have begun.
	if n := s.fetches.Load(); n == 0 || n > 20 {
		t.Errorf("%d pieces are read", n)
	}
}

// A reader that fails or is stopped keeps nobody from matching.
func TestReaderFails(t *testing.T) {
	s := newCold(300, 8)
	s.fetch = func(_ context.Context, h match.Heights) {
		if h.From > 50 {
			panic("no memory")
		}
	}
	workCold(t, s, coldPass(s, 20), 2)

	s = newCold(300, 8)
	ctx, end := context.WithCancel(t.Context())
	s.fetch = func(inner context.Context, h match.Heights) {
		if h.From > 50 {
			end()
			<-inner.Done() // as if it waited for the disk until it is told to stop
		}
	}
	pass := coldPass(s, 20)
	left, err := pass.Work(ctx, match.Heights{})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n := s.views.Load(); n != 0 || pass.Complete() {
		t.Errorf("%d views are held; complete %v", n, pass.Complete())
	}
	s.fetch = nil
	left, err = pass.Work(t.Context(), left)
	if hits, _ := pass.Hits(); err != nil || !left.Empty() || len(hits) == 0 {
		t.Errorf("left %v, %v, %d hits", left, err, len(hits))
	}
}

// A worker that a damaged filter ends takes its readers along. Another worker, which
// waited for these readers, goes on.
func TestReadersEndWithTheirWorker(t *testing.T) {
	s := newCold(400, 8)
	damaged := s.chain.Active().At(90).Hash
	s.fault = func(height int32) error {
		if height == 90 {
			return &match.DamagedError{Block: damaged, Err: errBroken}
		}
		return nil
	}
	pass := coldPass(s, 20)
	var mu sync.Mutex
	var left match.Heights
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			unit, err := pass.Work(t.Context(), match.Heights{})
			var damage *match.DamagedError
			mu.Lock()
			defer mu.Unlock()
			if errors.As(err, &damage) {
				left = unit
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if left.Empty() {
		t.Fatal("the damage was not noticed")
	}
	s.fault = nil
	if _, err := pass.Work(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	if hits, _ := pass.Hits(); len(hits) != 40 || !pass.Complete() || s.views.Load() != 0 {
		t.Errorf("%d hits, %d views", len(hits), s.views.Load())
	}
}
