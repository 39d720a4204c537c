package segment

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Faults returns how many times the process has waited for the disk where it read
// mapped memory.
func Faults() int64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return usage.Majflt
}

// request has the system read the pages of mapped bytes, and returns how much of them
// is not in memory.
func request(b []byte) (missing int) {
	b = pages(b)
	if missing = absent(b); missing > 0 {
		_ = unix.Madvise(b, unix.MADV_WILLNEED)
	}
	return missing
}

// await waits for the pages of mapped bytes. It waits in a system call, so that others
// have the core meanwhile. Linux before 5.14 cannot do it: there who needs the pages waits.
func await(b []byte) { _ = unix.Madvise(pages(b), unix.MADV_POPULATE_READ) }

// pages returns the pages, as a whole, that bytes of a mapping lie in.
func pages(b []byte) []byte {
	size := uintptr(os.Getpagesize())
	before := addressOf(b) % size
	whole := (before + uintptr(len(b)) + size - 1) / size * size
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&b[0]), -int(before))), whole)
}

// absent returns how many bytes of pages are not in memory.
func absent(b []byte) (n int) {
	var in [fetchPart/4096 + 1]byte
	size := os.Getpagesize()
	count := len(b) / size
	if count > len(in) {
		return len(b)
	}
	_, _, errno := unix.Syscall(
		unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&in[0])),
	)
	if errno != 0 {
		return 0 // not mapped, say: that is not for us to tell
	}
	for _, page := range in[:count] {
		n += int(^page&1) * size
	}
	return n
}
