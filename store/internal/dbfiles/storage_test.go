package dbfiles

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

func mustOpen(tb testing.TB, fs vfs.FS, dir string) *Storage {
	tb.Helper()
	s, err := Open(fs, dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// write opens the database in a folder, writes a pair and closes it.
func write(tb testing.TB, s *Storage, key string) error {
	tb.Helper()
	db, err := leveldb.Open(s, &opt.Options{WriteBuffer: 1 << 10})
	if err != nil {
		return err
	}
	return errors.Join(db.Put([]byte(key), []byte("value"), nil), db.Close())
}

// goleveldb removes a manifest whose announcement has failed. Where CURRENT may name it
// already, it stays, and the database can be opened again.
func TestManifestStays(t *testing.T) {
	t.Parallel()
	failed := 0
	for n := range 40 {
		dir := t.TempDir()
		s := mustOpen(t, faultfs.New(), dir)
		if err := errors.Join(write(t, s, "first"), s.Close()); err != nil {
			t.Fatal(err)
		}
		fs := faultfs.New()
		s = mustOpen(t, fs, dir)
		fs.Inject(faultfs.Nth(n, syscall.EIO))
		if write(t, s, "second") != nil {
			failed++
		}
		_ = s.Close()
		s = mustOpen(t, faultfs.New(), dir)
		db, err := leveldb.Open(s, nil)
		if err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
		if _, err := db.Get([]byte("first"), nil); err != nil {
			t.Errorf("call %d: %v", n, err)
		}
		if err := errors.Join(db.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if failed == 0 {
		t.Error("nothing ever failed")
	}
}

// However far clearing a folder came, what is left of it is no database.
func TestClearFails(t *testing.T) {
	t.Parallel()
	for n := 1; n < 6; n++ {
		dir := t.TempDir()
		fs := faultfs.New()
		s := mustOpen(t, fs, dir)
		for range 2 { // a table of the first pair
			if err := write(t, s, "pair"); err != nil {
				t.Fatal(err)
			}
		}
		fs.Inject(faultfs.From(n, syscall.EIO))
		if err := s.Clear(); !errors.Is(err, syscall.EIO) {
			t.Fatalf("call %d: %v", n, err)
		}
		fs.Inject(nil)
		if err := write(t, s, "pair"); err == nil && n < 4 {
			t.Errorf("call %d: half a database opens", n)
		}
		if err := errors.Join(s.Clear(), write(t, s, "pair")); err != nil {
			t.Errorf("call %d: %v", n, err)
		}
	}
}

// Nothing is changed through a storage for reading, or once it is frozen.
func TestFrozen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, vfs.OS, dir)
	open, err := s.Create(storage.FileDesc{Type: storage.TypeJournal, Num: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	s.Freeze()
	for _, frozen := range []*Storage{s, s.ReadOnly()} {
		journal := storage.FileDesc{Type: storage.TypeJournal, Num: 7}
		_, created := frozen.Create(storage.FileDesc{Type: storage.TypeTable, Num: 8})
		for i, err := range []error{
			created, frozen.Remove(journal), frozen.Rename(journal, storage.FileDesc{Type: storage.TypeTable, Num: 9}),
			frozen.SetMeta(storage.FileDesc{Type: storage.TypeManifest, Num: 1}),
		} {
			if !errors.Is(err, errFrozen) {
				t.Errorf("change %d: %v", i, err)
			}
		}
	}
	if _, err := open.Write([]byte("late")); !errors.Is(err, errFrozen) {
		t.Errorf("a write to an open file: %v", err)
	}
	if _, err := Open(vfs.OS, dir); !errors.Is(err, ErrLocked) {
		t.Errorf("opened another time: %v", err)
	}
}

// Names of files are read as they are written, and nothing else is taken for one;
// whatever CURRENT holds, it names a manifest that is there, or is damaged.
func FuzzNames(f *testing.F) {
	for _, name := range []string{
		"MANIFEST-000001", "MANIFEST-1", "MANIFEST--00001", "000007.log", "000007.ldb", "7.ldb", "000007.sst", "000007.tmp",
		"1234567.log", "99999999999999999999.log", "-00001.log", "+00001.ldb", "000001.log\n", "CURRENT", "CURRENT.1", "", "LOG.old",
	} {
		f.Add(name)
	}
	dir := f.TempDir()
	s := mustOpen(f, vfs.OS, dir)
	if err := os.WriteFile(filepath.Join(dir, "MANIFEST-000001"), []byte("x"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if fd, ok := parseName(name); ok && (fileName(fd) != name || fd.Num < 0) {
			t.Errorf("%q is file %v, whose name is %q", name, fd, fileName(fd))
		}
		for _, content := range []string{name, name + "\n"} {
			if err := os.WriteFile(filepath.Join(dir, currentFile), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			fd, err := s.GetMeta()
			if want := content == "MANIFEST-000001\n"; want != (err == nil) {
				t.Errorf("CURRENT with %q: %v, %v", content, fd, err)
			}
			var damage *storage.ErrCorrupted
			if err != nil && !errors.As(err, &damage) {
				t.Errorf("CURRENT with %q is not told to be damaged: %v", content, err)
			}
		}
	})
}

// With a manifest of any content a database opens or returns an error.
func FuzzManifest(f *testing.F) {
	dir := f.TempDir()
	s := mustOpen(f, vfs.OS, dir)
	for range 2 {
		if err := write(f, s, "pair"); err != nil {
			f.Fatal(err)
		}
	}
	current, err := s.GetMeta()
	if err != nil {
		f.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, fileName(current)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(manifest)
	f.Add(manifest[:len(manifest)/2])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		for name, content := range map[string][]byte{
			currentFile: []byte("MANIFEST-000001\n"), "MANIFEST-000001": content,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := mustOpen(t, vfs.OS, dir)
		defer func() { _ = recover() }() // goleveldb's answer to some: the stores take it for damage
		db, err := leveldb.Open(s.ReadOnly(), &opt.Options{ReadOnly: true, ErrorIfMissing: true})
		if err == nil {
			_ = db.Close()
		}
	})
}
