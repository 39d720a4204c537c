//go:build unix

package dbfiles

import (
	"errors"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
)

// A program that is just being started has copies of all open files for a moment. A
// folder that is given back meanwhile is free all the same.
func TestLockOutlivesNoCopy(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, vfs.OS, dir)
	if _, err := Open(vfs.OS, dir); !errors.Is(err, ErrLocked) {
		t.Fatalf("a folder in use: %v", err)
	}
	inherited, err := syscall.Dup(int(s.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, vfs.OS, dir)
}
