package segment

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// A record that can be true of a segment, and those that cannot, at the bounds.
func TestValidRecord(t *testing.T) {
	least := record{position: position{0, headerSize}, height: 0, length: 1}
	for name, tc := range map[string]struct {
		change func(*record)
		want   bool
	}{
		"the least":                {func(*record) {}, true},
		"the last segment":         {func(r *record) { r.segment = maxSegment }, true},
		"one segment more":         {func(r *record) { r.segment = maxSegment + 1 }, false},
		"a height below 0":         {func(r *record) { r.height = -1 }, false},
		"the greatest height":      {func(r *record) { r.height = 1<<31 - 1 }, true},
		"no bytes":                 {func(r *record) { r.length = 0 }, false},
		"the longest":              {func(r *record) { r.length = maxFilter }, true},
		"a byte longer":            {func(r *record) { r.length = maxFilter + 1 }, false},
		"in the header":            {func(r *record) { r.offset = headerSize - 1 }, false},
		"at the end":               {func(r *record) { r.offset = maxSegmentEnd - 1 }, true},
		"behind the end":           {func(r *record) { r.offset = maxSegmentEnd }, false},
		"up to the end":            {func(r *record) { r.offset, r.length = maxSegmentEnd-9, 9 }, true},
		"over the end":             {func(r *record) { r.offset, r.length = maxSegmentEnd-9, 10 }, false},
		"an end of more than 2^32": {func(r *record) { r.offset, r.length = 1<<32-1, 2 }, false},
	} {
		r := least
		if tc.change(&r); r.valid() != tc.want {
			t.Errorf("%s: %v", name, r.valid())
		}
	}
}

// Surplus bytes of a file are cut, or else the store is not opened.
func TestCutFails(t *testing.T) {
	s, entries := newStore(t, 25)
	mustClose(t, s)
	infos := s.Segments()
	for _, info := range infos[len(infos)-2:] {
		for n := range 3 {
			mustWriteAt(t, info.Path, []byte("more"), info.Size)
			disk := faultfs.New()
			nth := faultfs.Nth(n, syscall.EIO)
			disk.Inject(func(op faultfs.Op) error {
				if op.Kind == faultfs.Truncate {
					return nth(op)
				}
				return nil
			})
			again, err := Open(Options{FS: disk, Dir: s.dir, SegmentSize: testSegment})
			if errors.Is(err, syscall.EIO) != (n < 2) || err != nil && n == 2 {
				t.Errorf("%s, cut %d: %v", info.Path, n, err)
			}
			if err == nil {
				mustClose(t, again)
			}
			again = mustOpen(t, s.dir)
			checkActive(t, again, entries)
			mustClose(t, again)
			if stat, err := os.Stat(info.Path); err != nil || stat.Size() != info.Size {
				t.Errorf("%s has %d bytes, want %d: %v", info.Path, stat.Size(), info.Size, err)
			}
		}
	}
}

// Records that cannot be read on are not cut in part.
func TestCutOfDamagedKeys(t *testing.T) {
	s, entries := newStore(t, 400)
	for range 2 { // goleveldb makes tables of its journal when it is opened
		mustClose(t, s)
		s = mustOpen(t, s.dir)
	}
	tables, err := filepath.Glob(filepath.Join(s.dir, "db", "*.ldb"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	content := mustRead(t, tables[0])
	mustWriteAt(t, tables[0], []byte{^content[len(content)/2]}, int64(len(content)/2))
	if err := s.keys.cut(position{}); err == nil {
		t.Error("no error")
	}
	for _, e := range []Entry{entries[0], entries[10]} {
		if _, err := s.ByHash(&e.Block); err != nil {
			t.Errorf("the filter at height %d: %v", e.Height, err)
		}
	}
}

// A segment that cannot be begun takes no filter, and is not kept open.
func TestSegmentCannotBegin(t *testing.T) {
	dir, disk := t.TempDir(), faultfs.New()
	s, err := Open(Options{FS: disk, Dir: dir, SegmentSize: testSegment})
	if err != nil {
		t.Fatal(err)
	}
	first := true
	disk.Inject(func(op faultfs.Op) error {
		if first && op.Kind == faultfs.Write && filepath.Ext(op.Path) == ".dat" {
			first = false
			return syscall.EIO
		}
		return nil
	})
	entries := testChain(3)
	if err := s.Append(entries); !errors.Is(err, syscall.EIO) || s.Len() != 0 {
		t.Errorf("%d filters are there, %v", s.Len(), err)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "fltr*")); len(files) > 1 || err != nil {
		t.Errorf("files %q, %v", files, err)
	}
	_ = s.Close()
	s = mustOpen(t, dir)
	mustAppend(t, s, entries)
	checkEntries(t, s, entries)
	mustClose(t, s)
}

// unlisted is a file system in which a folder cannot be listed the n-th time.
type unlisted struct {
	vfs.FS
	dir string
	n   *int
}

func (u unlisted) ReadDir(name string) ([]os.DirEntry, error) {
	if name == u.dir {
		if *u.n--; *u.n == 0 {
			return nil, syscall.EIO
		}
	}
	return u.FS.ReadDir(name)
}

// A store whose folder cannot be listed is not opened, whatever kind of files is looked for.
func TestUnlistedFolder(t *testing.T) {
	s, entries := newStore(t, 5)
	mustClose(t, s)
	for n := 1; n <= 4; n++ {
		left := n
		s, err := Open(Options{FS: unlisted{vfs.OS, s.dir, &left}, Dir: s.dir, SegmentSize: testSegment})
		if errors.Is(err, syscall.EIO) != (n <= 3) || n == 4 && err != nil {
			t.Errorf("time %d: %v", n, err)
		}
		if err == nil {
			checkActive(t, s, entries)
			mustClose(t, s)
		}
	}
}
