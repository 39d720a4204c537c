package coincache

import (
	"syscall"
	"unsafe"
)

// hugePages is how large a mapping has to be for pages of 2 MiB.
const hugePages = 2 << 20

// allocBytes returns zeroed memory outside of the collector's heap, which is
// neither scanned nor counted by it, and goes back at once when it is freed.
func allocBytes(n int) []byte {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic("coincache: no memory: " + err.Error()) // as the runtime does for its own
	}
	if n >= hugePages {
		_ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) // advice alone
	}
	return b
}

func freeBytes(b []byte) { _ = syscall.Munmap(b) }

func allocSlots(n int) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(allocBytes(n*8)))), n)
}

func freeSlots(s []uint64) {
	if s != nil {
		freeBytes(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*8))
	}
}

func allocOrders(n int) []order {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*order)(unsafe.Pointer(unsafe.SliceData(allocBytes(n*orderSize)))), n)
}

func freeOrders(s []order) {
	if s != nil {
		freeBytes(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*orderSize))
	}
}
