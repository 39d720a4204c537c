package dbfiles

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/seed61375155/trawl/internal/vfs"
)

// filePages is a file's.
type filePages struct{ file vfs.File }

// holds implements pageCache.
func (p filePages) holds(off int64) bool {
	var b [1]byte
	_, err := unix.Preadv2(int(p.file.Fd()), [][]byte{b[:]}, off, unix.RWF_NOWAIT)
	return !errors.Is(err, unix.EAGAIN)
}

// request implements pageCache.
func (p filePages) request(off, size int64) {
	_ = unix.Fadvise(int(p.file.Fd()), off, size, unix.FADV_WILLNEED)
}
