package main

import "fmt"

// Registers of the four lines or parts that are summed side by side: one sum
// waits for its last instruction, four are as many as there are registers for.
var (
	sums    = [4]string{"AX", "BX", "CX", "DX"}
	sources = [4]string{"R8", "R9", "R10", "R11"}
)

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
		"fetchLines asks the memory for the line of each of 32 hashes, of filters whose lines begin at the address of the same index. As all prefetches it goes to the second-level cache: the first takes few at a time.")
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
		"lookLines returns for which of 32 hashes the bit is set in the probe lines of its filter, which begin at the address of the same index. A gather takes longer.")
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

// checkLines checks the lines of 32 hashes.
func checkLines(a *file) {
	a.function("checkLines(hashes *uint64, lines **byte, seeds *uint32) (bad uint32)", 0, 28,
		"checkLines returns for which of 32 hashes the line is not as it was written for its filter.")
	a.load("hashes", 0, "SI", "lines", 8, "DI", "seeds", 16, "R14")
	a.op("ADDQ", 4*(lanes-4), "R14")
	a.op("MOVL", "$const_numberFactor", "R15")
	fours(a, "R13", func() {
		for i := range 4 {
			a.op("MOVQ", mem("SI", 8*i), sums[i])
			a.op("SHRQ", "$const_lineBits", sums[i])
			a.op("MOVQ", sums[i], sources[i])
			a.op("SHLQ", 6, sources[i])
			a.op("ADDQ", mem("DI", 8*i), sources[i])
			a.op("IMULL", "R15", sums[i])
			a.op("XORL", mem("R14", 4*i), sums[i])
			a.op("NOTL", sums[i])
		}
		sumLines(a, 4)
		for i := 3; i >= 0; i-- {
			a.op("NOTL", sums[i])
			a.op("XORL", mem(sources[i], 60), sums[i])
			a.op("NEGL", sums[i])
			a.op("ADCL", "R13", "R13")
		}
		a.op("SUBQ", 16, "R14")
	})
	a.op("MOVL", "R13", "bad+24(FP)")
	a.op("RET")
}

// sumLines adds the 60 bytes of lines to their sums.
func sumLines(a *file, n int) {
	for w := range 7 {
		for i := range n {
			a.op("CRC32Q", mem(sources[i], 8*w), sums[i])
		}
	}
	for i := range n {
		a.op("CRC32L", mem(sources[i], 56), sums[i])
	}
}

// checkAllLines checks the lines of one filter.
func checkAllLines(a *file) {
	a.function("checkAllLines(lines *byte, count int, seed uint32) (bad uint32)", 0, 28,
		"checkAllLines returns zero if count lines are as they were written. The processor works on several at a time.")
	a.op("MOVQ", "lines+0(FP)", "R8")
	a.op("MOVQ", "count+8(FP)", "CX")
	a.op("MOVL", "seed+16(FP)", "SI")
	a.op("XORL", "DI", "DI")
	a.op("XORL", "R13", "R13")

	a.label("line", "For each line: DI is its number times a factor.")
	a.op("MOVL", "DI", "AX")
	a.op("XORL", "SI", "AX")
	a.op("NOTL", "AX")
	sumLines(a, 1)
	a.op("NOTL", "AX")
	a.op("XORL", "60(R8)", "AX")
	a.op("ORL", "AX", "R13")
	a.op("ADDL", "$const_numberFactor", "DI")
	a.op("ADDQ", 64, "R8")
	a.op("DECQ", "CX")
	a.op("JNZ", "line")
	a.op("MOVL", "R13", "bad+24(FP)")
	a.op("RET")
}

