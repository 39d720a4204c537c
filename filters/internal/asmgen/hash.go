package main

import "fmt"

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
	a.function("hashTiles512(dst, tiles *uint64, count, words int, k0, k1, limit uint64)", 0, 56,
		"hashTiles512 hashes count tiles of 32 messages each with one key.")
	a.load("dst", 0, "DI", "tiles", 8, "SI", "k0", 32, "AX", "k1", 40, "BX", "limit", 48, "DX")
	hashLoop(a, "count+16(FP)", func() {}, func() {}, func() {})
	a.op("VZEROUPPER")
	a.op("RET")
}

// hashLoop writes the loop over tiles at SI, whose hashes go to DI; tiles is a
// counter of them. AX and BX are the key, DX the limit. meanwhile is called for
// each of the places, to write what else can be done during the rounds, and next after a tile;
// both may overwrite AX, DX and R10.
func hashLoop(a *file, tiles string, start, meanwhile, next func()) {
	states := states512()
	a.note("The state at the start: the key and constants.")
	for i, c := range sip {
		a.op("MOVQ", fmt.Sprintf("$%#x", c), "R10")
		a.op("XORQ", []string{"AX", "BX"}[i%2], "R10")
		a.op("VPBROADCASTQ", "R10", []string{zStart0, zStart1, zStart2, zStart3}[i])
	}
	a.op("VPADDQ", zStart1, zStart0, zStart0)
	a.op("VPROLQ", 13, zStart1, zStart1)
	a.op("VPXORQ", zStart0, zStart1, zStart1)
	a.op("VPROLQ", 32, zStart0, zStart0)
	a.op("VPROLQ", 17, zStart1, zStart1r)
	a.op("VPBROADCASTQ", "DX", zLimit)
	a.op("VPSRLQ", 32, zLimit, zHigh)
	for _, c := range []struct {
		value, register string
	}{{"$0xffffffff", zLow}, {"$0xff", zFF}} {
		a.op("MOVQ", c.value, "R10")
		a.op("VPBROADCASTQ", "R10", c.register)
	}

	start()

	a.label("tile", "For each tile: the first word, of whose first round is done what no message changes.")
	each(states, func(i int, _ state) { a.op("VMOVDQU64", mem("SI", 64*i), z(24+i)) })
	firstRound(a, states, func(i int) string { return z(24 + i) })
	a.op("sipHalf1")
	meanwhile()
	a.op("sipHalf2")
	meanwhile()
	each(states, func(i int, v state) { a.op("VPXORQ", mem("SI", 64*i), v[0], v[0]) })
	a.op("MOVQ", "words+24(FP)", "R10")
	a.op("JMP", "words")

	a.label("word", "For each other word of the messages: two rounds.")
	each(states, func(i int, v state) { a.op("VPXORQ", mem("SI", 64*i), v[3], v[3]) })
	rounds(a, 2)
	each(states, func(i int, v state) { a.op("VPXORQ", mem("SI", 64*i), v[0], v[0]) })
	a.label("words", "As long as there are words.")
	a.op("ADDQ", 8*tile, "SI")
	a.op("DECQ", "R10")
	a.op("JNZ", "word")

	finish512(a, states, zFF, meanwhile)
	a.note("A limit of more than 32 bits, of more than 5,471 elements, takes longer.")
	a.op("MOVQ", "limit+48(FP)", "DX")
	a.op("SHRQ", 32, "DX")
	a.op("JNZ", "wide")
	reduceNarrow512(a, states, always(zLimit))
	a.label("store", "Store the hashes, go to the next tile.")
	each(states, func(i int, v state) { a.op("VMOVDQU64", v[0], mem("DI", 64*i)) })
	next()
	a.op("ADDQ", 8*tile, "DI")
	a.op("DECQ", tiles)
	a.op("JNZ", "tile")
	a.op("JMP", "end")

	a.label("wide", "Reduce to below a wide limit.")
	reduce512(a, states, always(zLimit), always(zHigh), zLow, func(i int) string { return z(24 + i) })
	a.op("JMP", "store")
	a.label("end", "All tiles are done.")
}

