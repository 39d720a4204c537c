//go:build unix

package walletdb

import (
	"errors"
	"os"
	"syscall"
)

// The lock of a directory says whether wallet files are being made in it. It is
// the directory that is locked, because the locks of some file systems would
// keep SQLite from locking the file. Where directories cannot be locked, no
// other process counts as making files.

// share keeps others from taking the files for stale that this process makes in
// a directory, until release is called.
func share(dir string) (release func()) {
	d, err := lock(dir, syscall.LOCK_SH)
	if err != nil {
		return func() {}
	}
	return func() { unlock(d) }
}

// exclude reports whether nobody makes files in a directory, and keeps them from
// it until release is called.
func exclude(dir string) (release func(), ok bool) {
	d, err := lock(dir, syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, false
	case err != nil:
		return func() {}, true
	}
	return func() { unlock(d) }, true
}

func lock(dir string, how int) (*os.File, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(d.Fd()), how); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// unlock takes the lock back. To close the directory is not enough: a program that is
// being started has a copy of it for a moment.
func unlock(d *os.File) {
	_ = syscall.Flock(int(d.Fd()), syscall.LOCK_UN)
	_ = d.Close()
}

// SQLite's locks are on these bytes of a file, whatever its size.
const (
	sqliteLocksAt = 1 << 30
	sqliteLocks   = 512
)

// inUse reports whether another process has a database open and locked.
func inUse(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	found := syscall.Flock_t{Type: syscall.F_WRLCK, Start: sqliteLocksAt, Len: sqliteLocks}
	err = syscall.FcntlFlock(file.Fd(), syscall.F_GETLK, &found)
	return err == nil && found.Type != syscall.F_UNLCK
}
