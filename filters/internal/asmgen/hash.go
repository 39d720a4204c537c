package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// Registers of hashTiles512.
const (
	zStart0  = "Z16" // (v0+v1)<<<32 of the first round, which no message changes
	zStart1  = "Z17" // v1 after the first half of that round
	zStart1r = "Z18" // that <<<17
	zStart2  = "Z19" // v2 and v3 before it
	zStart3  = "Z20"
	zLimit   = "Z21"
	zHigh    = "Z22" // zLimit >> 32
	zLow     = "Z23" // 0xffffffff
	zFF      = "Z28"
)

// hashTiles512 hashes many scripts for one block.
func hashTiles512(a *file) {
	a.Function("hashTiles512(dst, tiles *uint64, count, words int, k0, k1, limit uint64)", 0, 56,
		"hashTiles512 hashes count tiles of 32 messages each with one key.")
	a.Load("dst", 0, "DI", "tiles", 8, "SI", "k0", 32, "AX", "k1", 40, "BX", "limit", 48, "DX")
	hashLoop(a, "count+16(FP)", func() {}, func() {}, func() {})
	a.Op("VZEROUPPER")
	a.Op("RET")
}

// hashLoop writes the loop over tiles at SI, whose hashes go to DI; tiles is their counter. AX
// and BX are the key, DX the limit. At several places in the rounds meanwhile is called, to
// write work that fits between; after a tile next is called. Both may overwrite AX, DX and
// R10.
func hashLoop(a *file, tiles string, start, meanwhile, next func()) {
	states := states512()
	a.Note("The state at the start: the key and constants.")
	for i, c := range sip {
		a.Op("MOVQ", fmt.Sprintf("$%#x", c), "R10")
		a.Op("XORQ", []string{"AX", "BX"}[i%2], "R10")
		a.Op("VPBROADCASTQ", "R10", []string{zStart0, zStart1, zStart2, zStart3}[i])
	}
	a.Op("VPADDQ", zStart1, zStart0, zStart0)
	a.Op("VPROLQ", 13, zStart1, zStart1)
	a.Op("VPXORQ", zStart0, zStart1, zStart1)
	a.Op("VPROLQ", 32, zStart0, zStart0)
	a.Op("VPROLQ", 17, zStart1, zStart1r)
	a.Op("VPBROADCASTQ", "DX", zLimit)
	a.Op("VPSRLQ", 32, zLimit, zHigh)
	for _, c := range []struct {
		value, register string
	}{{"$0xffffffff", zLow}, {"$0xff", zFF}} {
		a.Op("MOVQ", c.value, "R10")
		a.Op("VPBROADCASTQ", "R10", c.register)
	}

	start()

	a.Label("tile", "For each tile: the first word, of whose first round is done what no message changes.")
	each(states, func(i int, _ state) { a.Op("VMOVDQU64", asm.Mem("SI", 64*i), asm.Z(24+i)) })
	firstRound(a, states, func(i int) string { return asm.Z(24 + i) })
	a.Op("sipHalf1")
	meanwhile()
	a.Op("sipHalf2")
	meanwhile()
	each(states, func(i int, v state) { a.Op("VPXORQ", asm.Mem("SI", 64*i), v[0], v[0]) })
	a.Op("MOVQ", "words+24(FP)", "R10")
	a.Op("JMP", "words")

	a.Label("word", "For each other word of the messages: two rounds.")
	each(states, func(i int, v state) { a.Op("VPXORQ", asm.Mem("SI", 64*i), v[3], v[3]) })
	rounds(a, 2)
	each(states, func(i int, v state) { a.Op("VPXORQ", asm.Mem("SI", 64*i), v[0], v[0]) })
	a.Label("words", "As long as there are words.")
	a.Op("ADDQ", 8*tile, "SI")
	a.Op("DECQ", "R10")
	a.Op("JNZ", "word")

	finish512(a, states, zFF, meanwhile)
	a.Note("A limit of more than 32 bits, of more than 5,471 elements, takes longer.")
	a.Op("MOVQ", "limit+48(FP)", "DX")
	a.Op("SHRQ", 32, "DX")
	a.Op("JNZ", "wide")
	reduceNarrow512(a, states, always(zLimit))
	a.Label("store", "Store the hashes, go to the next tile.")
	each(states, func(i int, v state) { a.Op("VMOVDQU64", v[0], asm.Mem("DI", 64*i)) })
	next()
	a.Op("ADDQ", 8*tile, "DI")
	a.Op("DECQ", tiles)
	a.Op("JNZ", "tile")
	a.Op("JMP", "end")

	a.Label("wide", "Reduce to below a wide limit.")
	reduce512(a, states, always(zLimit), always(zHigh), zLow, func(i int) string { return asm.Z(24 + i) })
	a.Op("JMP", "store")
	a.Label("end", "All tiles are done.")
}

