package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// align makes R8 an aligned address in the frame, which must have 63 bytes more
// than is used.
func align(a *file) {
	a.Op("LEAQ", "63(SP)", "R8")
	a.Op("ANDQ", "$~63", "R8")
}

// decodeLanes decodes into memory.
func decodeLanes(a *file) {
	const block = 8 // elements of a lane that are stored at a time
	a.Function("decodeLanes(l *lanes32, blocks int) (done int)", 256*(1+block)+64, 24,
		"decodeLanes decodes blocks of 8 elements of every lane to where its out points, and returns how many. It "+
			"ends early where a lane has no room for a block left or a quotient fits no window, and leaves all lanes "+
			"after the last whole block.")
	d := decoder{a, sets(), "DI"}
	a.Load("l", 0, "SI", "blocks", 8, "CX")
	align(a)
	a.Op("XORQ", "R12", "R12")
	d.start()

	a.Label("room", "As long as there are steps to do: as many as there is room for.")
	d.room(9)
	a.Op("TESTQ", "R13", "R13")
	a.Op("JZ", "done")
	a.Op("SUBQ", "R13", "CX")

	a.Label("block", "For each block: twice four elements.")
	a.Op("LEAQ", asm.Mem("R8", 256), "DI")
	a.Op("MOVQ", fmt.Sprint("$", block/4), "BX")

	a.Label("four", "For each four elements.")
	d.four()
	d.advance()
	a.Note("Put the last of them into its row.")
	d.over("VMOVDQA64", func(s set) []any { return []any{s.value, d.row(3, s)} })
	a.Op("ADDQ", 4*8*lanes, "DI")
	a.Op("DECQ", "BX")
	a.Op("JNZ", "four")

	for _, s := range d.sets {
		transpose(a, s)
	}
	a.Op("ADDQ", 8*block, "R12")
	d.save()
	a.Op("DECQ", "R13")
	a.Op("JNZ", "block")
	a.Op("JMP", "room")

	d.slow()
	a.Label("done", "The end: R12 is what was done, or what there was to do.")
	a.Op("VZEROUPPER")
	a.Op("SHRQ", 6, "R12")
	a.Op("MOVQ", "R12", "done+16(FP)")
	a.Op("RET")
}

// transpose stores the 8 rows of a set as 8 elements of each lane. R12 is the
// offset from out.
func transpose(a *file, s set) {
	a.Note(
		"Rows to columns for lanes %d to %d: numbers of neighbouring rows, then their pairs, then fours.", 8*s.i,
		8*s.i+7,
	)
	row := func(i int) string { return asm.Mem("R8", 8*lanes*(1+i)+64*s.i) }
	for i := range 4 {
		a.Op("VMOVDQA64", row(2*i), asm.Z(8+i))
		a.Op("VPUNPCKLQDQ", row(2*i+1), asm.Z(8+i), asm.Z(12+i))
		a.Op("VPUNPCKHQDQ", row(2*i+1), asm.Z(8+i), asm.Z(16+i))
	}
	column := func(lane, register int) {
		a.Op("MOVQ", fmt.Sprintf("(lanes32_out+%d)(SI)", 8*(8*s.i+lane)), "AX")
		a.Op("VMOVDQU64", asm.Z(register), "(AX)(R12*1)")
	}
	for odd := range 2 {
		rows := 12 + 4*odd
		for i, pick := range []string{"$0x88", "$0xdd"} {
			a.Op("VSHUFI64X2", pick, asm.Z(rows+1), asm.Z(rows), "Z20")
			a.Op("VSHUFI64X2", pick, asm.Z(rows+3), asm.Z(rows+2), "Z21")
			a.Op("VSHUFI64X2", "$0x88", "Z21", "Z20", "Z22")
			a.Op("VSHUFI64X2", "$0xdd", "Z21", "Z20", "Z23")
			column(2*i+odd, 22)
			column(2*i+odd+4, 23)
		}
	}
}

