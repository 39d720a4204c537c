package segment

import (
	"encoding/binary"
	"testing"
)

// The index finds each block that was added, and no other, wherever the search for it begins.
func TestHashIndex(t *testing.T) {
	var x hashIndex
	var slots []slot
	if _, ok := x.find(slots, &new(slot).block); ok {
		t.Error("an empty index has a block")
	}
	for n := range 300 {
		slots = append(slots, slot{block: testBlock(1, n)})
		x.add(slots)
		if x.used != len(slots) || 4*x.used > 3*len(x.cells) {
			t.Fatalf("%d blocks: %d of %d cells are used", len(slots), x.used, len(x.cells))
		}
		for i := range slots {
			if at, ok := x.find(slots, &slots[i].block); !ok || int(at) != i {
				t.Fatalf("%d blocks: number %d is found at %d, %v", len(slots), i, at, ok)
			}
		}
		for home := range x.cells {
			var other slot
			binary.LittleEndian.PutUint32(other.block[:], uint32(home))
			if at, ok := x.find(slots, &other.block); ok {
				t.Fatalf("%d blocks: a foreign block is found at %d", len(slots), at)
			}
		}
	}
}
