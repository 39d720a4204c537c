//go:build unix

package walletdb

import (
	"errors"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayMakeFiles reports whether this process has the right to make files in a directory. It reports true if the
// directory is not there: the error of making a file tells that.
func mayMakeFiles(dir string) bool {
	err := unix.Access(dir, unix.W_OK|unix.X_OK)
	return !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS)
}
