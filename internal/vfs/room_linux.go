package vfs

import "syscall"

// DiskRoom returns what tells how many bytes are free on the disk of a folder, and how many
// it has.
func DiskRoom(dir string) func() (free, total uint64, err error) {
	return func() (free, total uint64, err error) {
		var s syscall.Statfs_t
		if err := syscall.Statfs(dir, &s); err != nil {
			return 0, 0, err //nolint:wrapcheck // it is only looked whether there is one
		}
		return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
	}
}
