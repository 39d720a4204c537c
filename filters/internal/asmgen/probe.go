package main

import "github.com/seed61375155/trawl/internal/asm"

// fours writes a loop over 32 hashes, the last four first, so that ADCL puts what
// is told of each into its bit of the register result. SI is the address of the
// hashes, DI that of the addresses of the lines.
func fours(a *file, result string, four func()) {
	a.Op("ADDQ", 8*(lanes-4), "SI")
	a.Op("ADDQ", 8*(lanes-4), "DI")
	a.Op("XORL", result, result)
	a.Op("MOVL", lanes/4, "R12")

	a.Label("four", "For each four hashes, the last first.")
	four()
	a.Op("SUBQ", 32, "SI")
	a.Op("SUBQ", 32, "DI")
	a.Op("DECL", "R12")
	a.Op("JNZ", "four")
}

// fetchLines prefetches the lines of 32 hashes.
func fetchLines(a *file) {
	a.Function("fetchLines(hashes *uint64, lines **byte)", 0, 16,
		"fetchLines asks the memory for the line of each of 32 hashes, of filters whose lines begin at the address "+
			"of the same index. As all prefetches it goes to the second-level cache: the first takes few at a time.")
	a.Load("hashes", 0, "SI", "lines", 8, "DI")
	for i := range lanes {
		at := sources[i%4]
		a.Op("MOVQ", asm.Mem("SI", 8*i), at)
		a.Op("SHRQ", "$const_lineBits", at)
		a.Op("SHLQ", 6, at)
		a.Op("ADDQ", asm.Mem("DI", 8*i), at)
		a.Op("PREFETCHT1", asm.Mem(at, 0))
	}
	a.Op("RET")
}

// fetchBytes prefetches memory.
func fetchBytes(a *file) {
	a.Function("fetchBytes(b *byte, count int)", 0, 16, "fetchBytes asks the memory for count bytes.")
	a.Load("b", 0, "SI", "count", 8, "CX")
	a.Op("ADDQ", "SI", "CX")
	a.Op("ANDQ", "$~63", "SI")
	a.Label("line", "For each cache line.")
	a.Op("PREFETCHT1", "(SI)")
	a.Op("ADDQ", 64, "SI")
	a.Op("CMPQ", "SI", "CX")
	a.Op("JLT", "line")
	a.Op("RET")
}

// lookLines looks at one bit of each of 32 filters.
func lookLines(a *file) {
	a.Function("lookLines(hashes *uint64, lines **byte) (found uint32)", 0, 20,
		"lookLines returns for which of 32 hashes the bit is set in the probe lines of its filter, which begin at "+
			"the address of the same index. A gather takes longer.")
	a.Load("hashes", 0, "SI", "lines", 8, "DI")
	fours(a, "R13", func() {
		for i := 3; i >= 0; i-- {
			a.Op("MOVQ", asm.Mem("SI", 8*i), "AX")
			a.Op("MOVQ", "AX", "BX")
			a.Op("SHRQ", "$const_chunkBits", "AX")
			a.Op("MOVQ", "AX", "CX")
			a.Op("ANDQ", "$~3", "CX")
			a.Op("ADDQ", "CX", "AX")
			a.Op("MOVQ", asm.Mem("DI", 8*i), "DX")
			a.Op("MOVQ", "(DX)(AX*8)", "DX")
			a.Op("SHRQ", "$const_slotBits", "BX")
			a.Op("BTQ", "BX", "DX")
			a.Op("ADCL", "R13", "R13")
		}
	})
	a.Op("MOVL", "R13", "found+16(FP)")
	a.Op("RET")
}

