package main

// fours writes a loop over 32 hashes, the last four first, so that ADCL puts what
// is told of each into its bit of the register result. SI is the address of the
// hashes, DI that of the addresses of the lines.
func fours(a *file, result string, four func()) {
	a.op("ADDQ", 8*(lanes-4), "SI")
	a.op("ADDQ", 8*(lanes-4), "DI")
	a.op("XORL", result, result)
	a.op("MOVL", lanes/4, "R12")

	a.label("four", "For each four hashes, the last first.")
	four()
	a.op("SUBQ", 32, "SI")
	a.op("SUBQ", 32, "DI")
	a.op("DECL", "R12")
	a.op("JNZ", "four")
}

// fetchLines prefetches the lines of 32 hashes.
func fetchLines(a *file) {
	a.function("fetchLines(hashes *uint64, lines **byte)", 0, 16,
		"fetchLines asks the memory for the line of each of 32 hashes, of filters whose lines begin at the address "+
			"of the same index. As all prefetches it goes to the second-level cache: the first takes few at a time.")
	a.load("hashes", 0, "SI", "lines", 8, "DI")
	for i := range lanes {
		at := sources[i%4]
		a.op("MOVQ", mem("SI", 8*i), at)
		a.op("SHRQ", "$const_lineBits", at)
		a.op("SHLQ", 6, at)
		a.op("ADDQ", mem("DI", 8*i), at)
		a.op("PREFETCHT1", mem(at, 0))
	}
	a.op("RET")
}

// fetchBytes prefetches memory.
func fetchBytes(a *file) {
	a.function("fetchBytes(b *byte, count int)", 0, 16, "fetchBytes asks the memory for count bytes.")
	a.load("b", 0, "SI", "count", 8, "CX")
	a.op("ADDQ", "SI", "CX")
	a.op("ANDQ", "$~63", "SI")
	a.label("line", "For each cache line.")
	a.op("PREFETCHT1", "(SI)")
	a.op("ADDQ", 64, "SI")
	a.op("CMPQ", "SI", "CX")
	a.op("JLT", "line")
	a.op("RET")
}

// lookLines looks at one bit of each of 32 filters.
func lookLines(a *file) {
	a.function("lookLines(hashes *uint64, lines **byte) (found uint32)", 0, 20,
		"lookLines returns for which of 32 hashes the bit is set in the probe lines of its filter, which begin at "+
			"the address of the same index. A gather takes longer.")
	a.load("hashes", 0, "SI", "lines", 8, "DI")
	fours(a, "R13", func() {
		for i := 3; i >= 0; i-- {
			a.op("MOVQ", mem("SI", 8*i), "AX")
			a.op("MOVQ", "AX", "BX")
			a.op("SHRQ", "$const_chunkBits", "AX")
			a.op("MOVQ", "AX", "CX")
			a.op("ANDQ", "$~3", "CX")
			a.op("ADDQ", "CX", "AX")
			a.op("MOVQ", mem("DI", 8*i), "DX")
			a.op("MOVQ", "(DX)(AX*8)", "DX")
			a.op("SHRQ", "$const_slotBits", "BX")
			a.op("BTQ", "BX", "DX")
			a.op("ADCL", "R13", "R13")
		}
	})
	a.op("MOVL", "R13", "found+16(FP)")
	a.op("RET")
}

