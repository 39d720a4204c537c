package walletdb_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/seed61375155/trawl/store/walletdb"
)

// openFiles counts the files that this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// Nothing that succeeds or fails leaves a file open.
func TestNoFileStaysOpen(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which closes what is forgotten
	accept, failure := func(string) error { return nil }, errors.New("no")
	source, damaged := place(t, "backups", "base"), place(t, "damaged", "key-hash")
	text := filepath.Join(t.TempDir(), "text.dat")
	if err := os.WriteFile(text, make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	round := func() {
		dir := t.TempDir()
		path := filepath.Join(dir, walletdb.FileName)
		for _, stale := range []string{".wallet.dat.1.tmp", "wallet.dat-journal"} {
			if err := os.WriteFile(filepath.Join(dir, stale), make([]byte, 600), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := restore(source, path, accept); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+"-journal", make([]byte, 600), 0o600); err != nil { // an ended journal
			t.Fatal(err)
		}
		db, err := walletdb.Open(path, options)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = walletdb.Open(path, options) // in use
		_ = db.Update(func(*walletdb.Batch) error { return failure })
		_ = db.Replace(func(*walletdb.Batch) error { return nil })
		_ = db.Backup(filepath.Join(dir, "b.dat"))
		_ = db.Backup(text)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{source, damaged, text} {
			if wallet, _, err := verify(path, options, loadOptions); err == nil {
				wallet.Zero()
			}
			_ = restore(path, filepath.Join(dir, "c.dat"), func(string) error { return failure })
		}
		_, _ = walletdb.Create(filepath.Join(dir, "d.dat"), options, func(*walletdb.Batch) error { return failure })
	}
	round()
	before := openFiles(t)
	for range 5 {
		round()
	}
	if after := openFiles(t); after > before+2 { // of the runtime
		t.Errorf("%d files were open, %d are", before, after)
	}
}

// A source that cannot be read is told, and no part of it becomes a wallet.
func TestRestoreOfUnreadable(t *testing.T) {
	const unreadable = "/proc/self/mem" // a regular file whose first bytes nobody may read
	path := filepath.Join(t.TempDir(), walletdb.FileName)
	err := restore(unreadable, path, func(string) error { t.Error("checked"); return nil })
	if err == nil {
		t.Error("restored")
	}
	if err := restore("/dev/null", path, func(string) error { return nil }); err == nil {
		t.Error("restored from a device")
	}
	if got := files(t, path); len(got) != 0 {
		t.Errorf("files left: %q", got)
	}
}