// firstRound writes the first SipRound after the message word, in the registers
// that m names, was put into the state of the start.
func firstRound(a *file, states []state, m func(i int) string) {
	each(states, func(i int, v state) { a.op("VPXORQ", m(i), zStart3, v[3]) })
	each(states, func(_ int, v state) { a.op("VPADDQ", v[3], zStart2, v[2]) })
	each(states, func(_ int, v state) { a.op("VPROLQ", 16, v[3], v[3]) })
	each(states, func(_ int, v state) { a.op("VPXORQ", v[2], v[3], v[3]) })
	each(states, func(_ int, v state) { a.op("VPADDQ", zStart1, v[2], v[2]) })
	each(states, func(_ int, v state) { a.op("VPADDQ", v[3], zStart0, v[0]) })
	each(states, func(_ int, v state) { a.op("VPXORQ", zStart1r, v[2], v[1]) })
	each(states, func(_ int, v state) { a.op("VPROLQ", 21, v[3], v[3]) })
	each(states, func(_ int, v state) { a.op("VPXORQ", v[0], v[3], v[3]) })
	rotate512(a, states, 32, 2, 2)
}

// hashLanes512 hashes one script for many blocks.
func hashLanes512(a *file) {
	a.function("hashLanes512(dst, message *uint64, words int, keys *laneKeys)", 0, 32,
		"hashLanes512 hashes a message, whose words lie 32 apart, with 32 keys.")
	states := states512()
	a.load("dst", 0, "DI", "message", 8, "SI", "words", 16, "R8", "keys", 24, "BX")
	a.note("The state at the start: the keys and constants.")
	for i, c := range sip {
		a.broadcast(c, "Z16")
		each(states, func(j int, v state) { a.op("VPXORQ", mem("BX", 8*lanes*(i%2)+64*j), "Z16", v[i]) })
	}
	a.broadcast(0xffffffff, "Z22")
	a.broadcast(0xff, "Z23")

	a.label("word", "For each word of the messages: two rounds.")
	a.op("VPBROADCASTQ", "(SI)", "Z16")
	a.op("ADDQ", 8*tile, "SI")
	each(states, func(_ int, v state) { a.op("VPXORQ", "Z16", v[3], v[3]) })
	rounds(a, 2)
	each(states, func(_ int, v state) { a.op("VPXORQ", "Z16", v[0], v[0]) })
	a.op("DECQ", "R8")
	a.op("JNZ", "word")

	finish512(a, states, "Z23", func() {})
	a.note("Each key has a limit of its own. Is any of them wide?")
	limit := func(i int) string { return z(24 + i) }
	each(states, func(i int, _ state) { a.op("VMOVDQU64", mem("BX", 16*lanes+64*i), limit(i)) })
	a.op("VPORQ", limit(0), limit(1), "Z16")
	a.op("VPTERNLOGQ", "$0xfe", limit(2), limit(3), "Z16")
	a.op("VPSRLQ", 32, "Z16", "Z16")
	a.op("VPTESTMQ", "Z16", "Z16", "K1")
	a.op("KORTESTB", "K1", "K1")
	a.op("JNZ", "wide")
	reduceNarrow512(a, states, limit)
	a.label("store", "Store the hashes.")
	each(states, func(i int, v state) { a.op("VMOVDQU64", v[0], mem("DI", 64*i)) })
	a.op("VZEROUPPER")
	a.op("RET")

	a.label("wide", "Reduce to below wide limits.")
	each(states, func(i int, _ state) { a.op("VPSRLQ", 32, limit(i), z(28+i)) })
	reduce512(a, states, limit, func(i int) string { return z(28 + i) }, "Z22", func(i int) string { return z(16 + i) })
	a.op("JMP", "store")
}
