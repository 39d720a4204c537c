package walletdb_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/internal/walletfile/legacytest"
	"github.com/seed61375155/trawl/store/walletdb"
	"github.com/seed61375155/trawl/store/walletdb/bdb"
)

func legacyFile(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.dat")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadLegacy(t *testing.T) {
	content := legacytest.File(t, "hd")
	records, err := walletdb.ReadLegacy(legacyFile(t, content))
	if err != nil || len(records) == 0 {
		t.Errorf("%d records, %v", len(records), err)
	}
	content[16] = 8
	var refused *bdb.Error
	if _, err := walletdb.ReadLegacy(legacyFile(t, content)); !errors.As(err, &refused) {
		t.Errorf("damaged: %v", err)
	}
	if _, err := walletdb.ReadLegacy(place(t, "backups", "default")); !errors.Is(err, walletdb.ErrFormat) {
		t.Errorf("a wallet of today: %v", err)
	}
	if _, err := walletdb.ReadLegacy(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
}

var oneRecord = func(b *walletdb.Batch) error { return b.PutEntry(walletfile.Version(7)) }

// A file that is replaced is there until its successor is, and stays if that fails.
func TestReplaceLegacy(t *testing.T) {
	old := legacytest.File(t, "blank")
	path := legacyFile(t, old)
	fails := errors.New("no")
	if err := walletdb.Replace(path, options, func(*walletdb.Batch) error { return fails }); !errors.Is(err, fails) {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, old) {
		t.Error("the old file has changed")
	}
	if err := walletdb.Replace(path, options, oneRecord); err != nil {
		t.Fatal(err)
	}
	want := []walletfile.Record{walletfile.RecordOf(walletfile.Version(7))}
	if same, err := walletdb.SameRecords(path, options, want); err != nil || !same {
		t.Errorf("records: %v, %v", same, err)
	}
	for _, other := range [][]walletfile.Record{
		nil, {{Key: want[0].Key, Value: []byte{1}}}, {{Key: []byte{1}, Value: want[0].Value}},
	} {
		if same, err := walletdb.SameRecords(path, options, other); err != nil || same {
			t.Errorf("other records: %v, %v", same, err)
		}
	}
	missing := filepath.Join(t.TempDir(), "none")
	if same, err := walletdb.SameRecords(missing, options, nil); !errors.Is(err, walletdb.ErrNotFound) || same {
		t.Errorf("no file: %v, %v", same, err)
	}
	if got := files(t, path); !slices.Equal(got, []string{"old.dat"}) {
		t.Errorf("files %q", got)
	}
}

// A file becomes a directory, and a file again.
func TestReplaceFile(t *testing.T) {
	old := legacytest.File(t, "blank")
	path := legacyFile(t, old)
	backup := legacyFile(t, old)
	fails := errors.New("no")
	failing := func(*walletdb.Batch) error { return fails }
	if err := walletdb.ReplaceFile(path, options, failing); !errors.Is(err, fails) {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, old) {
		t.Error("the old file has changed")
	}
	// The rest of a process that was killed.
	if err := os.Mkdir(filepath.Join(filepath.Dir(path), ".old.dat.migrating"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := walletdb.ReplaceFile(path, options, oneRecord); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("the directory is %v, %v", info, err)
		}
		db, err := walletdb.Open(filepath.Join(path, walletdb.FileName), options)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if got := files(t, path); !slices.Equal(got, []string{"old.dat"}) {
			t.Errorf("files %q", got)
		}
		if err := walletdb.RestoreFile(backup, path, nil); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, old) {
			t.Error("the old file is not back")
		}
		if got := files(t, path); !slices.Equal(got, []string{"old.dat"}) {
			t.Errorf("files %q", got)
		}
	}
}

