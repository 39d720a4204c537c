package segment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// mapped returns how many mappings of files of a folder there are, by the first letters of their names.
func mapped(tb testing.TB, dir string) map[string]int {
	tb.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		tb.Fatal(err)
	}
	n := map[string]int{}
	for line := range strings.Lines(string(maps)) {
		if at := strings.Index(line, dir+"/"); at >= 0 {
			n[line[at+len(dir)+1:][:4]]++
		}
	}
	return n
}

// wantMapped checks whether files of each kind are mapped.
func wantMapped(tb testing.TB, what, dir string, filters, lines, ranges bool) {
	tb.Helper()
	got := mapped(tb, dir)
	for kind, want := range map[string]bool{"fltr": filters, "prob": lines, "rang": ranges} {
		if (got[kind] > 0) != want {
			tb.Errorf("%s: %d files %s are mapped", what, got[kind], kind)
		}
	}
}

// mappedStore is the folder of a closed store with files of each kind.
func mappedStore(tb testing.TB) (o Options, entries []Entry) {
	tb.Helper()
	o = Options{Dir: tb.TempDir(), SegmentSize: 1 << 16, MakeLines: testLines, RangeFilters: true}
	entries = testChain(groupSize + 5)
	s, err := Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	mustAppend(tb, s, entries)
	addAllProbes(tb, s)
	if err := s.PutRange(0, []byte("a range")); err != nil {
		tb.Fatal(err)
	}
	wantMapped(tb, "made", o.Dir, true, true, true)
	mustClose(tb, s)
	wantMapped(tb, "closed", o.Dir, false, false, false)
	return o, entries
}

// Files are mapped as long as the store has them, or a view of an earlier state.
func TestNothingStaysMapped(t *testing.T) {
	o, entries := mappedStore(t)
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	first := s.View()
	s.DropLines(&entries[0].Block)
	s.DropRange(&entries[0].Block)
	wantMapped(t, "dropped, with a view", o.Dir, true, true, true)
	first.Release()
	first.Release() // once more does nothing
	wantMapped(t, "dropped", o.Dir, true, false, false)
	last := s.View()
	mustClose(t, s)
	wantMapped(t, "closed, with a view", o.Dir, true, false, false)
	last.Release()
	wantMapped(t, "closed", o.Dir, false, false, false)
}

// A store that cannot be opened in the end has no file mapped.
func TestNoMappingsAfterAFailure(t *testing.T) {
	for name, kind := range map[string]faultfs.Kind{
		"range.key": faultfs.Read, "rang00009.dat": faultfs.Remove, "prob00009.dat": faultfs.Remove,
	} {
		o, entries := mappedStore(t)
		for _, stray := range []string{"rang00009.dat", "prob00009.dat"} {
			mustWriteFile(t, filepath.Join(o.Dir, stray), []byte{1})
		}
		disk := faultfs.New()
		fail := func(op faultfs.Op) error {
			if op.Kind == kind && filepath.Base(op.Path) == name {
				return syscall.EIO
			}
			return nil
		}
		disk.Inject(fail)
		disk.InjectReads(fail)
		o.FS = disk
		if s, err := Open(o); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
		wantMapped(t, name, o.Dir, false, false, false)
		o.FS = nil
		s, err := Open(o) // which is not locked any more
		if err != nil {
			t.Fatal(err)
		}
		addAllProbes(t, s)
		checkLaid(t, s, entries)
		mustClose(t, s)
	}
}

// oddFiles is a file system some of whose files cannot be mapped, or of which nobody knows the size.
type oddFiles struct {
	vfs.FS
	prefixes string // of names
	unsized  bool
}

type oddFile struct {
	vfs.File
	unsized bool
}

func (fs oddFiles) OpenFile(name string, flag int, mode os.FileMode) (vfs.File, error) {
	f, err := fs.FS.OpenFile(name, flag, mode)
	if err != nil || !strings.Contains(fs.prefixes, filepath.Base(name)[:4]) {
		return f, err
	}
	return oddFile{f, fs.unsized}, nil
}

