package bench

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/btcutil/gcs"
	"github.com/btcsuite/btcd/btcutil/gcs/builder"
	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/synth"
)

var (
	flagBlocks  = flag.Int("blocks", 500, "blocks of the chain to measure with")
	flagOutputs = flag.Int("outputs", 2_000, "outputs of each block")
	flagKernel  = flag.String("kernel", "", "kernel by which nodes scan; empty: the fastest")
	flagLayout  = flag.String("layout", "", "layout by which nodes scan; empty: auto")
	flagData    = flag.String("data", "data", "folder of chains and data directories")
)

// scriptCounts are the numbers of scripts that are looked for.
var scriptCounts = []int{1, 10, 100, 1_000, 10_000}

// threadCounts are the numbers of goroutines that match: one, and all.
func threadCounts() []int {
	if all := runtime.GOMAXPROCS(0); all > 1 {
		return []int{1, all}
	}
	return []int{1}
}

// method is how the nodes of the benchmarks scan.
func method(tb testing.TB) filters.Method {
	tb.Helper()
	m, err := filters.NewMethod(*flagKernel, *flagLayout)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func theChain() synth.Chain {
	return synth.Chain{Seed: 1, Blocks: *flagBlocks, Outputs: *flagOutputs}
}

// folder is where the chain's files are.
func folder(tb testing.TB) string {
	tb.Helper()
	dir, err := filepath.Abs(filepath.Join(*flagData, fmt.Sprintf("%dx%d", *flagBlocks, *flagOutputs)))
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// blockFile returns the path of the chain as a block file, which is written
// when it is not there.
func blockFile(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(folder(tb), "chain.dat")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	// Under another name until it is complete.
	file, err := os.Create(path + ".new")
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriterSize(file, 1<<20)
	_, err = theChain().WriteTo(w)
	if err := errors.Join(err, w.Flush(), file.Close(), os.Rename(file.Name(), path)); err != nil {
		tb.Fatal(err)
	}
	return path
}

// index is the filters of the chain, the genesis block's first.
type index struct {
	filters  []filters.Filter
	parsed   []*gcs.Filter // the same for btcutil
	elements int
	bytes    int

	answers map[string][]bool // of the oracle
}

// theIndex returns the filters, which are built the first time, on all cores.
var theIndex = sync.OnceValue(func() *index {
	progress("build %d filters of %d outputs in memory", *flagBlocks+1, *flagOutputs)
	var genesis bytes.Buffer
	params := &chaincfg.RegressionNetParams
	if err := params.GenesisBlock.Serialize(&genesis); err != nil {
		panic(err)
	}
	x := &index{
		filters: make([]filters.Filter, *flagBlocks+1), parsed: make([]*gcs.Filter, *flagBlocks+1),
		answers: map[string][]bool{},
	}
	blocks := make(chan synth.Block, 16)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			var maker filters.Builder
			for block := range blocks {
				x.set(&maker, block)
			}
		})
	}
	blocks <- synth.Block{Hash: *params.GenesisHash, Raw: genesis.Bytes()}
	for block := range theChain().All() {
		block.Raw = slices.Clone(block.Raw)
		blocks <- block
	}
	close(blocks)
	group.Wait()
	for i := range x.filters {
		x.elements += int(x.parsed[i].N())
		x.bytes += len(x.filters[i].Data)
	}
	return x
})

// set makes the filter of a block.
func (x *index) set(maker *filters.Builder, block synth.Block) {
	data, err := maker.BuildBlock(&block.Hash, block.Raw, filters.HeaderLen, nil)
	if err != nil {
		panic(err)
	}
	parsed, err := gcs.FromNBytes(filters.P, filters.M, data)
	if err != nil {
		panic(err)
	}
	f := filters.Filter{Block: block.Hash, Data: data, Unsure: true, Sum: crc32.ChecksumIEEE(data)}
	if f.Lines, f.N, err = filters.AppendLines(nil, &f.Block, data); err != nil {
		panic(err)
	}
	f.LinesSum = crc32.ChecksumIEEE(f.Lines)
	x.filters[block.Height], x.parsed[block.Height] = f, parsed
}

// answer returns what btcutil's ZipMatchAny says of every filter, the only one
// of its ways that is exact for filters of any size. name is of the scripts.
func (x *index) answer(tb testing.TB, name string, scripts [][]byte) []bool {
	tb.Helper()
	if hits, ok := x.answers[name]; ok {
		return hits
	}
	hits := make([]bool, len(x.filters))
	if err := x.each(runtime.GOMAXPROCS(0), func(from, to int) error {
		return x.btcutil((*gcs.Filter).ZipMatchAny, scripts, from, hits[from:to])
	}); err != nil {
		tb.Fatal(err)
	}
	x.answers[name] = hits
	return hits
}

// matchAny is one of btcutil's ways to match.
type matchAny func(f *gcs.Filter, key [gcs.KeySize]byte, scripts [][]byte) (bool, error)

// btcutil matches the filters from the given one on, one by one.
func (x *index) btcutil(match matchAny, scripts [][]byte, from int, hits []bool) error {
	for i := range hits {
		var err error
		hits[i], err = match(x.parsed[from+i], builder.DeriveKey(&x.filters[from+i].Block), scripts)
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	// maxUnit is how many filters a goroutine takes at a time, unless there are
	// few, and minUnit how many a kernel works on side by side.
	maxUnit, minUnit = 128, 32

	// shares is how many units there are for each goroutine at least, if so many
	// can be, so that all end about together.
	shares = 8
)

// each lets goroutines work on all filters, unit by unit.
func (x *index) each(threads int, work func(from, to int) error) error {
	return x.eachWith(threads, func() func(int, int) error { return work })
}

// eachWith is each for work that needs something of its own in every goroutine.
func (x *index) eachWith(threads int, worker func() func(from, to int) error) error {
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, threads)
	unit := min(max(len(x.filters)/(threads*shares*minUnit), 1)*minUnit, maxUnit)
	for t := range threads {
		work := worker()
		group.Go(func() {
			for errs[t] == nil {
				from := int(next.Add(int64(unit))) - unit
				if from >= len(x.filters) {
					return
				}
				errs[t] = work(from, min(from+unit, len(x.filters)))
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
