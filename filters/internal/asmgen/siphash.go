package main

import "fmt"

// tile is how many messages lie side by side, as filters.tileWidth.
const tile = 32

// sip are the words of SipHash's initial state before the key.
var sip = [4]uint64{0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573}

// state names the four registers of SipHash's state.
type state [4]string

// states512 are the states of 32 messages: four registers of each word, so that
// there is always one to work on while others wait.
func states512() []state {
	states := make([]state, tile/8)
	for i := range states {
		states[i] = state{z(4 * i), z(4*i + 1), z(4*i + 2), z(4*i + 3)}
	}
	return states
}

// each writes an instruction for each of the states, one after the other, so
// that they wait for each other's latency least.
func each(states []state, write func(i int, v state)) {
	for i, v := range states {
		write(i, v)
	}
}

// round512 defines the macros of a SipRound of each of the states.
func round512(a *file, states []state) {
	add := func(from, to int) {
		each(states, func(_ int, v state) { a.op("VPADDQ", v[from], v[to], v[to]) })
	}
	xor := func(from, to int) {
		each(states, func(_ int, v state) { a.op("VPXORQ", v[from], v[to], v[to]) })
	}
	rotate := func(by, at int) {
		each(states, func(_ int, v state) { a.op("VPROLQ", by, v[at], v[at]) })
	}
	a.macro("sipHalf1", "sipHalf1 is the first half of a SipRound of four registers of 8 states, Z0 to Z3 and so on.", func() {
		sipHalf1(add, xor, rotate)
	})
	a.macro("sipHalf2", "sipHalf2 is the second half.", func() {
		sipHalf2(add, xor, rotate)
	})
}

// rounds writes n SipRounds.
func rounds(a *file, n int) {
	for range n {
		a.op("sipHalf1")
		a.op("sipHalf2")
	}
}

// sipHalf1 and sipHalf2 write the halves of a SipRound in terms of its three
// operations.
func sipHalf1(add, xor, rotate func(int, int)) {
	add(1, 0)
	add(3, 2)
	rotate(13, 1)
	rotate(16, 3)
	xor(0, 1)
	xor(2, 3)
	rotate(32, 0)
}

func sipHalf2(add, xor, rotate func(int, int)) {
	add(1, 2)
	add(3, 0)
	rotate(17, 1)
	rotate(21, 3)
	xor(2, 1)
	xor(0, 3)
	rotate(32, 2)
}

// finish512 writes the end of SipHash, which leaves the hash in v[0]. ff is a
// register of 0xff. v[0] and v[1] of the last round are part of the hash twice, so
// what makes them is left out: hash = v1<<<17 ^ v3<<<21 ^ v2 ^ v2<<<32. between is
// called after each half of the other rounds.
func finish512(a *file, states []state, ff string, between func()) {
	a.note("The end of SipHash: four rounds, and the state's words together.")
	each(states, func(_ int, v state) { a.op("VPXORQ", ff, v[2], v[2]) })
	for range 3 {
		a.op("sipHalf1")
		between()
		a.op("sipHalf2")
		between()
	}
	each(states, func(_ int, v state) { a.op("VPADDQ", v[1], v[0], v[0]) })
	each(states, func(_ int, v state) { a.op("VPADDQ", v[3], v[2], v[2]) })
	each(states, func(_ int, v state) { a.op("VPROLQ", 13, v[1], v[1]) })
	each(states, func(_ int, v state) { a.op("VPROLQ", 16, v[3], v[3]) })
	each(states, func(_ int, v state) { a.op("VPXORQ", v[0], v[1], v[1]) })
	each(states, func(_ int, v state) { a.op("VPXORQ", v[2], v[3], v[3]) })
	each(states, func(_ int, v state) { a.op("VPADDQ", v[1], v[2], v[2]) })
	each(states, func(_ int, v state) { a.op("VPROLQ", 17, v[1], v[1]) })
	each(states, func(_ int, v state) { a.op("VPROLQ", 21, v[3], v[3]) })
	each(states, func(_ int, v state) { a.op("VPROLQ", 32, v[2], v[0]) })
	each(states, func(_ int, v state) { a.op("VPTERNLOGQ", "$0x96", v[1], v[2], v[3]) })
	each(states, func(_ int, v state) { a.op("VPXORQ", v[3], v[0], v[0]) })
}

