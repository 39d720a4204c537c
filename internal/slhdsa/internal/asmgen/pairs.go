package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// pairAt returns which of its pairs a lane of pairs hashes.
func pairAt(lane, lanes int) int {
	if lanes == 8 {
		return lane
	}
	return lane/8*8 + lane%4*2 + lane/4%2
}

// pairs writes the function that hashes pairs of nodes.
func (v *vectors) pairs() {
	v.Function(
		fmt.Sprint("pairs", v.width)+"(dst, nodes *node, l *lanes16, start *[8]uint32, index, groups int)", 0, 48,
		fmt.Sprintf("pairs hashes groups of %d pairs of nodes, whose addresses have indices from index on. "+
			"dst may be nodes.", v.lanes()),
	)
	v.Load("dst", 0, "DI", "nodes", 8, "SI", "l", 16, "BX", "start", 24, "DX")
	v.Load("index", 32, "AX", "groups", 40, "CX")
	v.Op("LEAQ", "lanes16_schedule(BX)", "R8")
	v.Op("SHLL", 16, "AX")
	v.Op("VMOVD", "AX", "X0")
	v.broadcast("X0", v.r(0))
	v.add("order<>(SB)", v.r(0))
	v.move(v.r(0), lane("tag", 0))
	if v.wide() {
		v.lowWords()
	}
	v.Label("group", "For each group: nodes to words, left ones in registers 0 to 3, right ones in 4 to 7.")
	w := func(i int) string { return v.r(8 + i) }
	from := func(first int) func(int) string { return func(i int) string { return v.r(first + i) } }
	for i := range 8 {
		v.move(asm.Mem("SI", v.bytes()*i), v.r(i))
		v.swapBytes(v.r(i), v.r(i))
	}
	if v.wide() {
		v.unpack(from(0), from(8), v.free)
		v.unpack(from(4), from(12), v.free)
	} else {
		v.unpack(from(0), from(8), from(12))
		v.unpack(from(4), from(12), from(0))
	}
	for i := range 4 {
		if v.wide() {
			v.Op("VSHUFI32X4", "$0x88", w(4+i), w(i), v.r(i))
			v.Op("VSHUFI32X4", "$0xdd", w(4+i), w(i), v.r(4+i))
		} else {
			v.Op("VPERM2I128", "$0x20", w(4+i), w(i), v.r(i))
			v.Op("VPERM2I128", "$0x31", w(4+i), w(i), v.r(4+i))
		}
	}
	v.pack(8)
	v.opened()
	v.compress(twoNodes)
	v.finish()
	v.Note("Words to nodes.")
	v.unpack(from(0), from(8), from(4))
	for i := range 4 {
		v.swapBytes(w(i), w(i))
		if v.wide() {
			v.Op("VMOVDQU32", asm.Y(8+i), asm.Mem("DI", 32*i))
			v.Op("VEXTRACTI64X4", 1, w(i), asm.Mem("DI", 128+32*i))
		} else {
			v.Op("VMOVDQU", asm.X(8+i), asm.Mem("DI", 16*i))
			v.Op("VEXTRACTI128", 1, w(i), asm.Mem("DI", 64+16*i))
		}
	}
	v.Note("The next group.")
	v.Op("ADDQ", 8*v.bytes(), "SI")
	v.Op("ADDQ", 4*v.bytes(), "DI")
	v.Op("MOVL", v.lanes()<<16, "AX")
	v.Op("VMOVD", "AX", "X0")
	v.broadcast("X0", v.r(0))
	v.add(lane("tag", 0), v.r(0))
	v.move(v.r(0), lane("tag", 0))
	v.Op("DECQ", "CX")
	v.Op("JNZ", "group")
	v.end()
}
