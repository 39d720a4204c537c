package segment

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed61375155/trawl/internal/vfs"
)

// dropCache takes the files of a closed store out of memory.
func dropCache(tb testing.TB, dir string) {
	tb.Helper()
	files, err := filesLike(vfs.OS, dir, "*.dat")
	if err != nil || len(files) == 0 {
		tb.Fatal(files, err)
	}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			tb.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			tb.Fatal(err)
		}
		if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			tb.Fatal(err)
		}
		f.Close()
	}
}

// Fetched parts are in memory, and all bytes are unchanged.
func TestFetch(t *testing.T) {
	dir, entries := laidStore(t)
	dropCache(t, dir)
	s := openLaid(t, dir, testLines)
	v := s.View()
	defer v.Release()
	rng := rand.New(rand.NewPCG(1, 5))
	var read int
	for range 20 {
		var parts [][]byte
		for range rng.IntN(30) {
			var stored Stored
			if err := v.Stored(int32(rng.IntN(len(entries))), nil, &stored); err != nil {
				t.Fatal(err)
			}
			if !stored.FilterMapped {
				t.Fatal("a filter is not mapped")
			}
			from := rng.IntN(len(stored.Filter) + 1)
			parts = append(parts, stored.Filter[from:])
			if stored.LinesMapped {
				parts = append(parts, stored.Lines)
			}
		}
		read += v.Fetch(t.Context(), slices.Clone(parts))
		if again := v.Fetch(t.Context(), parts); again != 0 {
			t.Errorf("%d bytes are still not in memory", again)
		}
	}
	t.Logf("%d bytes were read", read) // none where the files are in memory alone
	addAllProbes(t, s)
	checkLaid(t, s, entries)
}

// Lines in the heap, which no file has, are told apart from those that can be fetched.
func TestFetchNotMapped(t *testing.T) {
	s := openLaid(t, t.TempDir(), testLines)
	mustAppend(t, s, testChain(10))
	addAllProbes(t, s)
	v := s.View()
	defer v.Release()
	var stored Stored
	if err := v.Stored(3, nil, &stored); err != nil || len(stored.Lines) == 0 || stored.LinesMapped {
		t.Errorf("%d bytes of lines, mapped %v, %v", len(stored.Lines), stored.LinesMapped, err)
	}
}

// Parts are fetched together up to a large gap and up to the end of their mapping, of which each byte can be the first.
func TestJoined(t *testing.T) {
	mem := make([]byte, 3*fetchGap)
	start, end := addressOf(mem), len(mem)
	v := &View{ends: []uintptr{start + 10, start + uintptr(end)}} // of two mappings
	for _, test := range []struct {
		parts    [][2]int
		from, to int // of the fetched bytes
		rest     int // parts
	}{
		{[][2]int{{0, 10}}, 0, 10, 0},
		{[][2]int{{9, 10}}, 9, 10, 0},
		{[][2]int{{0, 1}, {9, 10}, {10, 11}}, 0, 10, 1},
		{[][2]int{{9, 10}, {10, 11}}, 9, 10, 1},
		{[][2]int{{10, 11}, {11 + fetchGap, 12 + fetchGap}}, 10, 12 + fetchGap, 0},
		{[][2]int{{10, 11}, {12 + fetchGap, 13 + fetchGap}}, 10, 11, 1},
		{[][2]int{{10, 20}, {12, 15}, {30, 31}}, 10, 31, 0},
		{[][2]int{{end - 1, end}}, end - 1, end, 0},
	} {
		var parts [][]byte
		for _, p := range test.parts {
			parts = append(parts, mem[p[0]:p[1]])
		}
		whole, rest := v.joined(parts)
		if len(whole) != test.to-test.from || &whole[0] != &mem[test.from] || len(rest) != test.rest {
			t.Errorf("%v: %d bytes, %d parts are left", test.parts, len(whole), len(rest))
		}
	}
	v.ends = v.ends[:1]
	if whole, rest := v.joined([][]byte{mem[10:11], mem[11:12]}); whole != nil || len(rest) != 1 {
		t.Errorf("of no mapping: %d bytes, %d parts are left", len(whole), len(rest))
	}
}

// The mappings that parts are looked for in are all of the view's, ascending.
func TestListMappings(t *testing.T) {
	o, entries := mappedStore(t)
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	addAllProbes(t, s) // the last are in memory alone
	mustAppend(t, s, testBranch(entries[len(entries)-1], 1, 1))
	v := s.View()
	v.listMappings()
	want := 0
	for _, n := range mapped(t, o.Dir) {
		want += n
	}
	if len(v.ends) != want || !slices.IsSorted(v.ends) || want < 4 {
		t.Errorf("%d of %d mappings, ascending %v", len(v.ends), want, slices.IsSorted(v.ends))
	}
	v.Release()
	mustClose(t, s)
}

// Parts of memory are looked at by whole pages, of which those count that are not there.
func TestPages(t *testing.T) {
	size := os.Getpagesize()
	most := fetchPart/4096 + 1
	mem, err := unix.Mmap(-1, 0, (most+1)*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(mem) }()
	for _, test := range []struct{ from, to, first, count int }{
		{0, 1, 0, 1},
		{0, size, 0, 1},
		{0, size + 1, 0, 2},
		{1, size, 0, 1},
		{size - 1, size + 1, 0, 2},
		{size, 2 * size, 1, 1},
		{size + 7, 3*size + 1, 1, 3},
	} {
		got := pages(mem[test.from:test.to])
		if &got[0] != &mem[test.first*size] || len(got) != test.count*size {
			t.Errorf("%d to %d: %d bytes of pages", test.from, test.to, len(got))
		}
	}
	for page := range most + 1 {
		mem[page*size] = 1
	}
	if n := absent(mem[:most*size]); n != 0 {
		t.Errorf("%d bytes of what was written are not there", n)
	}
	if n := absent(mem); n != len(mem) {
		t.Errorf("%d bytes of more than can be asked for", n)
	}
	if err := unix.Madvise(mem[:2*size], unix.MADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	if n := absent(mem[:4*size]); n != 2*size {
		t.Errorf("%d bytes are not there, want %d", n, 2*size)
	}
	if n := request(mem[size+1 : 3*size]); n != size {
		t.Errorf("%d bytes are requested, want %d", n, size)
	}
}

// endsAfter is a context that ends after it was asked so many times.
type endsAfter struct {
	context.Context
	asked *int
}

func (c endsAfter) Err() error {
	if *c.asked--; *c.asked < 0 {
		return context.Canceled
	}
	return nil
}

// Nothing is requested, and nothing is waited for, once the context has ended.
func TestFetchEnds(t *testing.T) {
	size := 4 * os.Getpagesize()
	for asked, want := range map[int]struct{ requested, missing int }{0: {0, size}, 1: {size, size}, 2: {size, 0}} {
		mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			t.Fatal(err)
		}
		if unix.Madvise(mem[:1], unix.MADV_POPULATE_READ) != nil {
			t.Log("this system cannot wait for pages")
			want.missing = size
		}
		if err := unix.Madvise(mem, unix.MADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
		v := &View{}
		v.mappings.Do(func() { v.ends = []uintptr{addressOf(mem) + uintptr(size)} })
		if got := v.Fetch(endsAfter{t.Context(), &asked}, [][]byte{mem}); got != want.requested {
			t.Errorf("%d bytes are requested, want %d", got, want.requested)
		}
		if got := absent(mem); got != want.missing {
			t.Errorf("%d bytes are not there, want %d", got, want.missing)
		}
		if err := unix.Munmap(mem); err != nil {
			t.Fatal(err)
		}
	}
}
