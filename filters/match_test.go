package filters_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/filters"
)

// TestMatch compares a matcher with btcutil, over filters of many sizes in one
// batch and queries of many sizes. Half of the filters have a script of the
// query. 6,000 elements are beyond 32-bit values.
func TestMatch(t *testing.T) {
	eachKernel(t, testMatch)
}

func testMatch(t *testing.T) {
	t.Helper()
	sizes := []int{0, 1, 2, 3, 4, 5, 7, 16, 60, 61, 62, 250, 252, 253, 254, 1_000, 1_001, 2_000, 6_000}
	for _, k := range []int{0, 1, 2, 3, 10, 33, 100, 255, 256, 257, 1_000, 3_000} {
		rng := newRand(uint64(k))
		scripts := randomScripts(rng, k, scriptKinds)
		var builder filters.Builder
		var batch []filters.Filter
		for _, n := range slices.Concat(sizes, sizes) {
			hash := randomHash(rng)
			elements := randomScripts(rng, n, usualKinds)
			if k > 0 && n > 0 && rng.IntN(2) == 0 {
				elements[0] = scripts[rng.IntN(k)]
			}
			batch = append(batch, filters.Filter{Block: hash, Data: builder.Build(&hash, elements)})
		}
		rng.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
		checkMatch(t, batch, scripts)
	}
}

// TestMatchEveryScript matches one filter for each script of a query, by both
// ways of looking scripts up.
func TestMatchEveryScript(t *testing.T) { eachKernel(t, testMatchEveryScript) }

func testMatchEveryScript(t *testing.T) {
	t.Helper()
	rng := newRand(8)
	scripts := randomScripts(rng, 600, []int{22, 34})
	more := randomScripts(rng, 10_000, usualKinds)
	hash := randomHash(rng)
	var builder filters.Builder
	batch := make([]filters.Filter, len(scripts))
	for i, script := range scripts {
		batch[i] = filters.Filter{Block: hash, Data: builder.Build(&hash, [][]byte{script})}
	}
	checkMatch(t, batch, scripts)
	for i, script := range scripts[:20] {
		batch[i].Data = builder.Build(&hash, append(more, script))
	}
	checkMatch(t, batch[:20], scripts[:20])
}

func checkMatch(t *testing.T, batch []filters.Filter, scripts [][]byte) {
	t.Helper()
	hits := make([]bool, len(batch))
	if err := newMatcher(filters.NewQuery(scripts)).Match(batch, hits); err != nil {
		t.Fatal(err)
	}
	for i, f := range batch {
		if want := oracleMatch(t, &f.Block, f.Data, scripts); hits[i] != want {
			t.Errorf("%d scripts, filter of %d bytes: got %v, want %v", len(scripts), len(f.Data), hits[i], want)
		}
	}
}

// TestMatchValues matches filters of values spread in all ways, long runs and
// crowds, which hold the hash of a script or its neighbours.
func TestMatchValues(t *testing.T) { eachKernel(t, testMatchValues) }

func testMatchValues(t *testing.T) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		rng := newRand(rapid.Uint64().Draw(t, "seed"))
		scripts := randomScripts(rng, rapid.IntRange(1, 300).Draw(t, "scripts"), usualKinds)
		var batch []filters.Filter
		for range rapid.SampledFrom([]int{1, 2, 3, 4, 5, 40}).Draw(t, "filters") {
			values := drawValues(t, 400)
			hash := randomHash(rng)
			if len(values) > 0 {
				plant(rng, &hash, values, scripts)
			}
			batch = append(batch, filters.Filter{Block: hash, Data: filters.Encode(values)})
		}
		hits := make([]bool, len(batch))
		if err := newMatcher(filters.NewQuery(scripts)).Match(batch, hits); err != nil {
			t.Fatal(err)
		}
		for i, f := range batch {
			values, _ := slowDecode(f.Data)
			want := slices.ContainsFunc(scripts, func(script []byte) bool {
				_, found := slices.BinarySearch(values, filters.HashScript(&f.Block, script, len(values)))
				return found
			})
			if hits[i] != want {
				t.Fatalf("filter %d of %d values: got %v, want %v", i, len(values), hits[i], want)
			}
		}
	})
}

