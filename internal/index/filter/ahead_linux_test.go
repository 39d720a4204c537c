package filter

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"golang.org/x/sys/unix"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/rangefilter"
	"github.com/seed61375155/trawl/store/segment"
)

const (
	testBlocks  = 2*2048 + 100
	testScripts = 40 // of a block
)

func testBlock(height int) chainhash.Hash {
	return chainhash.HashH(binary.LittleEndian.AppendUint64(nil, uint64(height)))
}

// testScript is the n-th script of a block. No block has the scripts of the height
// after the last block.
func testScript(height, n int) []byte {
	return binary.BigEndian.AppendUint64(append([]byte{0, 20}, make([]byte, 12)...), uint64(height*testScripts+n))
}

func openStore(t *testing.T, dir string) *segment.Store {
	t.Helper()
	s, err := segment.Open(segment.Options{Dir: dir, MakeLines: filters.AppendLines, RangeFilters: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// fill makes filters, lines and range filters of the test's blocks.
func fill(t *testing.T, s *segment.Store) {
	t.Helper()
	var builder filters.Builder
	var entries []segment.Entry
	for height := range testBlocks {
		e := segment.Entry{Block: testBlock(height), Height: int32(height)}
		if height > 0 {
			e.Prev = testBlock(height - 1)
		}
		var scripts [][]byte
		for n := range testScripts {
			scripts = append(scripts, testScript(height, n))
		}
		e.Filter = builder.Build(&e.Block, scripts)
		e.FilterHash = filters.Hash(e.Filter)
		entries = append(entries, e)
	}
	if err := s.Append(entries); err != nil {
		t.Fatal(err)
	}
	tip := testBlock(testBlocks - 1)
	if err := s.SetTip(&tip); err != nil {
		t.Fatal(err)
	}
	for s.WithoutProbes() > 0 {
		if _, err := s.AddProbes(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	secret, _ := s.RangeKey()
	key := rangefilter.Key(secret)
	for {
		number, blocks, ok := s.NextRange()
		if !ok {
			return
		}
		data, err := rangefilter.Build(func(add func(uint64)) error {
			for i := range blocks {
				for n := range testScripts {
					add(key.Hash(testScript(number*len(blocks)+i, n)))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.PutRange(number, data); err != nil {
			t.Fatal(err)
		}
	}
}

// dropCache takes the files of a store that is closed out of memory.
func dropCache(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.dat"))
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
}

// All hits are found in a store that is not in memory, for few and many scripts.
// Fetched bytes are in memory.
func TestFetchAndMatch(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	fill(t, s)
	rng := rand.New(rand.NewPCG(3, 1))
	for _, test := range []struct {
		scripts  int
		restrict bool
	}{{1, false}, {2, false}, {9, false}, {500, false}, {20, true}, {700, true}, {2_000, true}, {70_000, true}} {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		dropCache(t, dir)
		s = openStore(t, dir)
		var scripts [][]byte
		for n := range test.scripts {
			scripts = append(scripts, testScript(testBlocks, n))
		}
		var want []int32
		for range 3 {
			height := rng.IntN(testBlocks)
			scripts[rng.IntN(len(scripts))] = testScript(height, rng.IntN(testScripts))
		}
		query := filters.NewQuery(scripts)
		for _, script := range scripts {
			if height := int(binary.BigEndian.Uint64(script[len(script)-8:])) / testScripts; height < testBlocks {
				want = append(want, int32(height))
			}
		}
		v := NewSource(s).View().(*view)
		for _, heights := range []match.Heights{
			{From: 100, To: 900}, {From: 2048, To: 4096}, {From: 4090, To: testBlocks},
		} {
			read := v.Fetch(t.Context(), heights, query, filters.Method{}, test.restrict)
			if again := v.Fetch(t.Context(), heights, query, filters.Method{}, test.restrict); again != 0 {
				t.Errorf("%+v: %d bytes of %d are still not in memory", test, again, read)
			}
		}
		v.Release()
		pass := match.New(match.Config{
			Source: NewSource(s), Query: query, Exact: test.restrict,
			Stop: &chainview.Block{Hash: testBlock(testBlocks - 1), Height: testBlocks - 1},
		})
		if left, err := pass.Work(t.Context(), match.Heights{}); err != nil || !left.Empty() {
			t.Fatalf("left %v, %v", left, err)
		}
		hits, _ := pass.Hits()
		for _, height := range want {
			if !slices.ContainsFunc(hits, func(h match.Hit) bool { return h.Height == height }) {
				t.Errorf("%+v: block %d is missing among %d hits", test, height, len(hits))
			}
		}
	}
}
