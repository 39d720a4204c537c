package walletdb_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed61375155/trawl/store/walletdb"
)

// asStranger runs f in a thread without root's rights, if this process has them.
func asStranger(t *testing.T, f func()) {
	t.Helper()
	done := make(chan unix.Errno)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with f
		var errno unix.Errno
		if os.Geteuid() == 0 {
			const nobody, unchanged = 65534, ^uintptr(0)
			_, _, errno = unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, unchanged)
		}
		if errno == 0 {
			f()
		}
		done <- errno
	}()
	if errno := <-done; errno != 0 {
		t.Fatal(errno)
	}
}

// Where no files can be made beside it, no wallet is made, and none opened for writing: SQLite could not keep a
// journal.
func TestDirectoryNotWritable(t *testing.T) {
	dir := t.TempDir()
	path := place(t, "backups", "blank")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, walletdb.FileName)
	if err := os.WriteFile(path, file, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(dir, 0o755) }() // so that it can be deleted
	want := "SQLiteDatabase: Failed to open database in directory '" + dir + "': directory is not writable"
	asStranger(t, func() {
		if _, err := walletdb.Open(path, options); !errors.Is(err, walletdb.ErrIO) || err.Error() != want {
			t.Errorf("opened: %v", err)
		}
		other := filepath.Join(dir, "other.dat")
		if _, err := walletdb.Create(other, options, nil); !errors.Is(err, walletdb.ErrIO) || err.Error() != want {
			t.Errorf("made: %v", err)
		}
		reading := options
		reading.ReadOnly = true
		if db, err := walletdb.Open(path, reading); err != nil {
			t.Errorf("read: %v", err)
		} else if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}
