package bench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/seed61375155/trawl/filters"
)

// fullCounts are the numbers of scripts of BenchmarkFull.
var fullCounts = []int{1, 100, 1_000, 10_000, 100_000, 1_000_000}

// BenchmarkFull scans a store of the main chain's size, or of -elements, first from the
// disk alone and then from memory. Before a cold scan the store is closed and its files
// are dropped from the page cache; open-ms is what it takes to open it again, cold-ms
// the first scan's time after that, read-GB what the system read for both. dd-ms is the
// time to read as many bytes of the same files, dropped again, one after the other. ms
// is the time of the same scan once it has been made: in memory, where all fits.
//
// Nothing that is looked for is there; what is found is compared with the first scan.
func BenchmarkFull(b *testing.B) {
	progress("open or make the store of %d elements", *flagElements)
	dir := storeDir(b)
	if err := generatedStore(b).Close(); err != nil {
		b.Fatal(err)
	}
	for _, k := range fullCounts {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) { benchmarkFull(b, dir, k) })
	}
}

func benchmarkFull(b *testing.B, dir string, k int) {
	b.Helper()
	query := filters.NewQuery(theChain().Queries(k))
	ranges := k >= 100 // for few scripts range filters are not asked
	var opened, cold, warm, dd []time.Duration
	var read uint64
	for b.Loop() {
		progress("from the disk, for %d scripts", k)
		drop(b, dir)
		before, began := bytesRead(b), time.Now()
		store := openStore(b, dir)
		opened = append(opened, time.Since(began))
		scan := newStoreScan(store, query, math.MaxInt)
		began = time.Now()
		mustScan(b, scan, ranges)
		cold = append(cold, time.Since(began))
		read = bytesRead(b) - before
		progress("the same from memory")
		for range 2 { // the first brings back what the cold scan did not need to keep
			began = time.Now()
			mustScan(b, scan, ranges)
		}
		warm = append(warm, time.Since(began))
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
		progress("as many bytes alone")
		drop(b, dir)
		began = time.Now()
		readFiles(b, dir, read)
		dd = append(dd, time.Since(began))
	}
	b.ReportMetric(float64(median(cold)), "ns/op")
	b.ReportMetric(milliseconds(median(opened)), "open-ms")
	b.ReportMetric(milliseconds(median(cold)), "cold-ms")
	b.ReportMetric(milliseconds(median(dd)), "dd-ms")
	b.ReportMetric(ratio(median(opened)+median(cold), median(dd)), "x-dd")
	b.ReportMetric(float64(read)/1e9, "read-GB")
	b.ReportMetric(milliseconds(median(warm)), "ms")
	b.ReportMetric(float64(*flagElements)/1e6, "Melt")
	reportLoad(b)
}

func mustScan(b *testing.B, scan *storeScan, ranges bool) {
	b.Helper()
	if err := scan.run(b, method(b), runtime.GOMAXPROCS(0), ranges); err != nil {
		b.Fatal(err)
	}
}

// storeFiles returns the files of a store, in the order of their names.
func storeFiles(b *testing.B, dir string) (files []string) {
	b.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	slices.Sort(files)
	return files
}

// drop writes what is not yet on the disk and takes the files of a store, which nothing
// maps any more, out of the page cache.
func drop(b *testing.B, dir string) {
	b.Helper()
	debug.FreeOSMemory()
	var left, size int64
	for _, path := range storeFiles(b, dir) {
		kept, of, err := dropFile(path)
		if err != nil {
			b.Fatal(err)
		}
		left, size = left+kept, size+of
	}
	if left > size/100 {
		b.Fatalf("%d of %d bytes are still in memory", left, size)
	}
}

// readFiles reads so many bytes of a store's files, one after the other.
func readFiles(b *testing.B, dir string, count uint64) {
	b.Helper()
	buffer := make([]byte, 1<<20)
	for _, path := range storeFiles(b, dir) {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		for count > 0 {
			n, err := f.Read(buffer)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			count -= min(count, uint64(n))
		}
		f.Close()
	}
}
