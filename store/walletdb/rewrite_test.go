package walletdb_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// An acknowledged change is on the disk, and what it deleted is not: SQLite is set
// for that, whatever the file came with.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		unsafe bool
		sync   string
	}{{false, "2"}, {true, "0"}} {
		opts := options
		opts.UnsafeSync = c.unsafe
		db, err := walletdb.Open(place(t, "backups", "base"), opts)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{
			"synchronous": c.sync, "fullfsync": "1", "secure_delete": "1", "journal_size_limit": "0", "temp_store": "2",
			"locking_mode": "exclusive", "trusted_schema": "0",
		} {
			if got, err := db.Setting(name); err != nil || got != want {
				t.Errorf("unsafe %v: %s is %q, want %q (%v)", c.unsafe, name, got, want, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// secretRecord has bytes that occur nowhere else, on several pages.
func secretRecord(n int) walletfile.Record {
	return walletfile.Record{Key: fmt.Appendf(nil, "secret %d", n), Value: bytes.Repeat([]byte("very private "), 700)}
}

// count tells how often the secret is in the files beside a path, itself included.
func count(tb testing.TB, path string) (n int) {
	tb.Helper()
	for _, name := range files(tb, path) {
		content, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
		if err != nil {
			tb.Fatal(err)
		}
		n += bytes.Count(content, []byte("very private"))
	}
	return n
}

func putSecrets(b *walletdb.Batch) error {
	for n := range 20 {
		if err := b.Put(secretRecord(n)); err != nil {
			return err
		}
	}
	return nil
}

func deleteSecrets(b *walletdb.Batch) error { return b.DeletePrefix([]byte("secret")) }

// Replaced records are in no file when Replace returns, in either mode of
// journals. Nor are records that a program deleted before without overwriting.
func TestReplace(t *testing.T) {
	for folder, name := range map[string]string{"backups": "base", "damaged": "wal"} {
		t.Run(name, func(t *testing.T) {
			path := place(t, folder, name)
			db := open(t, path)
			if err := db.Update(putSecrets); err != nil {
				t.Fatal(err)
			}
			if count(t, path) == 0 {
				t.Fatal("the secret is not looked for in the right way")
			}
			if err := db.Replace(deleteSecrets); err != nil {
				t.Fatal(err)
			}
			if n := count(t, path); n != 0 {
				t.Errorf("%d times in %q", n, files(t, path))
			}
			if err := db.Update(func(
				b *walletdb.Batch,
			) error {
				return b.Put(walletfile.Record{Key: []byte("k"), Value: []byte("v")})
			}); err != nil {
				t.Fatal(err)
			}
			if n := count(t, path); n != 0 {
				t.Errorf("later %d times in %q", n, files(t, path))
			}
			if slices.Contains(files(t, path), ".wallet.dat.rewrite") {
				t.Error("the mark is left")
			}
		})
	}
}

// A change that fails leaves the wallet as it was.
func TestReplaceFails(t *testing.T) {
	path := place(t, "backups", "base")
	db := open(t, path)
	before, failure := records(t, db), errors.New("no")
	err := db.Replace(func(b *walletdb.Batch) error { return errors.Join(putSecrets(b), failure) })
	if !errors.Is(err, failure) || !sameRecords(records(t, db), before) {
		t.Errorf("got %v", err)
	}
	if slices.Contains(files(t, path), ".wallet.dat.rewrite") {
		t.Error("the mark is left")
	}
}

// Opening completes the unfinished work of a process: it empties a journal that
// has ended, and rewrites the file if a rewriting was begun.
func TestTracesOfOthers(t *testing.T) {
	path := place(t, "backups", "base")
	db, err := walletdb.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(putSecrets); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Setting("secure_delete = OFF"); err != nil { // as it was
		t.Fatal(err)
	}
	if err := db.Update(deleteSecrets); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if count(t, path) == 0 {
		t.Fatal("nothing is left to be removed")
	}
	journal := append(make([]byte, 512), bytes.Repeat([]byte("very private "), 100)...)
	for name, content := range map[string][]byte{"wallet.dat-journal": journal, ".wallet.dat.rewrite": nil} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, path)
	if n := count(t, path); n != 0 {
		t.Errorf("%d times in %q", n, files(t, path))
	}
	if slices.Contains(files(t, path), ".wallet.dat.rewrite") {
		t.Error("the mark is left")
	}
}

// Files that never became wallets are deleted, and no others.
func TestRemoveStale(t *testing.T) {
	stale := []string{
		".wallet.dat.123.tmp", ".wallet.dat.123.tmp-journal", ".wallet.dat.456.tmp-journal", ".wallet.dat.7.tmp-wal",
		"in/ner/.wallet.dat.9.tmp",
	}
	kept := []string{
		".wallet.dat.x.tmp", ".wallet.dat.tmp", ".wallet.dat.1.tmp.bak", "wallet.dat.1.tmp", ".other.dat.1.tmp", ".wallet.dat.restoring",
		"wallet.dat-journal", "busy/.wallet.dat.5.tmp",
	}
	dir := t.TempDir()
	for _, name := range slices.Concat(stale, kept) {
		path := filepath.Join(dir, name)
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("keys"), 0o600),
		); err != nil {
			t.Fatal(err)
		}
	}
	release := walletdb.Share(filepath.Join(dir, "busy")) // another process is at it
	walletdb.RemoveStale(dir)
	check := func(names []string, there bool) {
		t.Helper()
		for _, name := range names {
			if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != there {
				t.Errorf("%s is there: %v", name, err == nil)
			}
		}
	}
	check(stale, false)
	check(kept, true)
	release()
	walletdb.RemoveStale(dir)
	check([]string{"busy/.wallet.dat.5.tmp"}, false)
}

// Making a file first deletes files that other processes did not finish, and so
// does opening a file.
func TestStaleBesideNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), walletdb.FileName)
	stale := filepath.Join(filepath.Dir(path), ".wallet.dat.1.tmp")
	leave := func() {
		if err := os.WriteFile(stale, []byte("keys"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gone := func(step string) {
		if _, err := os.Lstat(stale); err == nil {
			t.Errorf("%s: the stale file is there", step)
		}
	}
	leave()
	db, err := walletdb.Create(path, options, func(*walletdb.Batch) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	gone("created")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	leave()
	open(t, path)
	gone("opened")
}

// A file that lost its name takes no change, whether or not it was written before,
// and can be copied: even to where it was.
func TestMoved(t *testing.T) {
	for _, written := range []bool{false, true} {
		path := place(t, "backups", "base")
		db := open(t, path)
		put := func(b *walletdb.Batch) error { return b.PutEntry(walletfile.Version(7)) }
		if written {
			if err := db.Update(put); err != nil {
				t.Fatal(err)
			}
		}
		want := records(t, db)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := db.Update(put); !errors.Is(err, walletdb.ErrMoved) || !errors.Is(err, walletdb.ErrIO) {
			t.Errorf("written before: %v: got %v", written, err)
		}
		if err := db.Backup(path); err != nil {
			t.Fatal(err)
		}
		if got := records(t, open(t, path)); !sameRecords(got, want) {
			t.Error("the copy differs")
		}
	}
}