// plant puts the hash of a script, or a number beside it, among the values.
func plant(rng *rand.Rand, hash *chainhash.Hash, values []uint64, scripts [][]byte) {
	limit := uint64(len(values)) * filters.M
	v := filters.HashScript(hash, scripts[rng.IntN(len(scripts))], len(values))
	values[rng.IntN(len(values))] = min(v+rng.Uint64N(2), limit-1)
	slices.Sort(values)
}

// TestMatchDamaged matches batches with damaged filters between good ones.
func TestMatchDamaged(t *testing.T) { eachKernel(t, testMatchDamaged) }

func testMatchDamaged(t *testing.T) {
	t.Helper()
	rng := newRand(4)
	scripts := randomScripts(rng, 5, usualKinds)
	var builder filters.Builder
	good := make([]filters.Filter, 8)
	for i := range good {
		hash := randomHash(rng)
		good[i] = filters.Filter{
			Block: hash, Data: builder.Build(&hash, append(randomScripts(rng, 50, usualKinds), scripts[0])),
		}
	}
	last := len(good[0].Data) - 1
	for _, data := range [][]byte{
		nil, {1}, {0, 0}, good[0].Data[:last], good[0].Data[:last/2], append(good[0].Data[:last+1:last+1], 0),
	} {
		for _, where := range [][]int{{0}, {7}, {3, 4}, {6, 2}, {0, 1, 2, 3, 4, 5, 6, 7}} {
			batch := slices.Clone(good)
			for _, i := range where {
				batch[i].Data = data
			}
			hits := make([]bool, len(batch))
			err := newMatcher(filters.NewQuery(scripts)).Match(batch, hits)
			var bad *filters.BatchError
			if !errors.As(err, &bad) || !errors.Is(err, filters.ErrBadFilter) || bad.Index != slices.Min(where) {
				t.Fatalf("damage at %v: got %v", where, err)
			}
			for i, hit := range hits {
				if hit == slices.Contains(where, i) {
					t.Errorf("damage at %v: hits[%d] is %v", where, i, hit)
				}
			}
		}
	}
	if hit, err := filters.Match(&good[0].Block, []byte{1}, scripts); hit || !errors.Is(err, filters.ErrBadFilter) {
		t.Errorf("got %v and %v, want ErrBadFilter", hit, err)
	}
}

// TestMatchEmptyScript: an empty script hashes like any other.
func TestMatchEmptyScript(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		t.Helper()
		var hash chainhash.Hash
		var builder filters.Builder
		filter := builder.Build(&hash, [][]byte{{}, {1}})
		for _, scripts := range [][][]byte{{{}}, {nil}, {{}, {2}}} {
			if hit, err := filters.Match(&hash, filter, scripts); !hit || err != nil {
				t.Errorf("%x: got %v and %v, want a hit", scripts, hit, err)
			}
		}
	})
}

func TestMatchAllocatesNothing(t *testing.T) { eachKernel(t, testMatchAllocatesNothing) }

func testMatchAllocatesNothing(t *testing.T) {
	t.Helper()
	rng := newRand(5)
	hash := randomHash(rng)
	var builder filters.Builder
	batch := make([]filters.Filter, 9)
	for i := range batch {
		batch[i] = filters.Filter{Block: hash, Data: builder.Build(&hash, randomScripts(rng, 100*i, usualKinds))}
	}
	hits := make([]bool, len(batch))
	for _, k := range []int{1, 500} {
		m := newMatcher(filters.NewQuery(randomScripts(rng, k, usualKinds)))
		allocs := testing.AllocsPerRun(10, func() { m.Match(batch, hits) })
		if allocs != 0 {
			t.Errorf("%d scripts: %v allocations", k, allocs)
		}
	}
}

// TestQueryIsShared matches from several goroutines with one query.
func TestQueryIsShared(t *testing.T) {
	rng := newRand(6)
	scripts := randomScripts(rng, 100, usualKinds)
	q := filters.NewQuery(scripts)
	hash := randomHash(rng)
	var builder filters.Builder
	batch := []filters.Filter{{Block: hash, Data: builder.Build(&hash, scripts[:1])}}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var hits [1]bool
			if err := newMatcher(q).Match(batch, hits[:]); err != nil || !hits[0] {
				t.Errorf("got %v and %v, want a hit", hits[0], err)
			}
		})
	}
	wg.Wait()
}
