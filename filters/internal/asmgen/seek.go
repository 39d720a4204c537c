package main

import "fmt"

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
	a.function("seek512(dst, tiles *uint64, count, words int, k0, k1, limit uint64, cells *uint64, ahead *elements) "+
		"(kept int)", 24, 80,
		"seek512 hashes count messages as hashTiles512 does, and moves those hashes whose bit is set in the cells to "+
			"the front. Meanwhile it marks values of other elements, in whole groups.")
	a.load("dst", 0, "DI", "tiles", 8, "SI", "k0", 32, "AX", "k1", 40, "BX", "limit", 48, "DX")
	hashLoop(a, tilesLeft, func() { seekStart(a) }, seekPlaces(a), func() {
		a.note("This tile is the one before now. Nothing was kept of zeros.")
		a.op("MOVQ", "DI", rBefore)
		a.op("ANDQ", keepMask, rKept)
		a.op("MOVQ", "$-1", keepMask)
	})
	a.op("VZEROUPPER")
	a.op("MOVQ", "ahead+64(FP)", "AX")
	saveMarks(a, "AX")
	a.note("The last tile: as many hashes as there are.")
	a.op("MOVQ", "count+16(FP)", "CX")
	a.op("DECQ", "CX")
	a.op("ANDQ", tile-1, "CX")
	a.label("last", "For each of CX+1 hashes.")
	seekStep(a, "("+rBefore+")")
	a.op("ADDQ", 8, rBefore)
	a.op("DECQ", "CX")
	a.op("JGE", "last")
	a.op("MOVQ", rKept, "kept+72(FP)")
	a.op("RET")
}

// seekStart writes what comes before the first tile.
func seekStart(a *file) {
	a.note("There is no tile before the first: zeros are, and nothing is kept of them.")
	a.op("VPXORQ", "Z0", "Z0", "Z0")
	for i := range tile / 8 {
		a.op("VMOVDQU64", "Z0", mem("DI", 64*i))
	}
	a.op("MOVQ", "DI", rBefore)
	a.op("MOVQ", "DI", rFirst)
	a.op("XORQ", rKept, rKept)
	a.op("MOVQ", "$0", keepMask)
	a.load("cells", 56, rBits, "count", 16, "AX")
	a.op("ADDQ", tile-1, "AX")
	a.op("SHRQ", 5, "AX")
	a.op("MOVQ", "AX", tilesLeft)
	a.load("ahead", 64, "AX")
	loadMarks(a, "AX", markEnd)
}

// seekPlaces returns what is to be done at each of the places.
func seekPlaces(a *file) func() {
	place := 0
	return func() {
		first := place * tile / places
		a.note("Meanwhile: are the bits of hashes %d to %d of the tile before set?", first, first+tile/places-1)
		for i := range tile / places {
			seekStep(a, mem(rBefore, 8*(first+i)))
		}
		skip := fmt.Sprint("marked", place)
		a.note("And mark a group of values, if there is one.")
		a.op("CMPQ", rValue, markEnd)
		a.op("JAE", skip)
		markSteps(a)
		a.label(skip, "Go on with the hashes.")
		place++
	}
}

// seekStep looks one hash up, and stores it after those that were kept.
func seekStep(a *file, hash string) {
	a.op("MOVQ", hash, "R10")
	a.op("RORXQ", "$const_slotShift", "R10", "AX")
	a.op("MOVQ", "R10", "DX")
	a.op("SHRQ", "$const_cellShift", "DX")
	a.op("MOVQ", "("+rBits+")(DX*8)", "DX")
	a.op("MOVQ", "R10", "("+rFirst+")("+rKept+"*8)")
	a.op("BTL", "AX", "DX")
	a.op("ADCQ", "$0", rKept)
}
