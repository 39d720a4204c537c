package bench

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/rangefilter"
	"github.com/seed61375155/trawl/store/segment"
)

var flagElements = flag.Int("elements", 2_000_000, "elements of the store of BenchmarkStore")

const (
	// storeItems is the size of a store's filters, that of full blocks.
	storeItems = 5_000

	// rangeBlocks is for how many blocks there is a range filter.
	rangeBlocks = 2_048

	// mainElements is about how many elements the filters of the main chain have
	// at height 900,000.
	mainElements = 4.6e9
)

// BenchmarkStore runs passes of scans over a store on the disk, as the scanner
// does after its preparations, with all checksums. Its filters have 5,000 random
// elements and are in the page cache. The passes are as the node chooses, by
// decoding alone, by decoding with the portable kernel, and with range filters,
// which the node uses where blocks are looked into. The time main-s is scaled to
// the elements of the main chain at height 900,000. It is the time of a scan with
// all filters (12.1 GB), their probe lines (3.5 GB) and range filters (5.2 GB) in
// memory. No wanted script is in the store; the results are compared.
//
// The passes end with the last full range of blocks, as range filters do. For
// 10,000 scripts and more they are over the last filters before: Melt tells of how
// many elements. Rows of more than one goroutine are left out where others had the
// processors.
func BenchmarkStore(b *testing.B) {
	progress("open or make the store of %d elements", *flagElements)
	store := generatedStore(b)
	for _, k := range slices.Concat(scriptCounts, []int{100_000}) {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) { benchmarkStore(b, store, k) })
	}
}

// storeParts are how many elements are enough to look for up to k scripts in,
// without and with range filters.
var storeParts = []struct{ k, plain, ranged int }{
	{1_000, math.MaxInt, math.MaxInt},
	{10_000, 50_000_000, math.MaxInt},
	{100_000, 5_000_000, 20 * rangeBlocks * storeItems},
}

// A storeWay is a kernel and a layout.
type storeWay struct {
	kernel string
	layout filters.Layout
}

// A storeRow is a way to scan the store.
type storeRow struct {
	threads int
	storeWay
	ranges   bool
	elements float64
	*contender
}

func benchmarkStore(b *testing.B, store *segment.Store, k int) {
	b.Helper()
	progress("scan the store for %d scripts", k)
	query := filters.NewQuery(theChain().Queries(k))
	part := storeParts[slices.IndexFunc(storeParts, func(p struct{ k, plain, ranged int }) bool { return k <= p.k })]
	plain, ranged := newStoreScan(store, query, part.plain), newStoreScan(store, query, part.ranged)
	best := storeWay{method(b).Kernel(), filters.LayoutAuto}
	var rows []storeRow
	var all []*contender
	for _, threads := range threadCounts() {
		ways := []storeRow{
			{storeWay: best},
			{storeWay: storeWay{best.kernel, filters.LayoutPlain}},
			{storeWay: storeWay{"portable", filters.LayoutPlain}},
		}
		if k >= 100 { // for few scripts range filters are not asked
			ways = append(ways, storeRow{storeWay: best, ranges: true})
		}
		for _, row := range ways {
			scan := plain
			if row.ranges {
				scan = ranged
			}
			row.threads, row.elements = threads, float64(scan.blocks())*storeItems
			by, err := filters.NewMethod(row.kernel, string(row.layout))
			if err != nil {
				b.Fatal(err)
			}
			row.contender = &contender{run: func() error { return scan.run(b, by, threads, row.ranges) }}
			rows = append(rows, row)
			all = append(all, row.contender)
		}
	}
	measureRounds(b, all)
	for _, row := range rows {
		name := fmt.Sprintf("threads=%d/kernel=%s/layout=%s/ranges=%v", row.threads, row.kernel, row.layout, row.ranges)
		b.Run(name, func(b *testing.B) {
			row.skipUnlessAlone(b, row.threads)
			for b.Loop() {
				continue // was measured with the others
			}
			row.reportRound(b)
			b.ReportMetric(milliseconds(row.median()), "ms")
			b.ReportMetric(float64(row.median())/row.elements, "ns/elt")
			b.ReportMetric(row.median().Seconds()*mainElements/row.elements, "main-s")
			b.ReportMetric(row.elements/1e6, "Melt")
		})
	}
}

// storeScan is a scan of some of the store's filters.
type storeScan struct {
	store       *segment.Store
	query       *filters.Query
	first, last int32

	hits   []match.Hit // of the first pass
	found  bool        // they are known
	ranged []match.Hit // of the first pass with range filters; nil: there was none
}

// newStoreScan returns a scan of the last elements, so many or all.
func newStoreScan(store *segment.Store, query *filters.Query, elements int) *storeScan {
	blocks := store.Len()
	if blocks > rangeBlocks {
		blocks -= blocks % rangeBlocks
	}
	return &storeScan{
		store: store, query: query, first: int32(max(blocks-elements/storeItems, 0)), last: int32(blocks) - 1,
	}
}

