package segment

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"
)

func TestFilterLargerThanSegment(t *testing.T) {
	s, entries := newStore(t, 5)
	large := testBranch(entries[4], 1, 3)
	large[1].Filter = bytes.Repeat([]byte{7}, 10*testSegment)
	large[1].FilterHash = chainhash.DoubleHashH(large[1].Filter)
	mustAppend(t, s, large)
	entries = append(entries, large...)
	checkActive(t, s, entries)
	mustClose(t, s)
	s = mustOpen(t, s.dir)
	checkActive(t, s, entries)
	checkEntries(t, s, entries)
}

func TestClosed(t *testing.T) {
	s, entries := newStore(t, 20)
	v := s.View()
	mustClose(t, s)
	mustClose(t, s)
	block := &entries[3].Block
	_, byHash := s.ByHash(block)
	_, header := s.Header(block)
	_, headers := s.Headers([]chainhash.Hash{*block})
	for name, err := range map[string]error{
		"Append":  s.Append(testBranch(entries[19], 1, 1)),
		"SetTip":  s.SetTip(block),
		"Sync":    s.Sync(),
		"ByHash":  byHash,
		"Header":  header,
		"Headers": headers,
		"Verify":  s.Verify(t.Context(), 0, false),
		"Rebuild": s.Rebuild(t.Context(), 0, remake),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s = %v, want %v", name, err, ErrClosed)
		}
	}
	// The view outlives the store.
	dst := make([][]byte, 20)
	if err := v.Filters(0, blocksOf(entries), dst); err != nil {
		t.Error(err)
	}
	v.Release()
	v.Release()
	late := s.View()
	defer late.Release()
	if err := late.Filters(0, blocksOf(entries), dst); !errors.Is(err, ErrNotFound) {
		t.Errorf("view of a closed store: %v, want %v", err, ErrNotFound)
	}
}

func TestLocked(t *testing.T) {
	s, entries := newStore(t, 3)
	if other, err := Open(Options{Dir: s.dir}); err == nil {
		other.Close()
		t.Error("a second Open of the same directory succeeds")
	}
	checkActive(t, s, entries)
}

func TestForeignDirectoryIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	db, err := leveldb.OpenFile(filepath.Join(dir, "db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Put([]byte("B"), []byte("best block"), nil); err != nil {
		t.Fatal(err)
	}
	db.Close()
	file := filepath.Join(dir, "fltr00000.dat")
	if err := os.WriteFile(file, []byte("filters"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrForeign) {
		t.Fatalf("Open = %v, want %v", err, ErrForeign)
	}
	if after := tree(t, dir); !maps.Equal(before, after) {
		t.Errorf("before %q, after %q", before, after)
	}
}

// tree returns the files of a folder with their contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestNoWriteAfterFailure(t *testing.T) {
	s, entries := newStore(t, 3)
	s.tail.file.Close() // every write fails from now on
	more := testBranch(entries[2], 1, 2)
	if err := s.Append(more); err == nil {
		t.Fatal("Append to a closed file succeeds")
	}
	if err := s.SetTip(&entries[1].Block); !errors.Is(err, ErrFailed) {
		t.Errorf("SetTip = %v, want %v", err, ErrFailed)
	}
	checkActive(t, s, entries)
	mustClose(t, s)
	s = mustOpen(t, s.dir)
	mustAppend(t, s, more)
	checkActive(t, s, append(entries, more...))
}

func TestViewAllocatesNothing(t *testing.T) {
	s, entries := newStore(t, 100)
	v := s.View()
	defer v.Release()
	blocks, dst := blocksOf(entries), make([][]byte, 100)
	allocs := testing.AllocsPerRun(10, func() {
		if err := v.Filters(0, blocks, dst); err != nil {
			t.Fatal(err)
		}
	})
	if len(v.regions[0].mem) > 0 && allocs > 0 {
		t.Errorf("Filters allocates %v times", allocs)
	}
}
