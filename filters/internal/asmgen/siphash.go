package main

import "github.com/seed61375155/trawl/internal/asm"

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
		states[i] = state{asm.Z(4 * i), asm.Z(4*i + 1), asm.Z(4*i + 2), asm.Z(4*i + 3)}
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
		each(states, func(_ int, v state) { a.Op("VPADDQ", v[from], v[to], v[to]) })
	}
	xor := func(from, to int) {
		each(states, func(_ int, v state) { a.Op("VPXORQ", v[from], v[to], v[to]) })
	}
	rotate := func(by, at int) { rotate512(a, states, by, at, at) }
	a.Macro("sipHalf1", "sipHalf1 is the first half of a SipRound of four registers of 8 states, Z0 to Z3 and so on.",
		func() {
			sipHalf1(add, xor, rotate)
		})
	a.Macro("sipHalf2", "sipHalf2 is the second half.", func() {
		sipHalf2(add, xor, rotate)
	})
}

// rotate512 rotates a word of each state into another word. By 32 it is a shuffle
// of halves, which more of the processor's units can do than rotations.
func rotate512(a *file, states []state, by, from, to int) {
	if by == 32 {
		each(states, func(_ int, v state) { a.Op("VPSHUFD", "$0xb1", v[from], v[to]) })
		return
	}
	each(states, func(_ int, v state) { a.Op("VPROLQ", by, v[from], v[to]) })
}

// rounds writes n SipRounds.
func rounds(a *file, n int) {
	for range n {
		a.Op("sipHalf1")
		a.Op("sipHalf2")
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

// finish512 writes the end of SipHash, which leaves the hash in v[0]. Register ff
// has 0xff. In the last round v[0] and v[1] are part of the hash twice and
// cancel. The instructions that compute them are left out: hash = v1<<<17 ^
// v3<<<21 ^ v2 ^ v2<<<32. Callback between is called after each half of the other
// rounds.
func finish512(a *file, states []state, ff string, between func()) {
	a.Note("The end of SipHash: four rounds, and the state's words together.")
	each(states, func(_ int, v state) { a.Op("VPXORQ", ff, v[2], v[2]) })
	for range 3 {
		a.Op("sipHalf1")
		between()
		a.Op("sipHalf2")
		between()
	}
	each(states, func(_ int, v state) { a.Op("VPADDQ", v[1], v[0], v[0]) })
	each(states, func(_ int, v state) { a.Op("VPADDQ", v[3], v[2], v[2]) })
	each(states, func(_ int, v state) { a.Op("VPROLQ", 13, v[1], v[1]) })
	each(states, func(_ int, v state) { a.Op("VPROLQ", 16, v[3], v[3]) })
	each(states, func(_ int, v state) { a.Op("VPXORQ", v[0], v[1], v[1]) })
	each(states, func(_ int, v state) { a.Op("VPXORQ", v[2], v[3], v[3]) })
	each(states, func(_ int, v state) { a.Op("VPADDQ", v[1], v[2], v[2]) })
	each(states, func(_ int, v state) { a.Op("VPROLQ", 17, v[1], v[1]) })
	each(states, func(_ int, v state) { a.Op("VPROLQ", 21, v[3], v[3]) })
	rotate512(a, states, 32, 2, 0)
	each(states, func(_ int, v state) { a.Op("VPTERNLOGQ", "$0x96", v[1], v[2], v[3]) })
	each(states, func(_ int, v state) { a.Op("VPXORQ", v[3], v[0], v[0]) })
}

// reduce512 writes v[0] = v[0]*limit >> 64, the long way by halves: there is no
// instruction for it. limit(i) is a register for state i, low a register of
// 0xffffffff. The rest of each state and t are overwritten.
func reduce512(a *file, states []state, limit, high func(i int) string, low string, t func(i int) string) {
	a.Note("Reduce the hash h to below the limit f: h*f >> 64 by halves of 32 bits.")
	each(states, func(_ int, v state) { a.Op("VPSRLQ", 32, v[0], v[1]) })
	each(states, func(i int, v state) { a.Op("VPMULUDQ", limit(i), v[0], v[2]) })
	each(states, func(i int, v state) { a.Op("VPMULUDQ", limit(i), v[1], v[3]) })
	each(states, func(i int, v state) { a.Op("VPMULUDQ", high(i), v[0], t(i)) })
	each(states, func(i int, v state) { a.Op("VPMULUDQ", high(i), v[1], v[0]) })
	a.Note("Carry: ((h0*f0 >> 32) + low(h1*f0) + low(h0*f1)) >> 32.")
	each(states, func(_ int, v state) { a.Op("VPSRLQ", 32, v[2], v[2]) })
	each(states, func(_ int, v state) { a.Op("VPANDQ", low, v[3], v[1]) })
	each(states, func(_ int, v state) { a.Op("VPADDQ", v[1], v[2], v[2]) })
	each(states, func(i int, v state) { a.Op("VPANDQ", low, t(i), v[1]) })
	each(states, func(_ int, v state) { a.Op("VPADDQ", v[1], v[2], v[2]) })
	each(states, func(_ int, v state) { a.Op("VPSRLQ", 32, v[2], v[2]) })
	a.Note("h1*f1 + high(h1*f0) + high(h0*f1) + carry.")
	each(states, func(_ int, v state) { a.Op("VPSRLQ", 32, v[3], v[3]) })
	each(states, func(i int, _ state) { a.Op("VPSRLQ", 32, t(i), t(i)) })
	each(states, func(_ int, v state) { a.Op("VPADDQ", v[2], v[0], v[0]) })
	each(states, func(_ int, v state) { a.Op("VPADDQ", v[3], v[0], v[0]) })
	each(states, func(i int, v state) { a.Op("VPADDQ", t(i), v[0], v[0]) })
}

// reduceNarrow512 is reduce512 for a limit below 2^32.
func reduceNarrow512(a *file, states []state, limit func(i int) string) {
	a.Note("Reduce the hash h to below the limit f of 32 bits: (h1*f + (h0*f >> 32)) >> 32.")
	each(states, func(_ int, v state) { a.Op("VPSRLQ", 32, v[0], v[1]) })
	each(states, func(i int, v state) { a.Op("VPMULUDQ", limit(i), v[0], v[0]) })
	each(states, func(i int, v state) { a.Op("VPMULUDQ", limit(i), v[1], v[1]) })
	each(states, func(_ int, v state) { a.Op("VPSRLQ", 32, v[0], v[0]) })
	each(states, func(_ int, v state) { a.Op("VPADDQ", v[1], v[0], v[0]) })
	each(states, func(_ int, v state) { a.Op("VPSRLQ", 32, v[0], v[0]) })
}

// always makes a function of a register that is the same for all states.
func always(register string) func(int) string { return func(int) string { return register } }