func (f oddFile) Stat() (os.FileInfo, error) {
	if f.unsized {
		return nil, syscall.EIO
	}
	return f.File.Stat()
}

func (f oddFile) Fd() uintptr {
	if f.unsized {
		return f.File.Fd()
	}
	return ^uintptr(0)
}

// Where files cannot be mapped filters are read from their files, and lines are kept in memory. Range filters, which
// are too large for that, are refused.
func TestFilesThatCannotBeMapped(t *testing.T) {
	o, entries := mappedStore(t)
	o.FS = oddFiles{vfs.OS, "fltr prob rang", false}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if left := s.WithoutProbes(); left != len(entries) {
		t.Errorf("%d filters without lines, want all", left)
	}
	addAllProbes(t, s)
	checkLaid(t, s, entries)
	checkActive(t, s, entries)
	v := s.View()
	if n := v.Fetch(t.Context(), [][]byte{entries[0].Filter}); n != 0 {
		t.Errorf("%d bytes were not in memory, of no mapping", n)
	}
	v.Release()
	if number, _, ok := s.NextRange(); number != 0 || !ok {
		t.Errorf("range %d is next, %v", number, ok)
	}
	if err := s.PutRange(0, []byte("a range")); !errors.Is(err, errNoMapping) {
		t.Errorf("a range filter: %v", err)
	}
	wantMapped(t, "nothing can be mapped", o.Dir, false, false, false)
	mustClose(t, s)
}

// Files of lines and ranges whose sizes cannot be told are made anew. That fails as long as the disk does.
func TestFilesWithoutSize(t *testing.T) {
	o, entries := mappedStore(t)
	o.FS = oddFiles{vfs.OS, "prob rang", true}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if left := s.WithoutProbes(); left != len(entries) {
		t.Errorf("%d filters without lines, want all", left)
	}
	if _, err := s.AddProbes(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Errorf("lines: %v", err)
	}
	if err := s.PutRange(0, []byte("a range")); !errors.Is(err, syscall.EIO) {
		t.Errorf("a range filter: %v", err)
	}
	checkActive(t, s, entries)
	mustClose(t, s)
}

// opened returns how many files of a folder, and below it, are open, by the first letters of their names.
func opened(tb testing.TB, dir string) map[string]int {
	tb.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		tb.Fatal(err)
	}
	n := map[string]int{}
	for _, fd := range fds {
		if path, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(path, dir+"/") {
			n[(filepath.Base(path) + "    ")[:4]]++
		}
	}
	return n
}

// A store has its last segment open and no other file beside its database, also where it looked through many for what
// a kill has torn. Rebuilt or closed, it has none.
func TestFilesAreClosed(t *testing.T) {
	s, entries := newStore(t, 60)
	copied := filepath.Join(t.TempDir(), "killed")
	if err := os.CopyFS(copied, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	killed := mustOpen(t, copied)
	if n := opened(t, copied)["fltr"]; n != 1 || len(killed.Segments()) < 5 {
		t.Errorf("%d files of %d segments are open", n, len(killed.Segments()))
	}
	checkActive(t, killed, entries)
	for _, info := range killed.Segments() {
		for _, err := range []error{
			killed.Verify(t.Context(), info.Number, true), killed.Rebuild(t.Context(), info.Number, remake),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := opened(t, copied)["fltr"]; n != 0 {
		t.Errorf("%d files are open after all were rebuilt", n)
	}
	mustAppend(t, killed, testBranch(entries[59], 1, 30))
	if n := opened(t, copied)["fltr"]; n != 1 {
		t.Errorf("%d files are open after more filters came", n)
	}
	mustClose(t, killed)
	if all := opened(t, copied); len(all) != 0 {
		t.Errorf("files of a closed store are open: %v", all)
	}

	o, _ := mappedStore(t)
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if all := opened(t, o.Dir); all["prob"]+all["rang"] != 0 || all["fltr"] != 1 {
		t.Errorf("open are %v", all)
	}
	mustClose(t, s)
	if all := opened(t, o.Dir); len(all) != 0 {
		t.Errorf("files of a closed store are open: %v", all)
	}
}
