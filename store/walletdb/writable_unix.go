//go:build unix

package walletdb

import (
	"errors"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayMakeFiles reports whether this process has the right to make files in a directory. It reports true if the
// directory is not there: then the error of making a file says so.
func mayMakeFiles(dir string) bool {
	err := unix.Access(dir, unix.W_OK|unix.X_OK)
	return !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS)
}