func (s *storeScan) blocks() int { return int(s.last - s.first + 1) }

// run makes a pass, and holds what it found against the first pass of its kind, which is
// the same, and with range filters against the first one without too: nothing else.
func (s *storeScan) run(b *testing.B, by filters.Method, threads int, ranges bool) error {
	b.Helper()
	pass := match.New(match.Config{
		Source: filter.NewSource(s.store), Query: s.query, Method: by, Exact: ranges,
		First: s.first, Stop: &chainview.Block{Hash: generatedBlock(int(s.last)), Height: s.last},
	})
	if err := passWith(b, pass, threads); err != nil {
		return err
	}
	hits, _ := pass.Hits()
	if !s.found && !ranges {
		s.hits, s.found = hits, true
	}
	for _, hit := range hits {
		if _, known := slices.BinarySearchFunc(s.hits, hit, byHeight); s.found && !known {
			return errWrongAnswer
		}
	}
	if s.found && !ranges && len(hits) != len(s.hits) {
		return errWrongAnswer
	}
	if ranges && s.ranged == nil {
		s.ranged = append([]match.Hit{}, hits...)
	}
	if ranges && !slices.Equal(hits, s.ranged) {
		return errWrongAnswer
	}
	return nil
}

func byHeight(a, b match.Hit) int { return int(a.Height - b.Height) }

// passWith has goroutines work on a pass until all is done.
func passWith(b *testing.B, pass *match.Pass, threads int) error {
	b.Helper()
	errs := make(chan error, threads)
	for range threads {
		go func() {
			_, err := pass.Work(b.Context(), match.Heights{})
			errs <- err
		}()
	}
	for range threads {
		if err := <-errs; err != nil {
			return err
		}
	}
	if !pass.Complete() {
		return errWrongAnswer
	}
	return nil
}

// storeDir is the folder of the store.
func storeDir(b *testing.B) string {
	b.Helper()
	dir, err := filepath.Abs(filepath.Join(*flagData, fmt.Sprintf("store-%d", *flagElements)))
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

func openStore(b *testing.B, dir string) *segment.Store {
	b.Helper()
	store, err := segment.Open(segment.Options{Dir: dir, MakeLines: filters.AppendLines, RangeFilters: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	return store
}

// generatedStore opens the store, which is made the first time.
func generatedStore(b *testing.B) *segment.Store {
	b.Helper()
	store := openStore(b, storeDir(b))
	blocks := max(*flagElements/storeItems, 1)
	for store.Len() < blocks {
		if store.Len()%(16*1_024) == 0 {
			progress("filter %d of %d", store.Len(), blocks)
		}
		entries := generateEntries(store.Len(), min(1_024, blocks-store.Len()))
		if err := store.Append(entries); err != nil {
			b.Fatal(err)
		}
	}
	tip := generatedBlock(blocks - 1)
	if err := store.SetTip(&tip); err != nil {
		b.Fatal(err)
	}
	for store.WithoutProbes() > 0 {
		if _, err := store.AddProbes(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	generateRanges(b, store)
	return store
}

// generateRanges makes the range filters that are missing, of random hashes, one
// for each element.
func generateRanges(b *testing.B, store *segment.Store) {
	b.Helper()
	for {
		number, blocks, ok := store.NextRange()
		if !ok {
			return
		}
		if number%8 == 0 {
			progress("range filter %d", number)
		}
		data, err := rangefilter.Build(func(add func(hash uint64)) error {
			rng := rand.New(rand.NewPCG(uint64(number), 2_048))
			for range len(blocks) * storeItems {
				add(rng.Uint64())
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := store.PutRange(number, data); err != nil {
			b.Fatal(err)
		}
	}
}

func generatedBlock(height int) chainhash.Hash {
	return chainhash.HashH(binary.LittleEndian.AppendUint64([]byte("store"), uint64(height)))
}

// generateEntries makes n entries from a height on, on all cores.
func generateEntries(first, n int) []segment.Entry {
	entries := make([]segment.Entry, n)
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			values := make([]uint64, storeItems)
			for i := w; i < n; i += workers {
				entries[i] = generateEntry(first+i, values)
			}
		})
	}
	group.Wait()
	return entries
}

// generateEntry makes a filter of random elements, with gaps as between those of
// real filters.
func generateEntry(height int, values []uint64) segment.Entry {
	rng := rand.New(rand.NewPCG(uint64(height), 158))
	var last uint64
	for i := range values {
		// A little less than M apart, or the last of them may be out of range.
		last += uint64(rng.ExpFloat64() * 0.95 * filters.M)
		values[i] = min(last, uint64(len(values))*filters.M-1)
	}
	e := segment.Entry{
		Block: generatedBlock(height), Height: int32(height), Filter: slices.Clip(filters.Encode(values)),
	}
	if height > 0 {
		e.Prev = generatedBlock(height - 1)
	}
	e.FilterHash = filters.Hash(e.Filter)
	return e
}
