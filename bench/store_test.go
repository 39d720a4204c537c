package bench

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/store/segment"
)

var flagElements = flag.Int("elements", 2_000_000, "elements of the store of BenchmarkStore")

const (
	// storeItems is the size of a store's filters, that of full blocks.
	storeItems = 5_000

	// mainElements is about how many elements the filters of the main chain have
	// at height 900,000.
	mainElements = 4.6e9
)

// BenchmarkStore runs passes of scans over a store on the disk, of filters of
// 5,000 random elements that are in the page cache, with all checksums, as the
// scanner does after its preparations. main-s is the time taken to the number of
// elements of the main chain at height 900,000: what a scan of it takes where all
// of its filters, 12.1 GB, and their probe lines, 3.5 GB, are in memory.
func BenchmarkStore(b *testing.B) {
	store := generatedStore(b)
	for _, threads := range threadCounts() {
		for _, k := range scriptCounts {
			b.Run(fmt.Sprintf("threads=%d/k=%d", threads, k), func(b *testing.B) {
				benchmarkStore(b, store, threads, k)
			})
		}
	}
}

func benchmarkStore(b *testing.B, store *segment.Store, threads, k int) {
	b.Helper()
	height, tip, _ := store.Tip()
	query := filters.NewQuery(theChain().Queries(k))
	c := &contender{run: func() error {
		pass := match.New(match.Config{
			Source: scanner.Segments(store), Query: query, Stop: &chainview.Block{Hash: tip, Height: height},
		})
		return passWith(b, pass, threads)
	}}
	compete(b, c)
	elements := float64(height+1) * storeItems
	b.ReportMetric(float64(c.median())/elements, "ns/elt")
	b.ReportMetric(c.median().Seconds()*mainElements/elements, "main-s")
}

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

// generatedStore opens the store, which is made the first time.
func generatedStore(b *testing.B) *segment.Store {
	b.Helper()
	dir, err := filepath.Abs(filepath.Join(*flagData, fmt.Sprintf("store-%d", *flagElements)))
	if err != nil {
		b.Fatal(err)
	}
	store, err := segment.Open(segment.Options{Dir: dir, MakeLines: filters.AppendLines})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	blocks := max(*flagElements/storeItems, 1)
	for store.Len() < blocks {
		entries := generateEntries(store.Len(), min(1_024, blocks-store.Len()))
		if err := store.Append(entries); err != nil {
			b.Fatal(err)
		}
	}
	tip := generatedBlock(blocks - 1)
	if err := store.SetTip(&tip); err != nil {
		b.Fatal(err)
	}
	for store.Unlaid() > 0 {
		if _, err := store.Lay(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	return store
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
	e := segment.Entry{Block: generatedBlock(height), Height: int32(height), Filter: slices.Clip(filters.Encode(values))}
	if height > 0 {
		e.Prev = generatedBlock(height - 1)
	}
	e.FilterHash = filters.Hash(e.Filter)
	return e
}
