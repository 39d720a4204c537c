package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/big"
	"runtime"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/rangefilter"
	"github.com/seed61375155/trawl/internal/synth"
)

// manyCounts are numbers of scripts with which filters say less and less.
var manyCounts = []int{10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000}

// outputCounts are how many outputs blocks create, and spend as many.
var outputCounts = []int{100, 1_000, 3_000}

// sampleBlocks is how many blocks are enough for so many scripts.
const sampleBlocks = 200

// BenchmarkManyScripts scans for very many scripts, none of which the chain has, with filter_false_positives. It
// scans by filters, by filters that range filters narrow, by the blocks themselves, and by the faster of the first
// and the third as measured. All is in memory. A range has 100 blocks here and 2,048 in a real store, where twenty
// times as many blocks share a lookup in the range. The table Cross tells from how many scripts on blocks are
// faster.
func BenchmarkManyScripts(b *testing.B) {
	for _, outputs := range outputCounts {
		m := newManyChain(b, outputs)
		for _, k := range manyCounts {
			b.Run(fmt.Sprintf("outputs=%d/k=%d", outputs, k), func(b *testing.B) { m.benchmark(b, k) })
		}
		b.Run(fmt.Sprintf("cross/outputs=%d", outputs), func(b *testing.B) {
			for b.Loop() {
				cross := m.crossing(b)
				b.ReportMetric(float64(cross), "scripts")
			}
		})
	}
}

func (m *manyChain) benchmark(b *testing.B, k int) {
	b.Helper()
	progress("scan for %d scripts in blocks of %d outputs", k, m.outputs)
	before := heapInUse()
	query := manyScripts(k)
	took := heapInUse() - before
	var ways []*contender
	for _, way := range []match.Way{match.WayAuto, match.WayFilters, match.WayBlocks} {
		ways = append(ways, &contender{run: func() error { return m.scan(m, query, way) }})
	}
	ways = append(ways, &contender{run: func() error { return m.scan(m.ranged(query), query, match.WayFilters) }})
	compete(b, ways...)
	each := func(c *contender) float64 { return float64(c.median()) / 1000 / float64(len(m.filters)) }
	b.ReportMetric(each(ways[0]), "us/block")
	b.ReportMetric(each(ways[1]), "filters-us/block")
	b.ReportMetric(each(ways[2]), "blocks-us/block")
	b.ReportMetric(each(ways[3]), "ranges-us/block")
	b.ReportMetric(float64(m.bytes)/1000/float64(len(m.filters)), "kB/block")
	b.ReportMetric(float64(took)/float64(k), "B/script")
	runtime.KeepAlive(query)
}

func heapInUse() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// manyScripts returns a query for scripts that no generated chain has.
func manyScripts(k int) *filters.Query {
	b := filters.NewQueryBuilder(0)
	script := []byte{0x00, 0x14, 21: 0xff}
	for i := range k {
		binary.LittleEndian.PutUint64(script[2:], uint64(i)*0x9e3779b97f4a7c15)
		b.Add(script)
	}
	return b.Query()
}

// manyChain is a chain in memory, whose blocks spend what the block before created.
type manyChain struct {
	chainview.Reader

	outputs int
	tip     *chainview.Block
	raw     [][]byte
	spent   [][][]byte
	filters []filters.Filter
	heights map[chainhash.Hash]int
	ranges  []*rangefilter.Filter
	bytes   int
}

// manyRange is how many blocks a range filter is about: few, so that each core has some.
const manyRange = 100

func newManyChain(b *testing.B, outputs int) *manyChain {
	b.Helper()
	m := &manyChain{outputs: outputs, heights: map[chainhash.Hash]int{}}
	var maker filters.Builder
	var created [][]byte
	chain := synth.Chain{Seed: 1, Blocks: sampleBlocks, Outputs: outputs}
	for block := range chain.All() {
		var header wire.BlockHeader
		raw, spent := slices.Clone(block.Raw), created
		created = nil
		err := filters.EachOutputScript(raw, filters.HeaderLen, func(script []byte) bool {
			created = append(created, script)
			return true
		})
		if err != nil {
			b.Fatal(err)
		}
		data, err := maker.BuildBlock(&block.Hash, raw, filters.HeaderLen, spent)
		if err != nil {
			b.Fatal(err)
		}
		m.tip = chainview.NewBlock(m.tip, &header, big.NewInt(1))
		m.tip.Hash, m.heights[block.Hash] = block.Hash, len(m.raw)
		m.raw, m.spent = append(m.raw, raw), append(m.spent, spent)
		m.filters = append(m.filters, filters.Filter{
			Block: block.Hash, Data: data, Unsure: true, Sum: crc32.ChecksumIEEE(data),
		})
		m.bytes += len(raw)
	}
	for from := 0; from < len(m.raw); from += manyRange {
		m.ranges = append(m.ranges, m.rangeFilter(b, from))
	}
	return m
}

