package main

import "fmt"

// align makes R8 an aligned address in the frame, which must have 63 bytes more
// than is used.
func align(a *file) {
	a.op("LEAQ", "63(SP)", "R8")
	a.op("ANDQ", "$~63", "R8")
}

// decodeLanes decodes into memory.
func decodeLanes(a *file) {
	const block = 8 // elements of a lane that are stored at a time
	a.function("decodeLanes(l *lanes32, blocks int) (done int)", 256*(1+block)+64, 24,
		"decodeLanes decodes blocks of 8 elements of every lane to where its out points, and returns how many. It "+
			"ends early where a lane has no room for a block left or a quotient fits no window, and leaves all lanes "+
			"after the last whole block.")
	d := decoder{a, sets(), "DI"}
	a.load("l", 0, "SI", "blocks", 8, "CX")
	align(a)
	a.op("XORQ", "R12", "R12")
	d.start()

	a.label("room", "As long as there are steps to do: as many as there is room for.")
	d.room(9)
	a.op("TESTQ", "R13", "R13")
	a.op("JZ", "done")
	a.op("SUBQ", "R13", "CX")

	a.label("block", "For each block: twice four elements.")
	a.op("LEAQ", mem("R8", 256), "DI")
	a.op("MOVQ", fmt.Sprint("$", block/4), "BX")

	a.label("four", "For each four elements.")
	d.four()
	d.advance()
	a.note("Put the last of them into its row.")
	d.over("VMOVDQA64", func(s set) []any { return []any{s.value, d.row(3, s)} })
	a.op("ADDQ", 4*8*lanes, "DI")
	a.op("DECQ", "BX")
	a.op("JNZ", "four")

	for _, s := range d.sets {
		transpose(a, s)
	}
	a.op("ADDQ", 8*block, "R12")
	d.save()
	a.op("DECQ", "R13")
	a.op("JNZ", "block")
	a.op("JMP", "room")

	d.slow()
	a.label("done", "The end: R12 is what was done, or what there was to do.")
	a.op("VZEROUPPER")
	a.op("SHRQ", 6, "R12")
	a.op("MOVQ", "R12", "done+16(FP)")
	a.op("RET")
}

// transpose stores the 8 rows of a set as 8 elements of each lane. R12 is the
// offset from out.
func transpose(a *file, s set) {
	a.note(
		"Rows to columns for lanes %d to %d: numbers of neighbouring rows, then their pairs, then fours.", 8*s.i,
		8*s.i+7,
	)
	row := func(i int) string { return mem("R8", 8*lanes*(1+i)+64*s.i) }
	for i := range 4 {
		a.op("VMOVDQA64", row(2*i), z(8+i))
		a.op("VPUNPCKLQDQ", row(2*i+1), z(8+i), z(12+i))
		a.op("VPUNPCKHQDQ", row(2*i+1), z(8+i), z(16+i))
	}
	column := func(lane, register int) {
		a.op("MOVQ", fmt.Sprintf("(lanes32_out+%d)(SI)", 8*(8*s.i+lane)), "AX")
		a.op("VMOVDQU64", z(register), "(AX)(R12*1)")
	}
	for odd := range 2 {
		rows := 12 + 4*odd
		for i, pick := range []string{"$0x88", "$0xdd"} {
			a.op("VSHUFI64X2", pick, z(rows+1), z(rows), "Z20")
			a.op("VSHUFI64X2", pick, z(rows+3), z(rows+2), "Z21")
			a.op("VSHUFI64X2", "$0x88", "Z21", "Z20", "Z22")
			a.op("VSHUFI64X2", "$0xdd", "Z21", "Z20", "Z23")
			column(2*i+odd, 22)
			column(2*i+odd+4, 23)
		}
	}
}

