package filters_test

import (
	"sync"
	"syscall"
)

const (
	guardSlots = 160
	guardSlot  = 1 << 16 // bytes before the page that may not be read
	guardPage  = 1 << 16
)

// guardMemory is slots, each before a page that may not be read; nil where there
// can be none.
var guardMemory = sync.OnceValue(func() []byte {
	mem, err := syscall.Mmap(
		-1, 0, guardSlots*(guardSlot+guardPage), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE,
	)
	if err != nil {
		return nil
	}
	for end := guardSlot; end < len(mem); end += guardSlot + guardPage {
		if syscall.Mprotect(mem[end:end+guardPage], syscall.PROT_NONE) != nil {
			return nil
		}
	}
	return mem
})

// guard puts bytes where reading further ends the process. Its copies are valid
// until the next guard is used.
type guard struct{ used int }

// before returns a copy of b, with those bytes up to its capacity that may be
// read, right before a page that may not; or b, where there is no room.
func (g *guard) before(b []byte) []byte {
	mem := guardMemory()
	if mem == nil || g.used == guardSlots || cap(b) > guardSlot {
		return b
	}
	end := g.used*(guardSlot+guardPage) + guardSlot
	g.used++
	at := mem[end-cap(b) : end : end]
	copy(at, b[:cap(b)])
	return at[:len(b)]
}