// firstRound writes the first SipRound after the message word, in the registers
// that m names, was put into the state of the start.
func firstRound(a *file, states []state, m func(i int) string) {
	each(states, func(i int, v state) { a.Op("VPXORQ", m(i), zStart3, v[3]) })
	each(states, func(_ int, v state) { a.Op("VPADDQ", v[3], zStart2, v[2]) })
	each(states, func(_ int, v state) { a.Op("VPROLQ", 16, v[3], v[3]) })
	each(states, func(_ int, v state) { a.Op("VPXORQ", v[2], v[3], v[3]) })
	each(states, func(_ int, v state) { a.Op("VPADDQ", zStart1, v[2], v[2]) })
	each(states, func(_ int, v state) { a.Op("VPADDQ", v[3], zStart0, v[0]) })
	each(states, func(_ int, v state) { a.Op("VPXORQ", zStart1r, v[2], v[1]) })
	each(states, func(_ int, v state) { a.Op("VPROLQ", 21, v[3], v[3]) })
	each(states, func(_ int, v state) { a.Op("VPXORQ", v[0], v[3], v[3]) })
	rotate512(a, states, 32, 2, 2)
}

// hashLanes512 hashes one script for many blocks.
func hashLanes512(a *file) {
	a.Function("hashLanes512(dst, message *uint64, words int, keys *laneKeys)", 0, 32,
		"hashLanes512 hashes a message, whose words lie 32 apart, with 32 keys.")
	states := states512()
	a.Load("dst", 0, "DI", "message", 8, "SI", "words", 16, "R8", "keys", 24, "BX")
	a.Note("The state at the start: the keys and constants.")
	for i, c := range sip {
		a.broadcast(c, "Z16")
		each(states, func(j int, v state) { a.Op("VPXORQ", asm.Mem("BX", 8*lanes*(i%2)+64*j), "Z16", v[i]) })
	}
	a.broadcast(0xffffffff, "Z22")
	a.broadcast(0xff, "Z23")

	a.Label("word", "For each word of the messages: two rounds.")
	a.Op("VPBROADCASTQ", "(SI)", "Z16")
	a.Op("ADDQ", 8*tile, "SI")
	each(states, func(_ int, v state) { a.Op("VPXORQ", "Z16", v[3], v[3]) })
	rounds(a, 2)
	each(states, func(_ int, v state) { a.Op("VPXORQ", "Z16", v[0], v[0]) })
	a.Op("DECQ", "R8")
	a.Op("JNZ", "word")

	finish512(a, states, "Z23", func() {})
	a.Note("Each key has a limit of its own. Is any of them wide?")
	limit := func(i int) string { return asm.Z(24 + i) }
	each(states, func(i int, _ state) { a.Op("VMOVDQU64", asm.Mem("BX", 16*lanes+64*i), limit(i)) })
	a.Op("VPORQ", limit(0), limit(1), "Z16")
	a.Op("VPTERNLOGQ", "$0xfe", limit(2), limit(3), "Z16")
	a.Op("VPSRLQ", 32, "Z16", "Z16")
	a.Op("VPTESTMQ", "Z16", "Z16", "K1")
	a.Op("KORTESTB", "K1", "K1")
	a.Op("JNZ", "wide")
	reduceNarrow512(a, states, limit)
	a.Label("store", "Store the hashes.")
	each(states, func(i int, v state) { a.Op("VMOVDQU64", v[0], asm.Mem("DI", 64*i)) })
	a.Op("VZEROUPPER")
	a.Op("RET")

	a.Label("wide", "Reduce to below wide limits.")
	each(states, func(i int, _ state) { a.Op("VPSRLQ", 32, limit(i), asm.Z(28+i)) })
	high := func(i int) string { return asm.Z(28 + i) }
	reduce512(a, states, limit, high, "Z22", func(i int) string { return asm.Z(16 + i) })
	a.Op("JMP", "store")
}
