package segment

import (
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
