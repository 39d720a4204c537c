package segment

import (
	"encoding/binary"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// hashIndex finds the slot of a block by open addressing. It keeps slot
// numbers only and compares with the hash in the slot: 4 to 8 bytes a block,
// where a map would take over 40.
type hashIndex struct {
	cells []uint32 // slot number + 1; 0 is free; a power of two long
	used  int
}

// add enters the last of slots.
func (x *hashIndex) add(slots []slot) {
	if 4*(x.used+1) > 3*len(x.cells) {
		x.grow(slots[:len(slots)-1])
	}
	x.put(slots, uint32(len(slots)-1))
}

func (x *hashIndex) grow(slots []slot) {
	*x = hashIndex{cells: make([]uint32, max(16, 2*len(x.cells)))}
	for n := range slots {
		x.put(slots, uint32(n))
	}
}

func (x *hashIndex) put(slots []slot, n uint32) {
	i := x.home(&slots[n].block)
	for x.cells[i] != 0 {
		i = x.next(i)
	}
	x.cells[i] = n + 1
	x.used++
}

func (x *hashIndex) find(slots []slot, block *chainhash.Hash) (n uint32, ok bool) {
	if len(x.cells) == 0 {
		return 0, false
	}
	for i := x.home(block); x.cells[i] != 0; i = x.next(i) {
		n := x.cells[i] - 1
		if slots[n].block == *block {
			return n, true
		}
	}
	return 0, false
}

// home takes the low bytes of the hash: the proof of work leaves them random.
func (x *hashIndex) home(block *chainhash.Hash) uint32 {
	return binary.LittleEndian.Uint32(block[:]) & uint32(len(x.cells)-1)
}

func (x *hashIndex) next(i uint32) uint32 { return (i + 1) & uint32(len(x.cells)-1) }
