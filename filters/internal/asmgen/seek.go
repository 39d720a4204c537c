package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// Registers of looking hashes up: the tile before, how many hashes were kept, the
// cells and the first hash.
const (
	rBefore = "R9"
	rKept   = "R11"
	rBits   = "R12"
	rFirst  = "R15"
)

// Slots of the frame of seek512.
const (
	markEnd   = "0(SP)"
	tilesLeft = "8(SP)"
	keepMask  = "16(SP)"
)

// places is how many times hashLoop lets something else be done for each tile.
const places = 8

// seek512 hashes many scripts for one block, and looks them up. The vector
// instructions of hashing leave room for scalar ones, which look up the hashes of
// the tile before, and mark the values of the next filter.
func seek512(a *file) {
	a.Function("seek512(dst, tiles *uint64, count, words int, k0, k1, limit uint64, cells *uint64, ahead *elements) "+
		"(kept int)", 24, 80,
		"seek512 hashes count messages as hashTiles512 does, and moves those hashes whose bit is set in the cells to "+
			"the front. Meanwhile it marks values of other elements, in whole groups.")
	a.Load("dst", 0, "DI", "tiles", 8, "SI", "k0", 32, "AX", "k1", 40, "BX", "limit", 48, "DX")
	hashLoop(a, tilesLeft, func() { seekStart(a) }, seekPlaces(a), func() {
		a.Note("This tile is the one before now. Nothing was kept of zeros.")
		a.Op("MOVQ", "DI", rBefore)
		a.Op("ANDQ", keepMask, rKept)
		a.Op("MOVQ", "$-1", keepMask)
	})
	a.Op("VZEROUPPER")
	a.Op("MOVQ", "ahead+64(FP)", "AX")
	saveMarks(a, "AX")
	a.Note("The last tile: as many hashes as there are.")
	a.Op("MOVQ", "count+16(FP)", "CX")
	a.Op("DECQ", "CX")
	a.Op("ANDQ", tile-1, "CX")
	a.Label("last", "For each of CX+1 hashes.")
	seekStep(a, "("+rBefore+")")
	a.Op("ADDQ", 8, rBefore)
	a.Op("DECQ", "CX")
	a.Op("JGE", "last")
	a.Op("MOVQ", rKept, "kept+72(FP)")
	a.Op("RET")
}

// seekStart writes what comes before the first tile.
func seekStart(a *file) {
	a.Note("There is no tile before the first: zeros are, and nothing is kept of them.")
	a.Op("VPXORQ", "Z0", "Z0", "Z0")
	for i := range tile / 8 {
		a.Op("VMOVDQU64", "Z0", asm.Mem("DI", 64*i))
	}
	a.Op("MOVQ", "DI", rBefore)
	a.Op("MOVQ", "DI", rFirst)
	a.Op("XORQ", rKept, rKept)
	a.Op("MOVQ", "$0", keepMask)
	a.Load("cells", 56, rBits, "count", 16, "AX")
	a.Op("ADDQ", tile-1, "AX")
	a.Op("SHRQ", 5, "AX")
	a.Op("MOVQ", "AX", tilesLeft)
	a.Load("ahead", 64, "AX")
	loadMarks(a, "AX", markEnd)
}

// seekPlaces returns what is to be done at each of the places.
func seekPlaces(a *file) func() {
	place := 0
	return func() {
		first := place * tile / places
		a.Note("Meanwhile: are the bits of hashes %d to %d of the tile before set?", first, first+tile/places-1)
		for i := range tile / places {
			seekStep(a, asm.Mem(rBefore, 8*(first+i)))
		}
		skip := fmt.Sprint("marked", place)
		a.Note("And mark a group of values, if there is one.")
		a.Op("CMPQ", rValue, markEnd)
		a.Op("JAE", skip)
		markSteps(a)
		a.Label(skip, "Go on with the hashes.")
		place++
	}
}

// seekStep looks one hash up, and stores it after those that were kept.
func seekStep(a *file, hash string) {
	a.Op("MOVQ", hash, "R10")
	a.Op("RORXQ", "$const_slotShift", "R10", "AX")
	a.Op("MOVQ", "R10", "DX")
	a.Op("SHRQ", "$const_cellShift", "DX")
	a.Op("MOVQ", "("+rBits+")(DX*8)", "DX")
	a.Op("MOVQ", "R10", "("+rFirst+")("+rKept+"*8)")
	a.Op("BTL", "AX", "DX")
	a.Op("ADCQ", "$0", rKept)
}
