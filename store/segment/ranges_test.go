package segment

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
)

func openRanged(tb testing.TB, dir string, ranged bool) *Store {
	tb.Helper()
	s, err := Open(Options{Dir: dir, SegmentSize: 1 << 16, RangeFilters: ranged})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

// fillRanges gives every range a filter that names its first block.
func fillRanges(tb testing.TB, s *Store) (made []int) {
	tb.Helper()
	for {
		n, blocks, ok := s.NextRange()
		if !ok {
			return made
		}
		if len(blocks) != groupSize {
			tb.Fatalf("a range of %d blocks", len(blocks))
		}
		if err := s.PutRange(n, bytes.Repeat(blocks[0][:], 3)); err != nil {
			tb.Fatal(err)
		}
		made = append(made, n)
	}
}

func checkRanges(tb testing.TB, s *Store, entries []Entry) {
	tb.Helper()
	v := s.View()
	defer v.Release()
	for height := int32(0); height <= v.Tip(); {
		r, to, ok := v.Range(height)
		first := int(height) / groupSize * groupSize
		if full := first+groupSize <= len(entries); ok != full {
			tb.Fatalf("height %d: filter %v, want %v", height, ok, full)
		}
		if want := min(first+groupSize, len(entries)); ok && int(to) != want || !ok && to != height {
			tb.Fatalf("height %d: the range ends at %d, want %d", height, to, want)
		}
		if ok && (!bytes.Equal(r.Data, bytes.Repeat(entries[first].Block[:], 3)) || r.CRC != checksum(r.Data)) {
			tb.Fatalf("height %d: wrong filter", height)
		}
		height += 700
	}
}

func TestRanges(t *testing.T) {
	dir, entries := t.TempDir(), testChain(2*groupSize+9)
	s := openRanged(t, dir, true)
	mustAppend(t, s, entries)
	if made := fillRanges(t, s); !slices.Equal(made, []int{0, 1}) {
		t.Errorf("made ranges %v", made)
	}
	checkRanges(t, s, entries)
	key, ok := s.RangeKey()
	mustClose(t, s)
	if info, err := os.Stat(filepath.Join(dir, "range.key")); err != nil || info.Mode().Perm() != 0o600 || !ok {
		t.Errorf("the key's file: %v, %v", info, err)
	}

	s = openRanged(t, dir, true)
	if again, _ := s.RangeKey(); again != key {
		t.Error("another key")
	}
	if made := fillRanges(t, s); made != nil {
		t.Errorf("made %v again", made)
	}
	checkRanges(t, s, entries)
	s.DropRange(&entries[groupSize+5].Block)
	s.DropRange(&entries[2*groupSize+5].Block) // has none
	if made := fillRanges(t, s); !slices.Equal(made, []int{1}) || len(s.ProbesLost()) != 1 {
		t.Errorf("made %v anew", made)
	}
	checkRanges(t, s, entries)
	s.SkipRange(1)
	v := s.View()
	if _, _, ok := v.Range(groupSize); ok || len(fillRanges(t, s)) > 0 {
		t.Error("a filter of a range that was skipped")
	}
	v.Release()
	mustClose(t, s)

	s = openRanged(t, dir, false)
	files, _ := filesLike(vfs.OS, dir, "rang*.dat")
	if _, _, ok := s.NextRange(); ok || len(files) > 0 {
		t.Errorf("without the option: %q are left", files)
	}
	if _, ok := s.RangeKey(); ok {
		t.Error("a key without the option")
	}
}

// TestDamagedRangeFiles: what does not fit blocks and key is rebuilt.
func TestDamagedRangeFiles(t *testing.T) {
	dir, entries := t.TempDir(), testChain(2*groupSize)
	s := openRanged(t, dir, true)
	mustAppend(t, s, entries)
	fillRanges(t, s)
	mustClose(t, s)
	path := rangePath(dir, 0)
	good, other := mustRead(t, path), mustRead(t, rangePath(dir, 1))
	for name, c := range map[string]struct {
		damage func() error
		want   []int
	}{
		"nothing": {func() error { return nil }, nil},
		"missing": {func() error { return os.Remove(path) }, []int{0}},
		"cut":     {func() error { return os.Truncate(path, 120) }, []int{0}},
		"head":    {func() error { return os.Truncate(path, 20) }, []int{0}},
		"other":   {func() error { return os.WriteFile(path, other, 0o600) }, []int{0}},
		"header":  {func() error { return os.WriteFile(path, flippedByte(good, 70), 0o600) }, []int{0}},
		"tmp":     {func() error { return os.WriteFile(path+".tmp", good, 0o600) }, nil},
		"key":     {func() error { return os.Remove(filepath.Join(dir, "range.key")) }, []int{0, 1}},
		"bad key": {
			func() error { return os.WriteFile(filepath.Join(dir, "range.key"), []byte{1}, 0o644) }, []int{0, 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.damage(); err != nil {
				t.Fatal(err)
			}
			s := openRanged(t, dir, true)
			defer s.Close()
			if made := fillRanges(t, s); !slices.Equal(made, c.want) {
				t.Errorf("made %v, want %v", made, c.want)
			}
			checkRanges(t, s, entries)
			if _, err := os.Stat(path + ".tmp"); !errors.Is(err, os.ErrNotExist) {
				t.Error("a temporary file is left")
			}
		})
	}
}

func flippedByte(b []byte, at int) []byte {
	b = slices.Clone(b)
	b[at] ^= 1
	return b
}