// placeLines makes the places of hashes.
func placeLines(a *file) {
	a.function("placeLines(dst *place, hashes *uint64, lines **byte, group *probe, first, found uint32)", 0, 40,
		"placeLines makes the place of each of 32 hashes whose bit is set in found, and asks the memory for its part "+
			"of the code. first is the index of the group's first filter.")
	a.load("dst", 0, "R8", "hashes", 8, "SI", "lines", 16, "DI", "group", 24, "R9")
	a.op("MOVL", "first+32(FP)", "R10")
	a.op("MOVL", "found+36(FP)", "DX")
	a.op("TESTL", "DX", "DX")
	a.op("JZ", "done")

	a.label("place", "For each bit: AX is the hash, BX the address of its line.")
	a.op("TZCNTL", "DX", "CX")
	a.op("BLSRL", "DX", "DX")
	a.op("MOVQ", "(SI)(CX*8)", "AX")
	a.op("MOVQ", "AX", "place_want(R8)")
	a.op("MOVQ", "AX", "BX")
	a.op("SHRQ", "$const_lineBits", "BX")
	a.op("SHLQ", 6, "BX")
	a.op("ADDQ", "(DI)(CX*8)", "BX")
	a.note("The first element of its chunk, whose number in the line is R11.")
	a.op("MOVQ", "AX", "R11")
	a.op("SHRQ", "$const_chunkBits", "R11")
	a.op("MOVQ", "R11", "R12")
	a.op("SHLQ", "$const_chunkBits", "R12")
	a.op("ANDL", "$(const_lineChunks-1)", "R11")
	a.op("LEAQ", "(R11)(R11*2)", "R13")
	a.op("MOVL", "const_firstsAt(BX)(R13*1)", "R13")
	a.op("ANDL", "$0xffffff", "R13")
	a.op("ADDQ", "R13", "R12")
	a.op("MOVQ", "R12", "place_last(R8)")
	a.note("Where the line's elements end, the first in R12, the last in R13.")
	a.op("MOVL", "const_baseAt(BX)", "R12")
	a.op("ANDL", "$0xffffff", "R12")
	a.op("MOVL", "R12", "place_base(R8)")
	a.op("MOVWLZX", "(const_endsAt+2*const_lineChunks-2)(BX)", "R13")
	a.op("ADDL", "R12", "R13")
	a.op("MOVL", "R13", "place_end(R8)")
	a.op("MOVL", "const_codeSumAt(BX)", "R15")
	a.op("MOVL", "R15", "place_sum(R8)")
	a.note("Where the chunk's first one does, which for the first chunk is not told again.")
	a.op("MOVWLZX", "(const_endsAt-2)(BX)(R11*2)", "R15")
	a.op("XORL", "R14", "R14")
	a.op("TESTL", "R11", "R11")
	a.op("CMOVLEQ", "R14", "R15")
	a.op("ADDL", "R12", "R15")
	a.op("MOVL", "R15", "place_pos(R8)")
	a.note("How many bits of the chunk are set before the one of the hash.")
	a.op("SHRQ", "$const_slotBits", "AX")
	a.op("ANDL", 63, "AX")
	a.op("BZHIQ", "AX", "(BX)(R11*8)", "R15")
	a.op("POPCNTQ", "R15", "R15")
	a.op("MOVL", "R15", "place_before(R8)")
	a.op("LEAL", "(R10)(CX*1)", "R15")
	a.op("MOVL", "R15", "place_filter(R8)")
	a.note("Ask for the part: its first 256 bytes and its last, which are five cache lines mostly.")
	a.op("IMUL3Q", "$probe__size", "CX", "CX")
	a.op("MOVQ", "probe_code(R9)(CX*1)", "CX")
	a.op("SHRQ", 3, "R12")
	a.op("SHRQ", 3, "R13")
	a.op("ADDQ", "CX", "R12")
	a.op("ADDQ", "CX", "R13")
	a.op("PREFETCHT1", "(R12)")
	for i := range 3 {
		a.op("LEAQ", mem("R12", 64*(i+1)), "AX")
		a.op("CMPQ", "AX", "R13")
		a.op("CMOVQHI", "R13", "AX")
		a.op("PREFETCHT1", "(AX)")
	}
	a.op("PREFETCHT1", "(R13)")
	a.op("ADDQ", "$place__size", "R8")
	a.op("TESTL", "DX", "DX")
	a.op("JNZ", "place")
	a.label("done", "All places are made.")
	a.op("RET")
}
