package main

import (
	"fmt"
	"strings"

	"github.com/seed61375155/trawl/internal/asm"
)

// The registers of the NEON kernel: V0 to V15 are the states of eight messages, V16 to
// V23 are overwritten by each step, the rest stay.
const (
	neonShuffle = 24 // the bytes of rotate16
	neonFF      = 25 // 0xff in each number
	neonSip     = 26 // SipHash's state at the start, four registers
)

func neonHash() []byte {
	a := newFile("SipHash of the NEON kernel: 2 numbers of 64 bits in a register, and four of these side by side.")
	a.Constant("rotate16<>", rotate16[:2])
	roundNEON(a)
	hashTileNEON(a)
	hashLanesNEON(a)
	return a.Bytes()
}

// statesNEON are the states of 8 messages.
func statesNEON() []state {
	states := make([]state, 4)
	for i := range states {
		for j := range states[i] {
			states[i][j] = v(4*i + j)
		}
	}
	return states
}

// v names a vector register.
func v(n int) string { return fmt.Sprintf("V%d", n) }

// opV writes an instruction of vector registers of one arrangement: D2, S4 or B16.
// Operands that do not begin with a V are left unchanged.
func (a *file) opV(name, arrangement string, operands ...any) {
	for i, o := range operands {
		if text, ok := o.(string); ok && strings.HasPrefix(text, "V") {
			operands[i] = text + "." + arrangement
		}
	}
	a.Op(name, operands...)
}

// loadNEON moves the arguments of a function into R0 and on, and the constants into
// their registers.
func (a *file) loadNEON(arguments ...string) {
	for i, name := range arguments {
		a.Op("MOVD", fmt.Sprintf("%s+%d(FP)", name, 8*i), fmt.Sprintf("R%d", i))
	}
	a.Op("MOVD", "$rotate16<>(SB)", "R9")
	a.Op("VLD1", "(R9)", fmt.Sprintf("[V%d.B16]", neonShuffle))
	a.Op("MOVD", "$0xff", "R9")
	a.Op("VDUP", "R9", v(neonFF)+".D2")
}

// load4 loads four registers of 8 numbers.
func (a *file) load4(from string, first int) {
	a.Op("VLD1", from, fmt.Sprintf("[V%d.D2, V%d.D2, V%d.D2, V%d.D2]", first, first+1, first+2, first+3))
}

// roundNEON defines the macros of a SipRound.
func roundNEON(a *file) {
	states := statesNEON()
	// Where a rotation left its result: NEON rotates by a shift and an insertion, which
	// need another register, from which the next instruction may take it.
	at := [4]int{}
	add := func(from, to int) {
		each(states, func(_ int, s state) { a.opV("VADD", "D2", s[from], s[to], s[to]) })
	}
	xor := func(from, to int) {
		each(states, func(i int, s state) {
			what := s[to]
			if at[to] > 0 {
				what = v(at[to] + i)
			}
			a.opV("VEOR", "B16", s[from], what, s[to])
		})
		at[to] = 0
	}
	rotate := func(by, word int) {
		switch by {
		case 32:
			each(states, func(_ int, s state) { a.opV("VREV64", "S4", s[word], s[word]) })
		case 16:
			each(states, func(_ int, s state) {
				a.Op("VTBL", v(neonShuffle)+".B16", "["+s[word]+".B16]", s[word]+".B16")
			})
		default:
			at[word] = 16 + 2*(word-1) // word 1: V16 to V19, word 3: V20 to V23
			each(states, func(i int, s state) { a.opV("VUSHR", "D2", 64-by, s[word], v(at[word]+i)) })
			each(states, func(i int, s state) { a.opV("VSLI", "D2", by, s[word], v(at[word]+i)) })
		}
	}
	a.Macro("sipHalf1", "sipHalf1 is the first half of a SipRound of four registers of 2 states, V0 to V3 and so on. "+
		"V16 to V23 are overwritten.", func() {
		sipHalf1(add, xor, rotate)
	})
	a.Macro("sipHalf2", "sipHalf2 is the second half.", func() {
		sipHalf2(add, xor, rotate)
	})
}

// xorWord writes v ^= w for the numbers of V16 to V19, or of V16 alone.
func xorWord(a *file, word, step int) {
	each(statesNEON(), func(i int, s state) { a.opV("VEOR", "B16", v(16+step*i), s[word], s[word]) })
}

