package match_test

import (
	"context"
	"encoding/binary"
	"runtime"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
)

// A million scripts take at most 64 bytes each. A pass finds by itself that looking into blocks is
// the faster way, and has the same hits as with filters.
func TestMillionScripts(t *testing.T) {
	const million = 1_000_000
	s := newSource(400)
	before := heap()
	b := filters.NewQueryBuilder(0)
	var other [22]byte
	for i := range million - 2 {
		binary.LittleEndian.PutUint64(other[8:], uint64(i))
		b.Add(other[:])
	}
	b.Add(script(3))
	b.Add(script(7))
	query := b.Query()
	// 24 bytes of each script, 4 for its place, and at most 8 of each of two million cells.
	if took := heap() - before; took > million*64 {
		t.Errorf("%d bytes for each script", took/million)
	}
	run := func(way match.Way) (found []int32, looks int) {
		l := &looker{chain: s.chain, query: query}
		pass := match.New(match.Config{
			Source: s, Query: query, First: 1, Stop: s.chain.Active().Tip(), Exact: true, Way: way,
			Keep: func(ctx context.Context, block *chainhash.Hash) (bool, error) {
				looks++
				return l.keep(ctx, block)
			},
			Blocks: &match.Blocks{Reader: s.chain, HeaderLen: func([]byte) int { return filters.HeaderLen }},
		})
		if left, err := pass.Work(t.Context(), match.Heights{}); err != nil || !left.Empty() {
			t.Fatal(left, err)
		}
		hits, _ := pass.Hits()
		return heights(hits), looks
	}
	byFilters, candidates := run(match.WayFilters)
	byBlocks, none := run(match.WayBlocks)
	auto, some := run(match.WayAuto)
	if len(byFilters) != 80 || !slices.Equal(byBlocks, byFilters) || !slices.Equal(auto, byFilters) {
		t.Errorf("%d hits by filters, %d by blocks, %d by what is faster", len(byFilters), len(byBlocks), len(auto))
	}
	if candidates < 200 || none != 0 || some > candidates/2 {
		t.Errorf("%d looks after filters, %d without, %d by what is faster", candidates, none, some)
	}
	runtime.KeepAlive(query)
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
