package scanner_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/store/segment"
)

// longStore returns a store with the filters of a chain of blocks up to height,
// each of few scripts of its own, and its last block.
func longStore(t *testing.T, height int32) (*segment.Store, *chainview.Block) {
	t.Helper()
	store, err := segment.Open(segment.Options{Dir: t.TempDir(), SegmentSize: 1 << 16, MakeLines: filters.AppendLines})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	var b filters.Builder
	var prev chainhash.Hash
	var entries []segment.Entry
	for h := range height + 1 {
		var e segment.Entry
		binary.LittleEndian.PutUint32(e.Block[:], uint32(h)*0x9e3779b1+1)
		e.Prev, e.Height = prev, h
		scripts := [][]byte{script(int(10 * h)), script(int(10*h + 1)), script(int(10*h + 2))}
		e.Filter = bytes.Clone(b.Build(&e.Block, scripts))
		e.FilterHash = chainhash.DoubleHashH(e.Filter)
		entries, prev = append(entries, e), e.Block
	}
	if err := store.Append(entries); err != nil {
		t.Fatal(err)
	}
	if err := store.SetTip(&prev); err != nil {
		t.Fatal(err)
	}
	for left := 1; left > 0; {
		if left, err = store.AddProbes(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return store, &chainview.Block{Hash: prev, Height: height}
}

// The memory of a search without hits does not depend on its number of blocks, neither on the
// way nor at its end.
func TestMemoryOfLongScans(t *testing.T) {
	const short, factor = 1_000, 8
	type chain struct {
		store *segment.Store
		stop  *chainview.Block
	}
	var chains []chain
	for _, height := range []int32{short, short * factor} {
		store, stop := longStore(t, height)
		chains = append(chains, chain{store, stop})
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // so that nothing is thrown away meanwhile
	for _, scripts := range []int{1, 10, 300} {
		var sought [][]byte
		for i := range scripts {
			sought = append(sought, script(-1-i))
		}
		query := filters.NewQuery(sought)
		for name, keep := range map[string]func(context.Context, *chainhash.Hash) (bool, error){
			"plain": nil, "checked": func(context.Context, *chainhash.Hash) (bool, error) { return false, nil },
		} {
			var taken []uint64
			for _, c := range chains {
				least := ^uint64(0)
				for range 10 { // each reuses the memory of the last, except now and then under the race detector
					pass := match.New(match.Config{
						Source: filter.NewSource(c.store), Query: query, Stop: c.stop, Keep: keep, Exact: keep != nil,
					})
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					if left, err := pass.Work(t.Context(), match.Heights{}); err != nil || !left.Empty() {
						t.Fatal(left, err)
					}
					runtime.ReadMemStats(&after)
					if hits, _ := pass.Hits(); !pass.Complete() || keep != nil && len(hits) > 0 {
						t.Fatalf("complete: %v, %d hits", pass.Complete(), len(hits))
					}
					least = min(least, after.TotalAlloc-before.TotalAlloc)
				}
				taken = append(taken, least)
			}
			// Of 8,000 blocks one matches for each 100 scripts, by chance.
			if taken[1] > taken[0]+uint64(10*scripts) {
				t.Errorf("%d scripts, %s: %d bytes for %d blocks, %d for %d", scripts, name, taken[0], short, taken[1], short*factor)
			}
		}
	}
}