// hashTileNEON hashes scripts for one block.
func hashTileNEON(a *file) {
	a.Function("hashTileNEON(dst, tile *uint64, eights, words int, k0, k1, limit uint64)", 0, 56,
		"hashTileNEON hashes the first messages of a tile, eights times 8 of them, with one key.")
	a.loadNEON("dst", "tile", "eights", "words", "k0", "k1", "limit")
	a.Note("The state at the start: the key and constants.")
	for i, c := range sip {
		a.Op("MOVD", fmt.Sprintf("$%#x", c), "R9")
		a.Op("EOR", fmt.Sprintf("R%d", 4+i%2), "R9", "R9")
		a.Op("VDUP", "R9", v(neonSip+i)+".D2")
	}

	a.Label("eight", "For each 8 messages: begin with 8 states.")
	each(statesNEON(), func(_ int, s state) {
		for i := range s {
			a.opV("VMOV", "B16", v(neonSip+i), s[i])
		}
	})
	a.Op("MOVD", "R3", "R10")
	a.Op("MOVD", "R1", "R12")

	a.Label("word", "For each word of the messages: two rounds.")
	a.load4("(R12)", 16)
	xorWord(a, 3, 1)
	rounds(a, 2)
	a.load4("(R12)", 16)
	xorWord(a, 0, 1)
	a.Op("ADD", 8*tile, "R12", "R12")
	a.Op("SUBS", 1, "R10", "R10")
	a.Op("BNE", "word")

	finishNEON(a)
	a.Note("Reduce to below the limit: the upper half of a product, one by one.")
	each(statesNEON(), func(i int, s state) { reduceNEON(a, i, s, "R6", "R6") })
	a.Note("The next 8 of the tile.")
	a.Op("ADD", 64, "R1", "R1")
	a.Op("ADD", 64, "R0", "R0")
	a.Op("SUBS", 1, "R2", "R2")
	a.Op("BNE", "eight")
	a.Op("RET")
}

// hashLanesNEON hashes one script for many blocks.
func hashLanesNEON(a *file) {
	a.Function("hashLanesNEON(dst, message *uint64, words int, keys *laneKeys, eights int)", 0, 40,
		"hashLanesNEON hashes a message, whose words lie 32 apart, with the first keys, eights times 8 of them.")
	a.loadNEON("dst", "message", "words", "keys", "eights")
	for i, c := range sip {
		a.Op("MOVD", fmt.Sprintf("$%#x", c), "R9")
		a.Op("VDUP", "R9", v(neonSip+i)+".D2")
	}

	a.Label("eight", "For each 8 keys: the states at the start.")
	for half := range 2 {
		a.Op("ADD", 8*lanes*half, "R3", "R9")
		a.load4("(R9)", 16)
		each(statesNEON(), func(i int, s state) {
			for _, word := range []int{half, half + 2} {
				a.opV("VEOR", "B16", v(neonSip+word), v(16+i), s[word])
			}
		})
	}
	a.Op("MOVD", "R2", "R10")
	a.Op("MOVD", "R1", "R12")

	a.Label("word", "For each word of the message: two rounds.")
	a.Op("VLD1R", "(R12)", "[V16.D2]")
	xorWord(a, 3, 0)
	rounds(a, 2)
	a.Op("VLD1R", "(R12)", "[V16.D2]")
	xorWord(a, 0, 0)
	a.Op("ADD", 8*tile, "R12", "R12")
	a.Op("SUBS", 1, "R10", "R10")
	a.Op("BNE", "word")

	finishNEON(a)
	a.Note("Reduce to below the limits: the upper halves of products, one by one.")
	each(statesNEON(), func(i int, s state) {
		a.Op("LDP", asm.Mem("R3", 16*lanes+16*i), "(R5, R6)")
		reduceNEON(a, i, s, "R5", "R6")
	})
	a.Note("The next 8.")
	a.Op("ADD", 64, "R3", "R3")
	a.Op("ADD", 64, "R0", "R0")
	a.Op("SUBS", 1, "R4", "R4")
	a.Op("BNE", "eight")
	a.Op("RET")
}

// finishNEON writes the end of SipHash, which leaves the hash in the first word.
func finishNEON(a *file) {
	a.Note("The end of SipHash: four rounds, and the state's words together.")
	states := statesNEON()
	each(states, func(_ int, s state) { a.opV("VEOR", "B16", v(neonFF), s[2], s[2]) })
	rounds(a, 4)
	each(states, func(_ int, s state) { a.opV("VEOR", "B16", s[1], s[0], s[0]) })
	each(states, func(_ int, s state) { a.opV("VEOR", "B16", s[3], s[2], s[2]) })
	each(states, func(_ int, s state) { a.opV("VEOR", "B16", s[2], s[0], s[0]) })
}

// reduceNEON stores the two hashes of a register, reduced to below their limits: there
// is no product of 64 bits in vectors.
func reduceNEON(a *file, i int, s state, limits ...string) {
	for j, limit := range limits {
		into := fmt.Sprintf("R%d", 9+j)
		a.Op("VMOV", fmt.Sprintf("%s.D[%d]", s[0], j), into)
		a.Op("UMULH", limit, into, into)
	}
	a.Op("STP", "(R9, R10)", asm.Mem("R0", 16*i))
}
