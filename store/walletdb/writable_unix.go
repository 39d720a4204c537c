//go:build unix

package walletdb

import (
	"errors"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayMakeFiles reports whether this process has the right to make files in a directory. Of one that is not there
// or cannot be looked at it reports true: whoever makes a file there is told why that fails.
func mayMakeFiles(dir string) bool {
	err := unix.Access(dir, unix.W_OK|unix.X_OK)
	return !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS)
}