// placeLines makes the places of hashes.
func placeLines(a *file) {
	a.Function("placeLines(dst *place, hashes *uint64, lines **byte, group *probe, first, found uint32)", 0, 40,
		"placeLines makes the place of each of 32 hashes whose bit is set in found, and asks the memory for its part "+
			"of the code. first is the index of the group's first filter.")
	a.Load("dst", 0, "R8", "hashes", 8, "SI", "lines", 16, "DI", "group", 24, "R9")
	a.Op("MOVL", "first+32(FP)", "R10")
	a.Op("MOVL", "found+36(FP)", "DX")
	a.Op("TESTL", "DX", "DX")
	a.Op("JZ", "done")

	a.Label("place", "For each bit: AX is the hash, BX the address of its line.")
	a.Op("TZCNTL", "DX", "CX")
	a.Op("BLSRL", "DX", "DX")
	a.Op("MOVQ", "(SI)(CX*8)", "AX")
	a.Op("MOVQ", "AX", "place_want(R8)")
	a.Op("MOVQ", "AX", "BX")
	a.Op("SHRQ", "$const_lineBits", "BX")
	a.Op("SHLQ", 6, "BX")
	a.Op("ADDQ", "(DI)(CX*8)", "BX")
	a.Note("The first element of its chunk, whose number in the line is R11.")
	a.Op("MOVQ", "AX", "R11")
	a.Op("SHRQ", "$const_chunkBits", "R11")
	a.Op("MOVQ", "R11", "R12")
	a.Op("SHLQ", "$const_chunkBits", "R12")
	a.Op("ANDL", "$(const_lineChunks-1)", "R11")
	a.Op("LEAQ", "(R11)(R11*2)", "R13")
	a.Op("MOVL", "const_firstsAt(BX)(R13*1)", "R13")
	a.Op("ANDL", "$0xffffff", "R13")
	a.Op("ADDQ", "R13", "R12")
	a.Op("MOVQ", "R12", "place_last(R8)")
	a.Note("Where the line's elements end, the first in R12, the last in R13.")
	a.Op("MOVL", "const_baseAt(BX)", "R12")
	a.Op("ANDL", "$0xffffff", "R12")
	a.Op("MOVL", "R12", "place_base(R8)")
	a.Op("MOVWLZX", "(const_endsAt+2*const_lineChunks-2)(BX)", "R13")
	a.Op("ADDL", "R12", "R13")
	a.Op("MOVL", "R13", "place_end(R8)")
	a.Op("MOVL", "const_codeSumAt(BX)", "R15")
	a.Op("MOVL", "R15", "place_sum(R8)")
	a.Note("Where the chunk's first one does, which for the first chunk is not told again.")
	a.Op("MOVWLZX", "(const_endsAt-2)(BX)(R11*2)", "R15")
	a.Op("XORL", "R14", "R14")
	a.Op("TESTL", "R11", "R11")
	a.Op("CMOVLEQ", "R14", "R15")
	a.Op("ADDL", "R12", "R15")
	a.Op("MOVL", "R15", "place_pos(R8)")
	a.Note("How many bits of the chunk are set before the one of the hash.")
	a.Op("SHRQ", "$const_slotBits", "AX")
	a.Op("ANDL", 63, "AX")
	a.Op("BZHIQ", "AX", "(BX)(R11*8)", "R15")
	a.Op("POPCNTQ", "R15", "R15")
	a.Op("MOVL", "R15", "place_before(R8)")
	a.Op("LEAL", "(R10)(CX*1)", "R15")
	a.Op("MOVL", "R15", "place_filter(R8)")
	a.Note("Ask for the part: its first 256 bytes and its last, which are five cache lines mostly.")
	a.Op("IMUL3Q", "$probe__size", "CX", "CX")
	a.Op("MOVQ", "probe_code(R9)(CX*1)", "CX")
	a.Op("SHRQ", 3, "R12")
	a.Op("SHRQ", 3, "R13")
	a.Op("ADDQ", "CX", "R12")
	a.Op("ADDQ", "CX", "R13")
	a.Op("PREFETCHT1", "(R12)")
	for i := range 3 {
		a.Op("LEAQ", asm.Mem("R12", 64*(i+1)), "AX")
		a.Op("CMPQ", "AX", "R13")
		a.Op("CMOVQHI", "R13", "AX")
		a.Op("PREFETCHT1", "(AX)")
	}
	a.Op("PREFETCHT1", "(R13)")
	a.Op("ADDQ", "$place__size", "R8")
	a.Op("TESTL", "DX", "DX")
	a.Op("JNZ", "place")
	a.Label("done", "All places are made.")
	a.Op("RET")
}
