package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// rotate16 is the byte shuffle that rotates each number left by 16 bits.
var rotate16 = [4]uint64{0x0504030201000706, 0x0d0c0b0a09080f0e, 0x0504030201000706, 0x0d0c0b0a09080f0e}

// states256 are the states of 8 messages: more do not fit.
func states256() []state {
	return []state{{"Y0", "Y1", "Y2", "Y3"}, {"Y4", "Y5", "Y6", "Y7"}}
}

// round256 defines the macros of a SipRound of each of the states.
func round256(a *file, states []state) {
	add := func(from, to int) {
		each(states, func(_ int, v state) { a.Op("VPADDQ", v[from], v[to], v[to]) })
	}
	xor := func(from, to int) {
		each(states, func(_ int, v state) { a.Op("VPXOR", v[from], v[to], v[to]) })
	}
	rotate := func(by, at int) {
		each(states, func(i int, v state) {
			switch by {
			case 32:
				a.Op("VPSHUFD", "$0xb1", v[at], v[at])
			case 16:
				a.Op("VPSHUFB", "Y15", v[at], v[at])
			default:
				a.Op("VPSLLQ", by, v[at], asm.Y(8+i))
				a.Op("VPSRLQ", 64-by, v[at], v[at])
				a.Op("VPOR", asm.Y(8+i), v[at], v[at])
			}
		})
	}
	a.Macro("sipHalf1", "sipHalf1 is the first half of a SipRound of two registers of 4 states, Y0 to Y3 and Y4 to "+
		"Y7. AVX2 has no rotation: by 32 and 16 it is a shuffle, else two shifts. Y8 and Y9 are overwritten, Y15 is "+
		"rotate16.", func() {
		sipHalf1(add, xor, rotate)
	})
	a.Macro("sipHalf2", "sipHalf2 is the second half.", func() {
		sipHalf2(add, xor, rotate)
	})
}

// hashTile256 hashes scripts for one block.
func hashTile256(a *file) {
	a.Function("hashTile256(dst, tile *uint64, eights, words int, k0, k1, limit uint64)", 64, 56,
		"hashTile256 hashes the first messages of a tile, eights times 8 of them, with one key.")
	states := states256()
	a.Load(
		"dst", 0, "DI", "tile", 8, "SI", "eights", 16, "CX", "words", 24, "R8", "k0", 32, "AX", "k1", 40, "BX", "limit",
		48, "R11",
	)
	a.Note("The state at the start: the key and constants.")
	for i, c := range sip {
		a.Op("MOVQ", fmt.Sprintf("$%#x", c), "R9")
		a.Op("XORQ", []string{"AX", "BX"}[i%2], "R9")
		a.Op("MOVQ", "R9", asm.X(10+i))
		a.Op("VPBROADCASTQ", asm.X(10+i), asm.Y(10+i))
	}
	a.Op("MOVQ", "$0xff", "R9")
	a.Op("MOVQ", "R9", "X14")
	a.Op("VPBROADCASTQ", "X14", "Y14")
	a.Op("VMOVDQU", "rotate16<>(SB)", "Y15")

	a.Label("eight", "For each 8 messages: begin with 8 states.")
	each(states, func(_ int, v state) {
		for i := range v {
			a.Op("VMOVDQA", asm.Y(10+i), v[i])
		}
	})
	a.Op("MOVQ", "R8", "R10")
	a.Op("MOVQ", "SI", "R12")

	a.Label("word", "For each word of the messages: two rounds.")
	each(states, func(i int, v state) { a.Op("VPXOR", asm.Mem("R12", 32*i), v[3], v[3]) })
	rounds(a, 2)
	each(states, func(i int, v state) { a.Op("VPXOR", asm.Mem("R12", 32*i), v[0], v[0]) })
	a.Op("ADDQ", 8*tile, "R12")
	a.Op("DECQ", "R10")
	a.Op("JNZ", "word")

	finish256(a, states)
	a.Note("Reduce to below the limit: the upper half of a product, one by one.")
	each(states, func(i int, v state) { a.Op("VMOVDQU", v[0], asm.Mem("SP", 32*i)) })
	for i := range 8 {
		a.Op("MOVQ", asm.Mem("SP", 8*i), "DX")
		a.Op("MULXQ", "R11", "R9", "R13")
		a.Op("MOVQ", "R13", asm.Mem("DI", 8*i))
	}
	a.Note("The next 8 of the tile.")
	a.Op("ADDQ", 64, "SI")
	a.Op("ADDQ", 64, "DI")
	a.Op("DECQ", "CX")
	a.Op("JNZ", "eight")
	a.Op("VZEROUPPER")
	a.Op("RET")
}

