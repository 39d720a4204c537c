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

// fullPart is the part of the store that the projection is made of: as much as
// BenchmarkStore has.
const fullPart = 48 * rangeBlocks * storeItems

// fullPairs is how often the part and the whole are scanned from memory, in turns.
const fullPairs = 3

// BenchmarkFull scans a store of the main chain's size, or of -elements, first from the
// disk alone and then from memory. Before a cold scan the store is closed and its files
// are dropped from the page cache. Then open-ms is the time to open the store again, and
// cold-ms the time of the first scan after that. For both, read-GB is how much the system
// read, and cold-cpu-ms the processor time. In dd-ms as many bytes of the same files,
// dropped again, are read one after the other, with the processor time dd-cpu-ms. In a
// virtual machine whose host takes back free memory, each page costs that time again, for
// a scan as for any other reader. The time ms is of the same scan repeated. It runs in
// memory if all fits, which warm-read-GB shows.
//
// proj-ms is the time of a scan of the last filters alone, taken to the elements of all.
// Between two of these scans all others have been read, so that the processor's caches
// hold as little of the part as they can hold of the whole.
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

// fullRounds are the times of a store's scans.
type fullRounds struct {
	opened, cold, used, dd, ddUsed, warm, projected []time.Duration
	read, warmRead                                  uint64 // of the last round
}

func benchmarkFull(b *testing.B, dir string, k int) {
	b.Helper()
	query := filters.NewQuery(theChain().Queries(k))
	ranges := k >= 100 // for few scripts range filters are not asked
	var r fullRounds
	for b.Loop() {
		progress("from the disk, for %d scripts", k)
		drop(b, dir)
		before, used, began := bytesRead(b), cpuTime(), time.Now()
		store := openStore(b, dir)
		r.opened = append(r.opened, time.Since(began))
		scan := newStoreScan(store, query, math.MaxInt)
		r.cold = append(r.cold, timedScan(b, scan, ranges))
		r.used = append(r.used, cpuTime()-used)
		r.read = bytesRead(b) - before
		progress("the same from memory")
		r.fromMemory(b, scan, newStoreScan(store, query, fullPart), ranges)
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
		progress("as many bytes alone")
		drop(b, dir)
		used, began = cpuTime(), time.Now()
		readFiles(b, dir, r.read)
		r.dd = append(r.dd, time.Since(began))
		r.ddUsed = append(r.ddUsed, cpuTime()-used)
	}
	r.report(b)
}

// fromMemory scans the whole store and a part in turns, once it is in memory.
func (r *fullRounds) fromMemory(b *testing.B, whole, part *storeScan, ranges bool) {
	b.Helper()
	timedScan(b, whole, ranges) // brings back what the cold scan did not need to keep
	times := float64(whole.blocks()) / float64(part.blocks())
	r.warmRead = 0
	for range fullPairs {
		r.projected = append(r.projected, time.Duration(float64(timedScan(b, part, ranges))*times))
		before := bytesRead(b)
		r.warm = append(r.warm, timedScan(b, whole, ranges))
		r.warmRead = max(r.warmRead, bytesRead(b)-before)
	}
}

func (r *fullRounds) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(median(r.cold)), "ns/op")
	b.ReportMetric(milliseconds(median(r.opened)), "open-ms")
	b.ReportMetric(milliseconds(median(r.cold)), "cold-ms")
	b.ReportMetric(milliseconds(median(r.used)), "cold-cpu-ms")
	b.ReportMetric(milliseconds(median(r.dd)), "dd-ms")
	b.ReportMetric(milliseconds(median(r.ddUsed)), "dd-cpu-ms")
	b.ReportMetric(ratio(median(r.opened)+median(r.cold), median(r.dd)), "x-dd")
	b.ReportMetric(float64(r.read)/1e9, "read-GB")
	b.ReportMetric(milliseconds(median(r.warm)), "ms")
	b.ReportMetric(milliseconds(median(r.projected)), "proj-ms")
	b.ReportMetric(ratio(median(r.warm), median(r.projected)), "x-proj")
	b.ReportMetric(float64(r.warmRead)/1e9, "warm-read-GB")
	b.ReportMetric(float64(*flagElements)/1e6, "Melt")
	reportLoad(b)
}

// timedScan makes a scan and returns how long it took.
func timedScan(b *testing.B, scan *storeScan, ranges bool) time.Duration {
	b.Helper()
	began := time.Now()
	mustScan(b, scan, ranges)
	return time.Since(began)
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
