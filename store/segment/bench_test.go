package segment

import (
	"encoding/binary"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// benchEntries are entries with filters of about 5 kB, as of blocks with
// 2,000 outputs, that follow the given one.
func benchEntries(from Entry, n int) []Entry {
	entries := make([]Entry, n)
	bytes := make([]byte, 5250*n)
	for i := range entries {
		filter := bytes[:4751+from.Height%500]
		bytes = bytes[len(filter):]
		binary.LittleEndian.PutUint32(filter, uint32(from.Height+1))
		entries[i] = Entry{
			Block: testBlock(0, int(from.Height)+1), Prev: from.Block, Height: from.Height + 1,
			FilterHash: chainhash.DoubleHashH(filter), Filter: filter,
		}
		from = entries[i]
	}
	return entries
}

// openBench opens an empty store with segments of the usual size.
func openBench(b *testing.B) *Store {
	b.Helper()
	s, err := Open(Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// BenchmarkScan reads, checks and passes over 100,000 filters.
func BenchmarkScan(b *testing.B) {
	const filters, unit = 100_000, 100
	s := openBench(b)
	last := Entry{Height: -1}
	var blocks []chainhash.Hash
	var size int64
	for len(blocks) < filters {
		entries := benchEntries(last, 1000)
		last = entries[len(entries)-1]
		mustAppend(b, s, entries)
		blocks = append(blocks, blocksOf(entries)...)
	}
	for _, info := range s.Segments() {
		size += info.Size
	}
	v := s.View()
	defer v.Release()
	dst := make([][]byte, unit)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for from := 0; from < filters; from += unit {
			if err := v.Filters(int32(from), blocks[from:from+unit], dst); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkAppend stores filters one by one, as at the tip, and in batches, as
// in the first indexing.
func BenchmarkAppend(b *testing.B) {
	for _, bench := range []struct {
		name  string
		batch int
	}{{"1", 1}, {"100", 100}} {
		b.Run(bench.name, func(b *testing.B) {
			s := openBench(b)
			last := Entry{Height: -1}
			for b.Loop() {
				b.StopTimer()
				entries := benchEntries(last, bench.batch)
				last = entries[len(entries)-1]
				b.StartTimer()
				mustAppend(b, s, entries)
			}
			b.ReportMetric(float64(b.N*bench.batch)/b.Elapsed().Seconds(), "filters/s")
		})
	}
}

// BenchmarkOpen opens a store of 100,000 filters.
func BenchmarkOpen(b *testing.B) {
	s := openBench(b)
	last := Entry{Height: -1}
	for range 100 {
		entries := benchEntries(last, 1000)
		last = entries[len(entries)-1]
		mustAppend(b, s, entries)
	}
	mustClose(b, s)
	for b.Loop() {
		s, err := Open(Options{Dir: s.dir})
		if err != nil {
			b.Fatal(err)
		}
		mustClose(b, s)
	}
}
