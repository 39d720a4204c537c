package segment

import (
	"golang.org/x/sys/unix"

	"github.com/seed61375155/trawl/internal/vfs"
)

// mmap maps size bytes of a file, which may be more than it has: what is
// appended later can be read through the mapping. It returns nil on failure.
func mmap(f vfs.File, size int64) []byte {
	mem := mmapRandom(f, size)
	_ = unix.Madvise(mem, unix.MADV_SEQUENTIAL) // advice only
	return mem
}

// mmapRandom maps the size bytes that a file has, to be read here and there.
func mmapRandom(f vfs.File, size int64) []byte {
	mem, _ := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED) // nil with an error
	return mem
}

func munmap(mem []byte) {
	_ = unix.Munmap(mem) // fails only for memory that is not a mapping
}
