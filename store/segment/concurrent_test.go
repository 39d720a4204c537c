package segment

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// TestReadersDuringWrites reads in every way while the store appends,
// reorganises, rebuilds and, at last, closes.
func TestReadersDuringWrites(t *testing.T) {
	s, entries := newStore(t, 40)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 0))
			for {
				select {
				case <-stop:
					return
				default:
					readSome(t, s, r, entries)
				}
			}
		})
	}
	chain := entries
	for i := range 40 {
		chain = append(chain[:len(chain)-i%3:len(chain)-i%3], testBranch(chain[len(chain)-1-i%3], i+1, 4)...)
		mustAppend(t, s, chain[len(chain)-4:])
		if i%5 == 4 {
			number := s.Segments()[rand.IntN(len(s.Segments()))].Number
			if err := s.Verify(t.Context(), number, true); err != nil {
				t.Error(err)
			}
			if err := s.Rebuild(t.Context(), number, remake); err != nil {
				t.Error(err)
			}
		}
	}
	checkActive(t, s, chain)
	mustClose(t, s)
	close(stop)
	readers.Wait()
}

// readSome reads a range of the first entries, which stay stored, and one by
// its hash. A store may be closed meanwhile, a view may not.
func readSome(t *testing.T, s *Store, r *rand.Rand, entries []Entry) {
	t.Helper()
	from := r.IntN(len(entries))
	some := entries[from : from+1+r.IntN(len(entries)-from)]
	v := s.View()
	defer v.Release()
	dst := make([][]byte, len(some))
	err := v.Filters(int32(from), blocksOf(some), dst)
	switch {
	case err == nil:
		for i := range some {
			if !bytes.Equal(dst[i], some[i].Filter) {
				t.Errorf("filter at height %d = %x", some[i].Height, dst[i])
			}
		}
	case v.Tip() >= 0 || !errors.Is(err, ErrNotFound):
		t.Error(err)
	}
	e, err := s.ByHash(&some[0].Block)
	if err == nil && !sameEntry(e, some[0]) || err != nil && !errors.Is(err, ErrClosed) {
		t.Errorf("ByHash = %+v, %v", e, err)
	}
}

// TestMappingsEnd counts the references of a region that is replaced.
func TestMappingsEnd(t *testing.T) {
	s, entries := newStore(t, 30)
	v := s.View()
	old := v.regions[0]
	if err := s.Rebuild(t.Context(), 0, remake); err != nil {
		t.Fatal(err)
	}
	if got := old.refs.Load(); got != 1 {
		t.Errorf("%d references to a region that one view pins", got)
	}
	var dst [1][]byte
	if err := v.Filters(0, []chainhash.Hash{entries[0].Block}, dst[:]); err != nil {
		t.Error(err)
	}
	v.Release()
	if got := old.refs.Load(); got != 0 {
		t.Errorf("%d references after the release", got)
	}
	fresh := s.regions[0]
	mustClose(t, s)
	if got := fresh.refs.Load(); got != 0 {
		t.Errorf("%d references after Close", got)
	}
}

// TestGuard lets a file shrink after its filters were returned.
func TestGuard(t *testing.T) {
	s, entries := newStore(t, 3)
	v := s.View()
	defer v.Release()
	dst := make([][]byte, 3)
	if err := v.Filters(0, blocksOf(entries), dst); err != nil {
		t.Fatal(err)
	}
	if v.regions[0].mem == nil {
		t.Skip("files are not mapped here")
	}
	if err := s.tail.file.Truncate(0); err != nil {
		t.Fatal(err)
	}
	var sum byte
	if err := Guard(func() { sum = dst[2][0] }); !errors.Is(err, ErrFault) {
		t.Errorf("Guard = %v (read %d), want %v", err, sum, ErrFault)
	}
	var damaged *DamagedError
	if err := v.Filters(0, blocksOf(entries), dst); !errors.As(err, &damaged) || damaged.Block != entries[0].Block {
		t.Errorf("Filters = %v, want damage of the first block", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Guard swallows other panics")
		}
	}()
	_ = Guard(func() { panic("other") })
}