// mergeLanes looks for hashes while it decodes.
func mergeLanes(a *file) {
	a.Function("mergeLanes(l *lanes32, fours int, hashes *uint64) (done int)", 256*5+64, 32,
		"mergeLanes decodes elements of every lane, four at a time, and returns how many. It sets the bits in found "+
			"of those lanes that hold one of their hashes: hashes are rows of one number for each lane, ascending in "+
			"each lane, the last all ones. next is the index of a lane's current hash, the first that is not less "+
			"than all its elements before. It ends early as decodeLanes does.")
	d := decoder{a, sets(), "BX"}
	a.Load("l", 0, "SI", "fours", 8, "CX", "hashes", 16, "DI")
	align(a)
	a.Op("LEAQ", asm.Mem("R8", 512), "BX")
	a.Op("MOVQ", "CX", "R12")
	a.Op("MOVQ", "lanes32_found(SI)", "R11")
	d.start()
	a.Note("The current hash of each lane goes to the scratch memory.")
	for _, s := range d.sets {
		a.Op("VMOVDQU64", field("next", s.i), s.value)
		a.Op("KXNORB", "K1", "K1", "K1")
		a.Op("VPXORQ", zScratch, zScratch, zScratch)
		a.Op("VPGATHERQQ", "(DI)("+s.value+"*8)", "K1", zScratch)
		a.Op("VMOVDQA64", zScratch, asm.Mem("R8", 256+64*s.i))
	}

	a.Label("room", "As long as there are steps to do: as many as there is room for.")
	d.room(8)
	a.Op("TESTQ", "R13", "R13")
	a.Op("JZ", "done")
	a.Op("SUBQ", "R13", "CX")

	a.Label("four", "For each four elements.")
	d.four()
	d.advance()
	a.Note("Has any lane reached its current hash?")
	d.over("VPCMPUQ", func(s set) []any { return []any{5, asm.Mem("R8", 256+64*s.i), s.value, fmt.Sprint("K", 1+s.i)} })
	a.Op("KORB", "K1", "K2", "K5")
	a.Op("KORB", "K3", "K4", "K6")
	a.Op("KORTESTB", "K5", "K6")
	a.Op("JNZ", "reached")

	a.Label("next", "The four are done.")
	a.Op("DECQ", "R13")
	a.Op("JNZ", "four")
	a.Op("JMP", "room")

	reached(d)
	d.slow()
	a.Note("Count what was not done of the room.")
	a.Op("ADDQ", "R13", "CX")
	a.Label("done", "The end: R12 is what was done, or what there was to do.")
	d.save()
	a.Op("MOVQ", "R11", "lanes32_found(SI)")
	a.Op("VZEROUPPER")
	a.Op("SUBQ", "CX", "R12")
	a.Op("MOVQ", "R12", "done+24(FP)")
	a.Op("RET")
}

// reached compares the elements of those lanes that have reached their current
// hash with it, and takes the next one until it is beyond.
func reached(d decoder) {
	a := d.file
	a.Label("reached", "Some lane has reached its current hash.")
	for _, s := range d.sets {
		k := fmt.Sprint("K", 1+s.i)
		again, beyond := fmt.Sprint("again", s.i), fmt.Sprint("beyond", s.i)
		current, next := asm.Mem("R8", 256+64*s.i), field("next", s.i)
		a.Note("Lanes %d to %d.", 8*s.i, 8*s.i+7)
		a.Op("KORTESTB", k, k)
		a.Op("JZ", beyond)
		a.Label(again, "For each hash that a lane has reached: is it one of the four elements?")
		a.Op("VMOVDQA64", current, s.runs)
		a.Op("VPCMPEQQ", s.value, s.runs, k, "K5")
		for i := range 3 {
			a.Op("VPCMPEQQ", d.row(i, s), s.runs, k, "K6")
			a.Op("KORB", "K5", "K6", "K5")
		}
		a.Op("KMOVB", "K5", "AX")
		if s.i > 0 {
			a.Op("SHLQ", 8*s.i, "AX")
		}
		a.Op("ORQ", "AX", "R11")
		a.Note("The next hash.")
		a.Op("VMOVDQU64", next, s.newPos)
		a.Op("VPADDQ.BCST", "row<>(SB)", s.newPos, k, s.newPos)
		a.Op("VMOVDQU64", s.newPos, next)
		a.Op("VPGATHERQQ", "(DI)("+s.newPos+"*8)", k, s.runs)
		a.Op("VMOVDQA64", s.runs, current)
		a.Op("VPCMPUQ", 5, s.runs, s.value, k)
		a.Op("KORTESTB", k, k)
		a.Op("JNZ", again)
		a.Label(beyond, "No lane of this set has reached its hash any more.")
	}
	a.Op("JMP", "next")
}
