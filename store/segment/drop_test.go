package segment

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// Whichever call of the file system fails while filters are dropped, the filters before
// them are there. The others are never read wrongly, and can be stored again.
func TestDropFails(t *testing.T) {
	t.Parallel()
	entries := append(testChain(1), testBranch(testChain(1)[0], 1, 40)...)
	tip := entries[len(entries)-1].Block
	failed := 0
	for n := 0; ; n++ {
		dir := t.TempDir()
		options := Options{FS: faultfs.New(), Dir: dir, SegmentSize: testSegment}
		fs := options.FS.(*faultfs.FS)
		s, err := Open(options)
		if err == nil {
			err = errors.Join(s.Append(entries), s.SetTip(&tip), s.Sync())
		}
		if err != nil {
			t.Fatal(err)
		}
		second := s.Segments()[1]
		kept := s.Segments()[0].Filters
		fired := false
		nth := faultfs.Nth(n, syscall.EIO)
		fs.Inject(func(op faultfs.Op) error {
			err := nth(op)
			fired = fired || err != nil
			return err
		})
		err = s.DropFrom(&entries[kept].Block)
		fs.Inject(func(faultfs.Op) error { return nil })
		switch {
		case err == nil && !fired:
			if failed == 0 {
				t.Fatal("no call has failed")
			}
			if s.Len() != kept {
				t.Errorf("%d filters are left, want %d", s.Len(), kept)
			}
			if _, err := os.Stat(second.Path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("segment of dropped filters: %v", err)
			}
			return
		case err != nil:
			failed++
		}
		_ = s.Close()
		s = mustOpen(t, dir)
		checkEntries(t, s, entries[:kept])
		checkNoWrongBytesOf(t, s, entries)
		mustAppend(t, s, entries)
		checkActive(t, s, entries)
		mustClose(t, s)
	}
}

// Lines and range filters go with the filters that they are of, and a block that is not
// there is an error.
func TestDropLines(t *testing.T) {
	t.Parallel()
	dir, entries := laidStore(t)
	s := openLaid(t, dir, testLines)
	addAllProbes(t, s)
	unknown := chainhash.Hash{1, 2, 3}
	if err := s.DropFrom(&unknown); !errors.Is(err, ErrNotFound) {
		t.Errorf("an unknown block: %v", err)
	}
	last := s.Segments()[len(s.Segments())-1]
	block := s.catalog.slots[len(s.catalog.slots)-1].block
	if err := s.DropFrom(&block); err != nil {
		t.Fatal(err)
	}
	kept := len(entries) - last.Filters
	if s.Len() != kept {
		t.Fatalf("%d filters are left, want %d", s.Len(), kept)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "prob*")); len(files) != kept/groupSize {
		t.Errorf("files of lines are %v for %d filters", files, kept)
	}
	if without := s.WithoutProbes(); without != kept%groupSize {
		t.Errorf("%d filters have no lines, want %d", without, kept%groupSize)
	}
	mustAppend(t, s, entries)
	addAllProbes(t, s)
	checkLaid(t, s, entries)
}
