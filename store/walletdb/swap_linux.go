package walletdb

import (
	"errors"

	"golang.org/x/sys/unix"
)

// swap swaps what two names lead to, in one step where the file system can do that.
func swap(fresh, old string) error {
	err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, old, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return swapByNames(fresh, old)
	}
	return err
}