// mergeLanes looks for hashes while it decodes.
func mergeLanes(a *file) {
	a.function("mergeLanes(l *lanes32, fours int, hashes *uint64) (done int)", 256*5+64, 32,
		"mergeLanes decodes elements of every lane, four at a time, and returns how many. It sets the bits in found "+
			"of those lanes that hold one of their hashes: hashes are rows of one number for each lane, ascending in "+
			"each lane, the last all ones. next is the index of a lane's current hash, the first that is not less "+
			"than all its elements before. It ends early as decodeLanes does.")
	d := decoder{a, sets(), "BX"}
	a.load("l", 0, "SI", "fours", 8, "CX", "hashes", 16, "DI")
	align(a)
	a.op("LEAQ", mem("R8", 512), "BX")
	a.op("MOVQ", "CX", "R12")
	a.op("MOVQ", "lanes32_found(SI)", "R11")
	d.start()
	a.note("The current hash of each lane goes to the scratch memory.")
	for _, s := range d.sets {
		a.op("VMOVDQU64", field("next", s.i), s.value)
		a.op("KXNORB", "K1", "K1", "K1")
		a.op("VPXORQ", zScratch, zScratch, zScratch)
		a.op("VPGATHERQQ", "(DI)("+s.value+"*8)", "K1", zScratch)
		a.op("VMOVDQA64", zScratch, mem("R8", 256+64*s.i))
	}

	a.label("room", "As long as there are steps to do: as many as there is room for.")
	d.room(8)
	a.op("TESTQ", "R13", "R13")
	a.op("JZ", "done")
	a.op("SUBQ", "R13", "CX")

	a.label("four", "For each four elements.")
	d.four()
	d.advance()
	a.note("Has any lane reached its current hash?")
	d.over("VPCMPUQ", func(s set) []any { return []any{5, mem("R8", 256+64*s.i), s.value, fmt.Sprint("K", 1+s.i)} })
	a.op("KORB", "K1", "K2", "K5")
	a.op("KORB", "K3", "K4", "K6")
	a.op("KORTESTB", "K5", "K6")
	a.op("JNZ", "reached")

	a.label("next", "The four are done.")
	a.op("DECQ", "R13")
	a.op("JNZ", "four")
	a.op("JMP", "room")

	reached(d)
	d.slow()
	a.note("Count what was not done of the room.")
	a.op("ADDQ", "R13", "CX")
	a.label("done", "The end: R12 is what was done, or what there was to do.")
	d.save()
	a.op("MOVQ", "R11", "lanes32_found(SI)")
	a.op("VZEROUPPER")
	a.op("SUBQ", "CX", "R12")
	a.op("MOVQ", "R12", "done+24(FP)")
	a.op("RET")
}

// reached compares the elements of those lanes that have reached their current
// hash with it, and takes the next one until it is beyond.
func reached(d decoder) {
	a := d.file
	a.label("reached", "Some lane has reached its current hash.")
	for _, s := range d.sets {
		k := fmt.Sprint("K", 1+s.i)
		again, beyond := fmt.Sprint("again", s.i), fmt.Sprint("beyond", s.i)
		current, next := mem("R8", 256+64*s.i), field("next", s.i)
		a.note("Lanes %d to %d.", 8*s.i, 8*s.i+7)
		a.op("KORTESTB", k, k)
		a.op("JZ", beyond)
		a.label(again, "For each hash that a lane has reached: is it one of the four elements?")
		a.op("VMOVDQA64", current, s.runs)
		a.op("VPCMPEQQ", s.value, s.runs, k, "K5")
		for i := range 3 {
			a.op("VPCMPEQQ", d.row(i, s), s.runs, k, "K6")
			a.op("KORB", "K5", "K6", "K5")
		}
		a.op("KMOVB", "K5", "AX")
		if s.i > 0 {
			a.op("SHLQ", 8*s.i, "AX")
		}
		a.op("ORQ", "AX", "R11")
		a.note("The next hash.")
		a.op("VMOVDQU64", next, s.newPos)
		a.op("VPADDQ.BCST", "row<>(SB)", s.newPos, k, s.newPos)
		a.op("VMOVDQU64", s.newPos, next)
		a.op("VPGATHERQQ", "(DI)("+s.newPos+"*8)", k, s.runs)
		a.op("VMOVDQA64", s.runs, current)
		a.op("VPCMPUQ", 5, s.runs, s.value, k)
		a.op("KORTESTB", k, k)
		a.op("JNZ", again)
		a.label(beyond, "No lane of this set has reached its hash any more.")
	}
	a.op("JMP", "next")
}