// hashLanes256 hashes one script for many blocks.
func hashLanes256(a *file) {
	a.Function("hashLanes256(dst, message *uint64, words int, keys *laneKeys, eights int)", 64, 40,
		"hashLanes256 hashes a message, whose words lie 32 apart, with the first keys, eights times 8 of them.")
	states := states256()
	a.Load("dst", 0, "DI", "message", 8, "SI", "words", 16, "R8", "keys", 24, "BX", "eights", 32, "CX")
	for i, c := range sip {
		a.Op("MOVQ", fmt.Sprintf("$%#x", c), "R9")
		a.Op("MOVQ", "R9", asm.X(10+i))
		a.Op("VPBROADCASTQ", asm.X(10+i), asm.Y(10+i))
	}
	a.Op("MOVQ", "$0xff", "R9")
	a.Op("MOVQ", "R9", "X14")
	a.Op("VPBROADCASTQ", "X14", "Y14")
	a.Op("VMOVDQU", "rotate16<>(SB)", "Y15")

	a.Label("eight", "For each 8 keys: the states at the start.")
	each(states, func(j int, v state) {
		for i := range v {
			a.Op("VPXOR", asm.Mem("BX", 8*lanes*(i%2)+32*j), asm.Y(10+i), v[i])
		}
	})
	a.Op("MOVQ", "R8", "R10")
	a.Op("MOVQ", "SI", "R12")

	a.Label("word", "For each word of the message: two rounds.")
	a.Op("VPBROADCASTQ", "(R12)", "Y8")
	each(states, func(_ int, v state) { a.Op("VPXOR", "Y8", v[3], v[3]) })
	rounds(a, 2)
	a.Op("VPBROADCASTQ", "(R12)", "Y8")
	each(states, func(_ int, v state) { a.Op("VPXOR", "Y8", v[0], v[0]) })
	a.Op("ADDQ", 8*tile, "R12")
	a.Op("DECQ", "R10")
	a.Op("JNZ", "word")

	finish256(a, states)
	a.Note("Reduce to below the limits: the upper halves of products, one by one.")
	each(states, func(i int, v state) { a.Op("VMOVDQU", v[0], asm.Mem("SP", 32*i)) })
	for i := range 8 {
		a.Op("MOVQ", asm.Mem("SP", 8*i), "DX")
		a.Op("MULXQ", asm.Mem("BX", 16*lanes+8*i), "R9", "R13")
		a.Op("MOVQ", "R13", asm.Mem("DI", 8*i))
	}
	a.Note("The next 8.")
	a.Op("ADDQ", 64, "BX")
	a.Op("ADDQ", 64, "DI")
	a.Op("DECQ", "CX")
	a.Op("JNZ", "eight")
	a.Op("VZEROUPPER")
	a.Op("RET")
}

// finish256 writes the end of SipHash, which leaves the hash in v[0]. Y14 is a
// register of 0xff.
func finish256(a *file, states []state) {
	a.Note("The end of SipHash: four rounds, and the state's words together.")
	each(states, func(_ int, v state) { a.Op("VPXOR", "Y14", v[2], v[2]) })
	rounds(a, 4)
	each(states, func(_ int, v state) { a.Op("VPXOR", v[1], v[0], v[0]) })
	each(states, func(_ int, v state) { a.Op("VPXOR", v[3], v[2], v[2]) })
	each(states, func(_ int, v state) { a.Op("VPXOR", v[2], v[0], v[0]) })
}
