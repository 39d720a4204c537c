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

// round512 defines the macro sipRound: one SipRound of each of the states.
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
	a.macro("sipRound", "sipRound is one SipRound of four registers of 8 states, Z0 to Z3 and so on.", func() {
		sipRound(add, xor, rotate)
	})
}

// rounds writes n SipRounds.
func rounds(a *file, n int) {
	for range n {
		a.op("sipRound")
	}
}

// sipRound writes one SipRound in terms of its three operations.
func sipRound(add, xor, rotate func(int, int)) {
	add(1, 0)
	add(3, 2)
	rotate(13, 1)
	rotate(16, 3)
	xor(0, 1)
	xor(2, 3)
	rotate(32, 0)
	add(1, 2)
	add(3, 0)
	rotate(17, 1)
	rotate(21, 3)
	xor(2, 1)
	xor(0, 3)
	rotate(32, 2)
}

// finish512 writes the end of SipHash, which leaves the hash in v[0]. ff is a
// register of 0xff.
func finish512(a *file, states []state, ff string) {
	a.note("The end of SipHash: four rounds, and the state's words together.")
	each(states, func(_ int, v state) { a.op("VPXORQ", ff, v[2], v[2]) })
	rounds(a, 4)
	each(states, func(_ int, v state) { a.op("VPXORQ", v[1], v[0], v[0]) })
	each(states, func(_ int, v state) { a.op("VPTERNLOGQ", "$0x96", v[2], v[3], v[0]) })
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

// always makes a function of a register that is the same for all states.
func always(register string) func(int) string { return func(int) string { return register } }

// hashTiles512 hashes many scripts for one block.
func hashTiles512(a *file) {
	a.function("hashTiles512(dst, tiles *uint64, count, words int, k0, k1, limit uint64)", 0, 56,
		"hashTiles512 hashes count tiles of 32 messages each with one key.")
	states := states512()
	a.load("dst", 0, "DI", "tiles", 8, "SI", "count", 16, "CX", "words", 24, "R8", "k0", 32, "AX", "k1", 40, "BX", "limit", 48, "DX")
	a.note("The state at the start: the key and constants.")
	for i, c := range sip {
		a.op("MOVQ", fmt.Sprintf("$%#x", c), "R9")
		a.op("XORQ", []string{"AX", "BX"}[i%2], "R9")
		a.op("VPBROADCASTQ", "R9", z(16+i))
	}
	a.op("VPBROADCASTQ", "DX", "Z20")
	a.op("VPSRLQ", 32, "Z20", "Z21")
	a.broadcast(0xffffffff, "Z22")
	a.broadcast(0xff, "Z23")

	a.label("tile", "For each tile: begin with 32 states.")
	each(states, func(_ int, v state) {
		for i := range v {
			a.op("VMOVDQA64", z(16+i), v[i])
		}
	})
	a.op("MOVQ", "R8", "R10")

	a.label("word", "For each word of the messages: two rounds.")
	each(states, func(i int, _ state) { a.op("VMOVDQU64", mem("SI", 64*i), z(24+i)) })
	a.op("ADDQ", 8*tile, "SI")
	each(states, func(i int, v state) { a.op("VPXORQ", z(24+i), v[3], v[3]) })
	rounds(a, 2)
	each(states, func(i int, v state) { a.op("VPXORQ", z(24+i), v[0], v[0]) })
	a.op("DECQ", "R10")
	a.op("JNZ", "word")

	finish512(a, states, "Z23")
	reduce512(a, states, always("Z20"), always("Z21"), "Z22", func(i int) string { return z(24 + i) })
	a.note("Store the hashes, go to the next tile.")
	each(states, func(i int, v state) { a.op("VMOVDQU64", v[0], mem("DI", 64*i)) })
	a.op("ADDQ", 8*tile, "DI")
	a.op("DECQ", "CX")
	a.op("JNZ", "tile")
	a.op("VZEROUPPER")
	a.op("RET")
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

	finish512(a, states, "Z23")
	a.note("Each key has a limit of its own.")
	each(states, func(i int, _ state) { a.op("VMOVDQU64", mem("BX", 16*lanes+64*i), z(24+i)) })
	each(states, func(i int, _ state) { a.op("VPSRLQ", 32, z(24+i), z(28+i)) })
	reduce512(a, states, func(i int) string { return z(24 + i) }, func(i int) string { return z(28 + i) }, "Z22", func(i int) string { return z(16 + i) })
	each(states, func(i int, v state) { a.op("VMOVDQU64", v[0], mem("DI", 64*i)) })
	a.op("VZEROUPPER")
	a.op("RET")
}
