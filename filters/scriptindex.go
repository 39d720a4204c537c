package filters

import "hash/maphash"

// scriptIndex finds scripts among the messages of a query, by open addressing. Its hash has a secret,
// so that nobody can choose scripts that collide.
type scriptIndex struct {
	seed  maphash.Seed
	cells []uint64 // upper half of the hash, then place in its group + 1; 0 is free
	marks []uint64 // a bit for each hash, so that most others are told without a cell; nil for few
}

const (
	// minCells is how many cells there are at least; it is a power of two.
	minCells = 16

	// manyCells is the number of cells from which on they are filled up to three quarters, not to
	// a half. From this size on there are also marks, which stay in the processor's cache longer
	// than the cells.
	manyCells = 1 << 13

	// marksShift is by how much more marks there are than cells, as a power of two.
	marksShift = 3
)

func (x *scriptIndex) hash(script []byte) uint64 { return maphash.Bytes(x.seed, script) }

// room is how many scripts so many cells are for.
func room(cells int) int {
	if cells < manyCells {
		return cells / 2
	}
	return cells / 4 * 3
}

// grow makes room for n scripts, of which those in the groups are there.
func (x *scriptIndex) grow(n int, groups []messages) {
	if n <= room(len(x.cells)) && x.cells != nil {
		return
	}
	if x.cells == nil {
		x.seed = maphash.MakeSeed()
	}
	size := max(minCells, len(x.cells))
	for room(size) < n {
		size *= 2
	}
	x.cells, x.marks = make([]uint64, size), nil
	if size >= manyCells {
		x.marks = make([]uint64, size<<marksShift/64)
	}
	var script []byte
	for i := range groups {
		for at := range groups[i].count {
			script = groups[i].appendScript(script[:0], at)
			hash := x.hash(script)
			x.set(x.free(hash), hash, at)
		}
	}
}

// free returns the cell that a new script with a hash would take.
func (x *scriptIndex) free(hash uint64) int {
	mask := len(x.cells) - 1
	at := int(hash) & mask
	for x.cells[at] != 0 {
		at = (at + 1) & mask
	}
	return at
}

// set notes that a script with a hash is at a place of its group.
func (x *scriptIndex) set(cell int, hash uint64, place int) {
	x.cells[cell] = hash>>32<<32 | uint64(uint32(place+1))
	if x.marks != nil {
		mark := x.mark(hash)
		x.marks[mark/64] |= 1 << (mark % 64)
	}
}

// mark returns which mark a hash has.
func (x *scriptIndex) mark(hash uint64) uint64 { return hash >> 20 & (uint64(len(x.marks))*64 - 1) }

// marked reports whether a script with a hash may be there. There are marks.
func (x *scriptIndex) marked(hash uint64) bool {
	mark := x.mark(hash)
	return x.marks[mark/64]>>(mark%64)&1 != 0
}

// find returns the place of a script with a hash in its group, or else -1 and the cell that
// it would take. Cells of other groups do no harm: what is compared is the script.
func (x *scriptIndex) find(hash uint64, script []byte, g *messages) (cell, place int) {
	mask := len(x.cells) - 1
	for at := int(hash) & mask; ; at = (at + 1) & mask {
		c := x.cells[at]
		if c == 0 {
			return at, -1
		}
		if place := int(uint32(c)) - 1; c>>32 == hash>>32 && place < g.count && g.is(place, script) {
			return at, place
		}
	}
}