// reduce512 writes v[0] = v[0]*limit >> 64, the long way by halves: there is no
// instruction for it. limit(i) is a register for state i, low a register of
// 0xffffffff. The rest of each state and t are overwritten.
func reduce512(a *file, states []state, limit, high func(i int) string, low string, t func(i int) string) {
	a.note("Reduce the hash h to below the limit f: h*f >> 64 by halves of 32 bits.")
	each(states, func(_ int, v state) { a.op("VPSRLQ", 32, v[0], v[1]) })
	each(states, func(i int, v state) { a.op("VPMULUDQ", limit(i), v[0], v[2]) })
	each(states, func(i int, v state) { a.op("VPMULUDQ", limit(i), v[1], v[3]) })
	each(states, func(i int, v state) { a.op("VPMULUDQ", high(i), v[0], t(i)) })
	each(states, func(i int, v state) { a.op("VPMULUDQ", high(i), v[1], v[0]) })
	a.note("Carry: ((h0*f0 >> 32) + low(h1*f0) + low(h0*f1)) >> 32.")
	each(states, func(_ int, v state) { a.op("VPSRLQ", 32, v[2], v[2]) })
	each(states, func(_ int, v state) { a.op("VPANDQ", low, v[3], v[1]) })
	each(states, func(_ int, v state) { a.op("VPADDQ", v[1], v[2], v[2]) })
	each(states, func(i int, v state) { a.op("VPANDQ", low, t(i), v[1]) })
	each(states, func(_ int, v state) { a.op("VPADDQ", v[1], v[2], v[2]) })
	each(states, func(_ int, v state) { a.op("VPSRLQ", 32, v[2], v[2]) })
	a.note("h1*f1 + high(h1*f0) + high(h0*f1) + carry.")
	each(states, func(_ int, v state) { a.op("VPSRLQ", 32, v[3], v[3]) })
	each(states, func(i int, _ state) { a.op("VPSRLQ", 32, t(i), t(i)) })
	each(states, func(_ int, v state) { a.op("VPADDQ", v[2], v[0], v[0]) })
	each(states, func(_ int, v state) { a.op("VPADDQ", v[3], v[0], v[0]) })
	each(states, func(i int, v state) { a.op("VPADDQ", t(i), v[0], v[0]) })
}

// reduceNarrow512 is reduce512 for a limit below 2^32.
func reduceNarrow512(a *file, states []state, limit func(i int) string) {
	a.note("Reduce the hash h to below the limit f of 32 bits: (h1*f + (h0*f >> 32)) >> 32.")
	each(states, func(_ int, v state) { a.op("VPSRLQ", 32, v[0], v[1]) })
	each(states, func(i int, v state) { a.op("VPMULUDQ", limit(i), v[0], v[0]) })
	each(states, func(i int, v state) { a.op("VPMULUDQ", limit(i), v[1], v[1]) })
	each(states, func(_ int, v state) { a.op("VPSRLQ", 32, v[0], v[0]) })
	each(states, func(_ int, v state) { a.op("VPADDQ", v[1], v[0], v[0]) })
	each(states, func(_ int, v state) { a.op("VPSRLQ", 32, v[0], v[0]) })
}

// always makes a function of a register that is the same for all states.
func always(register string) func(int) string { return func(int) string { return register } }

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
	each(states, func(_ int, v state) { a.op("VPROLQ", 32, v[2], v[2]) })
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
	a.note("Each key has a limit of its own.")
	each(states, func(i int, _ state) { a.op("VMOVDQU64", mem("BX", 16*lanes+64*i), z(24+i)) })
	each(states, func(i int, _ state) { a.op("VPSRLQ", 32, z(24+i), z(28+i)) })
	reduce512(a, states, func(i int) string { return z(24 + i) }, func(i int) string { return z(28 + i) }, "Z22", func(i int) string { return z(16 + i) })
	each(states, func(i int, v state) { a.op("VMOVDQU64", v[0], mem("DI", 64*i)) })
	a.op("VZEROUPPER")
	a.op("RET")
}