// Where two names cannot be swapped in one step, nothing is lost if that fails.
func TestSwapByNames(t *testing.T) {
	dir := t.TempDir()
	fresh, old := filepath.Join(dir, "fresh"), filepath.Join(dir, "old")
	for path, content := range map[string]string{fresh: "new", old: "old"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := walletdb.SwapByNames(fresh, old); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(old); string(got) != "new" {
		t.Errorf("got %q", got)
	}
	if err := os.Remove(fresh); err != nil {
		t.Fatal(err)
	}
	if err := walletdb.SwapByNames(fresh, old); err == nil {
		t.Error("swapped with nothing")
	}
	if got, _ := os.ReadFile(old); string(got) != "new" {
		t.Errorf("got %q", got)
	}
}

func TestCopyAndRemove(t *testing.T) {
	source, path := legacyFile(t, []byte("one")), filepath.Join(t.TempDir(), "copy")
	if err := walletdb.Copy(source, path, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := walletdb.Copy(source, path, false, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("again: %v", err)
	}
	if err := walletdb.Copy(legacyFile(t, []byte("two")), path, true, nil); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "two" {
		t.Errorf("got %q", got)
	}
	if err := walletdb.Remove(path); err != nil {
		t.Error(err)
	}
	if err := walletdb.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("again: %v", err)
	}
}

// A file is in use while it is open. To ask does not change that.
func TestInUse(t *testing.T) {
	path := place(t, "backups", "base")
	db, err := walletdb.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	if !walletdb.InUse(path, options) {
		t.Error("an open file is not in use")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if walletdb.InUse(path, options) || walletdb.InUse(path+".none", options) {
			t.Error("a file is in use that nobody has open")
		}
	}
}

// Where a file cannot be put in the place of another, both are as before, and nothing is left.
func TestReplaceFileFails(t *testing.T) {
	dir := t.TempDir()
	path, missing := filepath.Join(dir, "old.dat"), filepath.Join(dir, "none")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := walletdb.ReplaceFile(missing, options, oneRecord); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("replaced nothing: %v", err)
	}
	if err := walletdb.RestoreFile(path, missing, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("restored nothing: %v", err)
	}
	if err := walletdb.RestoreFile(missing, path, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("restored from nothing: %v", err)
	}
	if err := walletdb.Copy(missing, missing, true, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("copied nothing: %v", err)
	}
	if err := walletdb.Copy(dir, missing, true, nil); err == nil {
		t.Error("copied a directory")
	}
	if err := walletdb.SwapByNames(path, missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("swapped with nothing: %v", err)
	}
	if _, err := walletdb.ReadLegacy(path); !errors.Is(err, walletdb.ErrFormat) {
		t.Errorf("read: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("got %q, %v", got, err)
	}
	if got := files(t, path); !slices.Equal(got, []string{"old.dat"}) {
		t.Errorf("files %q", got)
	}
}

// The rest of an attempt that was killed does not keep a file from being replaced: a file, or a directory with a
// wallet that was not finished.
func TestReplaceAfterKill(t *testing.T) {
	path := legacyFile(t, legacytest.File(t, "blank"))
	rest := filepath.Join(filepath.Dir(path), ".old.dat.migrating")
	for _, names := range [][]string{nil, {".wallet.dat.1.tmp", "wallet.dat", "wallet.dat-journal"}} {
		if err := os.WriteFile(rest, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			_ = os.Remove(rest)
			if err := errors.Join(
				os.MkdirAll(rest, 0o700), os.WriteFile(filepath.Join(rest, name), []byte("keys"), 0o600),
			); err != nil {
				t.Fatal(err)
			}
		}
		if err := walletdb.ReplaceFile(path, options, oneRecord); err != nil {
			t.Fatal(err)
		}
		if got := files(t, path); !slices.Equal(got, []string{"old.dat"}) {
			t.Errorf("files %q", got)
		}
		if err := walletdb.RestoreFile(legacyFile(t, []byte("old")), path, nil); err != nil {
			t.Fatal(err)
		}
	}
}
