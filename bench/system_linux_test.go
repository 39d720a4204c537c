package bench

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dropFile writes a file to the disk and takes it out of the page cache. It returns how
// many of its bytes are still there, and its size.
func dropFile(path string) (left, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return 0, 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, 0, err
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return 0, 0, err
	}
	left, err = residentBytes(f, info.Size())
	return left, info.Size(), err
}

// residentBytes returns how much of a file is in the page cache.
func residentBytes(f *os.File, size int64) (int64, error) {
	mem, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Munmap(mem) }()
	page := int64(os.Getpagesize())
	in := make([]byte, (size+page-1)/page)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE,
		uintptr(unsafe.Pointer(&mem[0])), uintptr(size), uintptr(unsafe.Pointer(&in[0])))
	if errno != 0 {
		return 0, errno
	}
	var n int64
	for _, b := range in {
		n += int64(b&1) * page
	}
	return min(n, size), nil
}

// bytesRead returns how many bytes the system has read from disks for this process.
func bytesRead(tb testing.TB) (n uint64) {
	tb.Helper()
	text, err := os.ReadFile("/proc/self/io")
	_, line, ok := strings.Cut(string(text), "\nread_bytes:")
	if err != nil || !ok {
		tb.Skip("this system does not tell what it reads")
	}
	_, _ = fmt.Sscan(line, &n)
	return n
}