// placeLines makes the places of hashes.
func placeLines(a *file) {
	a.function("placeLines(dst *place, hashes *uint64, lines **byte, group *probe, first, found uint32)", 0, 40,
		"placeLines makes the place of each of 32 hashes whose bit is set in found, and asks the memory for its part of the code. first is the index of the group's first filter.")
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

// sumParts sums parts of code, four at a time.
func sumParts(a *file) {
	a.function("sumParts(dst *uint32, places *place, which *uint32, fours int, all *probe)", 32, 40,
		"sumParts sets dst to the CRC-32C of the parts of code of those places whose indices are in which, fours times four of them, each of 8 bytes or more.")
	crcs := [4]string{"R12", "R13", "R14", "R15"}
	a.op("MOVQ", "which+16(FP)", "SI")

	a.label("four", "For each four parts.")
	a.op("MOVQ", "places+8(FP)", "DI")
	a.op("MOVQ", "$-1", "DX")
	a.op("SHRQ", 1, "DX")
	for i := range 4 {
		p, crc := sources[i], crcs[i]
		a.note("Part %d: its address and size.", i)
		a.op("MOVL", mem("SI", 4*i), "AX")
		a.op("IMUL3Q", "$place__size", "AX", "AX")
		a.op("ADDQ", "DI", "AX")
		a.op("MOVL", "place_filter(AX)", "BX")
		a.op("IMUL3Q", "$probe__size", "BX", "BX")
		a.op("ADDQ", "all+32(FP)", "BX")
		a.op("MOVL", "place_base(AX)", p)
		a.op("MOVL", "place_end(AX)", "CX")
		a.op("SHRQ", 3, p)
		a.op("ADDQ", 7, "CX")
		a.op("SHRQ", 3, "CX")
		a.op("SUBQ", p, "CX")
		a.op("ADDQ", "probe_code(BX)", p)
		a.note("The bytes that make no word come first, as the end of one; zeros before do nothing. The sum begins with ones, which are put into the first bytes.")
		a.op("MOVQ", "CX", "AX")
		a.op("ANDL", 7, "AX")
		a.op("MOVQ", mem(p, 0), "BX")
		a.op("ADDQ", "AX", p)
		a.op("SHLL", 3, "AX")
		a.op("MOVL", "$0xffffffff", crc)
		a.op("XORQ", crc, "BX")
		a.op("SHRXQ", "AX", crc, crc)
		a.op("XORL", 56, "AX")
		a.op("SHLXQ", "AX", "BX", "BX")
		a.op("SHLQ", 8, "BX")
		a.op("XORL", "AX", "AX")
		a.op("CRC32Q", "BX", "AX")
		a.op("XORQ", "AX", crc)
		a.op("SHRQ", 3, "CX")
		a.op("MOVQ", "CX", mem("SP", 8*i))
		a.op("CMPQ", "CX", "DX")
		a.op("CMOVQLT", "CX", "DX")
	}
	a.op("XORL", "AX", "AX")

	a.label("word", "For each word that all four have.")
	for i := range 4 {
		a.op("CRC32Q", fmt.Sprintf("(%s)(AX*8)", sources[i]), crcs[i])
	}
	a.op("INCQ", "AX")
	a.op("CMPQ", "AX", "DX")
	a.op("JLT", "word")

	a.op("MOVQ", "dst+0(FP)", "DI")
	for i := range 4 {
		more, done := fmt.Sprint("more", i), fmt.Sprint("done", i)
		a.note("The rest of part %d.", i)
		a.op("MOVQ", mem("SP", 8*i), "CX")
		a.op("MOVQ", "DX", "AX")
		a.op("CMPQ", "AX", "CX")
		a.op("JGE", done)
		a.label(more, "For each word.")
		a.op("CRC32Q", fmt.Sprintf("(%s)(AX*8)", sources[i]), crcs[i])
		a.op("INCQ", "AX")
		a.op("CMPQ", "AX", "CX")
		a.op("JLT", more)
		a.label(done, "The sum is done.")
		a.op("NOTL", crcs[i])
		a.op("MOVL", crcs[i], mem("DI", 4*i))
	}
	a.op("ADDQ", 16, "DI")
	a.op("MOVQ", "DI", "dst+0(FP)")
	a.op("ADDQ", 16, "SI")
	a.op("DECQ", "fours+24(FP)")
	a.op("JNZ", "four")
	a.op("RET")
}
