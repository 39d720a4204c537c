//go:build unix

package dbfiles

import (
	"syscall"

	"github.com/seed61375155/trawl/internal/vfs"
)

// flock locks a file for this process, as goleveldb does, until it is closed.
func flock(f vfs.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// unlock takes the lock back. To close the file is not enough: a program that is being
// started has a copy of it for a moment.
func unlock(f vfs.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
