//go:build unix

package walletdb

import (
	"syscall"
	"testing"
)

// A program that is just being started has copies of all open files for a moment. A
// directory that is given back meanwhile is free all the same.
func TestLockOutlivesNoCopy(t *testing.T) {
	dir := t.TempDir()
	d, err := lock(dir, syscall.LOCK_SH)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := exclude(dir); ok {
		t.Fatal("the directory is not locked")
	}
	inherited, err := syscall.Dup(int(d.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	unlock(d)
	release, ok := exclude(dir)
	if !ok {
		t.Fatal("the directory is still locked")
	}
	release()
}