// rangeFilter makes the filter of the scripts of blocks from one on.
func (m *manyChain) rangeFilter(b *testing.B, from int) *rangefilter.Filter {
	b.Helper()
	data, err := rangefilter.Build(func(add func(hash uint64)) error {
		take := func(script []byte) bool {
			add(rangefilter.Key{}.Hash(script))
			return true
		}
		for at := from; at < min(from+manyRange, len(m.raw)); at++ {
			if err := filters.EachOutputScript(m.raw[at], filters.HeaderLen, take); err != nil {
				return err
			}
			for _, script := range m.spent[at] {
				take(script)
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	filter, err := rangefilter.Parse(data)
	if err != nil {
		b.Fatal(err)
	}
	return filter
}

// rangedSource is the chain with its range filters, in which the scripts of a query are looked up.
type rangedSource struct {
	*manyChain

	hashes []uint64
}

func (m *manyChain) ranged(query *filters.Query) match.Source {
	s := rangedSource{m, make([]uint64, 0, query.Len())}
	for script := range query.Scripts() {
		s.hashes = append(s.hashes, rangefilter.Key{}.Hash(script))
	}
	return s
}

// View implements match.Source.
func (s rangedSource) View() match.View {
	return &rangedView{manyView: manyView{s.manyChain}, hashes: s.hashes}
}

type rangedView struct {
	manyView

	hashes   []uint64
	selector rangefilter.Selector
}

// RangeEnd implements match.View.
func (*rangedView) RangeEnd(height int32) int32 { return height - height%manyRange + manyRange }

// Restrict implements match.View.
func (v *rangedView) Restrict(height int32, q *filters.Query) (sub *filters.Query, to int32) {
	return q.Select(v.selector.Select(nil, v.ranges[height/manyRange], v.hashes)), v.RangeEnd(height)
}

// Raw implements chainview.Reader.
func (m *manyChain) Raw(hash *chainhash.Hash) ([]byte, error) { return m.raw[m.heights[*hash]], nil }

// SpentScripts implements chainview.Reader.
func (m *manyChain) SpentScripts(hash *chainhash.Hash) ([][]byte, error) {
	return m.spent[m.heights[*hash]], nil
}

// View implements match.Source.
func (m *manyChain) View() match.View { return manyView{m} }

type manyView struct{ *manyChain }

func (manyView) Active(int32, *chainhash.Hash) bool { return true }

func (v manyView) Filters(from int32, _ bool, dst []filters.Filter) error {
	copy(dst, v.filters[from:])
	return nil
}

func (manyView) Restrict(height int32, q *filters.Query) (*filters.Query, int32) { return q, height }
func (manyView) RangeEnd(height int32) int32                                     { return height }
func (manyView) Stale(*chainhash.Hash)                                           {}
func (manyView) Guard(read func()) error                                         { read(); return nil }
func (manyView) Release()                                                        {}

// scan looks for a query on all cores, which must not be found.
func (m *manyChain) scan(source match.Source, query *filters.Query, way match.Way) error {
	headerLen := func([]byte) int { return filters.HeaderLen }
	s := match.NewScheduler(match.SchedulerConfig{Source: source, Way: way, Workers: runtime.GOMAXPROCS(0)})
	pass := s.NewPass(match.Config{
		Query: query, Stop: m.tip, Exact: true,
		Keep: func(_ context.Context, block *chainhash.Hash) (bool, error) {
			at := m.heights[*block]
			return query.InBlock(m.raw[at], filters.HeaderLen, m.spent[at])
		},
		Blocks: &match.Blocks{Reader: m, HeaderLen: headerLen},
	})
	if err := s.Run(context.Background(), pass); err != nil {
		return err
	}
	if hits, _ := pass.Hits(); len(hits) > 0 {
		return fmt.Errorf("%w: %d hits", errWrongAnswer, len(hits))
	}
	return nil
}

// crossing returns about up to how many scripts filters are faster.
func (m *manyChain) crossing(b *testing.B) int {
	b.Helper()
	progress("where blocks of %d outputs become faster", m.outputs)
	const step = 1_000
	return step * synth.FindCrossing(manyCounts[len(manyCounts)-1]/step, func(k int) bool {
		query := manyScripts(k * step)
		byFilters := &contender{run: func() error { return m.scan(m, query, match.WayFilters) }}
		byBlocks := &contender{run: func() error { return m.scan(m, query, match.WayBlocks) }}
		for range 3 {
			for _, c := range []*contender{byFilters, byBlocks} {
				if err := c.measure(); err != nil {
					b.Fatal(err)
				}
			}
		}
		return byFilters.best() < byBlocks.best()
	})
}
