package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// sums writes the function that hashes blocks.
func (v *vectors) sums() {
	v.Function(
		fmt.Sprint("sums", v.width)+"(dst *node, start *[8]uint32, blocks *block, l *lanes16, groups int)", 0, 40,
		fmt.Sprintf("sums hashes groups of %d blocks.", v.lanes()),
	)
	v.Load("dst", 0, "DI", "start", 8, "DX", "blocks", 16, "SI", "l", 24, "R8", "groups", 32, "CX")
	v.Op("ADDQ", "$lanes16_schedule", "R8")
	v.Label("group", "For each group: rows of words to rows of lanes.")
	if v.wide() {
		v.turn512()
	} else {
		v.turn256()
	}
	v.start()
	v.compress(anyBlock)
	v.finish()
	v.Note("Words to nodes.")
	v.unpack(v.r, v.free, func(i int) string { return v.r(4 + i) })
	for i := range 4 {
		v.swapBytes(v.free(i), v.free(i))
		v.move(v.free(i), asm.Mem("DI", v.bytes()*i))
	}
	v.Op("ADDQ", 64*v.lanes(), "SI")
	v.Op("ADDQ", 16*v.lanes(), "DI")
	v.Op("DECQ", "CX")
	v.Op("JNZ", "group")
	v.end()
}

// blockAt returns which block a lane of sums hashes, so that nodes come out in order.
func blockAt(lane, lanes int) int { return lane%4*(lanes/4) + lane/4 }

// turn512 loads 16 blocks: register 8 + t gets word t of each.
func (v *vectors) turn512() {
	for q := range 4 {
		for s := range 4 {
			v.move(asm.Mem("SI", 64*blockAt(4*q+s, v.lanes())), v.r(s))
			v.swapBytes(v.r(s), v.r(s))
		}
		v.unpack(v.r, func(i int) string { return v.r(8 + 4*q + i) }, func(i int) string { return v.r(4 + i) })
	}
	for i := range 4 {
		at := func(q int) string { return v.r(8 + 4*q + i) }
		for j, pick := range []string{"$0x44", "$0xee"} {
			v.Op("VSHUFI32X4", pick, at(1), at(0), v.free(j))
			v.Op("VSHUFI32X4", pick, at(3), at(2), v.free(2+j))
		}
		for j := range 2 {
			v.Op("VSHUFI32X4", "$0x88", v.free(2+j), v.free(j), at(2*j))
			v.Op("VSHUFI32X4", "$0xdd", v.free(2+j), v.free(j), at(2*j+1))
		}
	}
}

// turn256 loads 8 blocks: line t of the schedule gets word t of each.
func (v *vectors) turn256() {
	for half := range 2 {
		for q := range 2 {
			for s := range 4 {
				v.move(asm.Mem("SI", 64*blockAt(4*q+s, v.lanes())+32*half), v.r(s))
				v.swapBytes(v.r(s), v.r(s))
			}
			v.unpack(v.r, func(i int) string { return v.r(8 + 4*q + i) }, func(i int) string { return v.r(4 + i) })
		}
		for i := range 4 {
			for j, pick := range []string{"$0x20", "$0x31"} {
				v.Op("VPERM2I128", pick, v.r(12+i), v.r(8+i), v.r(0))
				v.move(v.r(0), v.word(8*half+4*j+i))
			}
		}
	}
}
