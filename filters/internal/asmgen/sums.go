package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// Registers of the four lines or parts that are summed side by side: one sum
// waits for its last instruction, four are as many as there are registers for.
var (
	sums    = [4]string{"AX", "BX", "CX", "DX"}
	sources = [4]string{"R8", "R9", "R10", "R11"}
)

// checkLines checks the lines of 32 hashes.
func checkLines(a *file) {
	a.Function("checkLines(hashes *uint64, lines **byte, seeds *uint32) (bad uint32)", 0, 28,
		"checkLines returns for which of 32 hashes the line is not as it was written for its filter.")
	a.Load("hashes", 0, "SI", "lines", 8, "DI", "seeds", 16, "R14")
	a.Op("ADDQ", 4*(lanes-4), "R14")
	a.Op("MOVL", "$const_numberFactor", "R15")
	fours(a, "R13", func() {
		for i := range 4 {
			a.Op("MOVQ", asm.Mem("SI", 8*i), sums[i])
			a.Op("SHRQ", "$const_lineBits", sums[i])
			a.Op("MOVQ", sums[i], sources[i])
			a.Op("SHLQ", 6, sources[i])
			a.Op("ADDQ", asm.Mem("DI", 8*i), sources[i])
			a.Op("IMULL", "R15", sums[i])
			a.Op("XORL", asm.Mem("R14", 4*i), sums[i])
			a.Op("NOTL", sums[i])
		}
		sumLines(a, 4)
		for i := 3; i >= 0; i-- {
			a.Op("NOTL", sums[i])
			a.Op("XORL", asm.Mem(sources[i], 60), sums[i])
			a.Op("NEGL", sums[i])
			a.Op("ADCL", "R13", "R13")
		}
		a.Op("SUBQ", 16, "R14")
	})
	a.Op("MOVL", "R13", "bad+24(FP)")
	a.Op("RET")
}

// sumLines adds the 60 bytes of lines to their sums.
func sumLines(a *file, n int) {
	for w := range 7 {
		for i := range n {
			a.Op("CRC32Q", asm.Mem(sources[i], 8*w), sums[i])
		}
	}
	for i := range n {
		a.Op("CRC32L", asm.Mem(sources[i], 56), sums[i])
	}
}

// checkAllLines checks the lines of one filter.
func checkAllLines(a *file) {
	a.Function("checkAllLines(lines *byte, count int, seed uint32) (bad uint32)", 0, 28,
		"checkAllLines returns zero if count lines are as they were written. The processor works on several at a time.")
	a.Op("MOVQ", "lines+0(FP)", "R8")
	a.Op("MOVQ", "count+8(FP)", "CX")
	a.Op("MOVL", "seed+16(FP)", "SI")
	a.Op("XORL", "DI", "DI")
	a.Op("XORL", "R13", "R13")

	a.Label("line", "For each line: DI is its number times a factor.")
	a.Op("MOVL", "DI", "AX")
	a.Op("XORL", "SI", "AX")
	a.Op("NOTL", "AX")
	sumLines(a, 1)
	a.Op("NOTL", "AX")
	a.Op("XORL", "60(R8)", "AX")
	a.Op("ORL", "AX", "R13")
	a.Op("ADDL", "$const_numberFactor", "DI")
	a.Op("ADDQ", 64, "R8")
	a.Op("DECQ", "CX")
	a.Op("JNZ", "line")
	a.Op("MOVL", "R13", "bad+24(FP)")
	a.Op("RET")
}

// sumParts sums parts of code, four at a time.
func sumParts(a *file) {
	a.Function("sumParts(dst *uint32, places *place, which *uint32, fours int, all *probe)", 32, 40,
		"sumParts sets dst to the CRC-32C of the parts of code of those places whose indices are in which, fours "+
			"times four of them, each of 8 bytes or more.")
	crcs := [4]string{"R12", "R13", "R14", "R15"}
	a.Op("MOVQ", "which+16(FP)", "SI")

	a.Label("four", "For each four parts.")
	a.Op("MOVQ", "places+8(FP)", "DI")
	a.Op("MOVQ", "$-1", "DX")
	a.Op("SHRQ", 1, "DX")
	for i := range 4 {
		p, crc := sources[i], crcs[i]
		a.Note("Part %d: its address and size.", i)
		a.Op("MOVL", asm.Mem("SI", 4*i), "AX")
		a.Op("IMUL3Q", "$place__size", "AX", "AX")
		a.Op("ADDQ", "DI", "AX")
		a.Op("MOVL", "place_filter(AX)", "BX")
		a.Op("IMUL3Q", "$probe__size", "BX", "BX")
		a.Op("ADDQ", "all+32(FP)", "BX")
		a.Op("MOVL", "place_base(AX)", p)
		a.Op("MOVL", "place_end(AX)", "CX")
		a.Op("SHRQ", 3, p)
		a.Op("ADDQ", 7, "CX")
		a.Op("SHRQ", 3, "CX")
		a.Op("SUBQ", p, "CX")
		a.Op("ADDQ", "probe_code(BX)", p)
		a.Note("The bytes that make no word come first, as the end of one; zeros before do nothing. The sum begins " +
			"with ones, which are put into the first bytes.")
		a.Op("MOVQ", "CX", "AX")
		a.Op("ANDL", 7, "AX")
		a.Op("MOVQ", asm.Mem(p, 0), "BX")
		a.Op("ADDQ", "AX", p)
		a.Op("SHLL", 3, "AX")
		a.Op("MOVL", "$0xffffffff", crc)
		a.Op("XORQ", crc, "BX")
		a.Op("SHRXQ", "AX", crc, crc)
		a.Op("XORL", 56, "AX")
		a.Op("SHLXQ", "AX", "BX", "BX")
		a.Op("SHLQ", 8, "BX")
		a.Op("XORL", "AX", "AX")
		a.Op("CRC32Q", "BX", "AX")
		a.Op("XORQ", "AX", crc)
		a.Op("SHRQ", 3, "CX")
		a.Op("MOVQ", "CX", asm.Mem("SP", 8*i))
		a.Op("CMPQ", "CX", "DX")
		a.Op("CMOVQLT", "CX", "DX")
	}
	a.Op("XORL", "AX", "AX")

	a.Label("word", "For each word that all four have.")
	for i := range 4 {
		a.Op("CRC32Q", fmt.Sprintf("(%s)(AX*8)", sources[i]), crcs[i])
	}
	a.Op("INCQ", "AX")
	a.Op("CMPQ", "AX", "DX")
	a.Op("JLT", "word")

	a.Op("MOVQ", "dst+0(FP)", "DI")
	for i := range 4 {
		more, done := fmt.Sprint("more", i), fmt.Sprint("done", i)
		a.Note("The rest of part %d.", i)
		a.Op("MOVQ", asm.Mem("SP", 8*i), "CX")
		a.Op("MOVQ", "DX", "AX")
		a.Op("CMPQ", "AX", "CX")
		a.Op("JGE", done)
		a.Label(more, "For each word.")
		a.Op("CRC32Q", fmt.Sprintf("(%s)(AX*8)", sources[i]), crcs[i])
		a.Op("INCQ", "AX")
		a.Op("CMPQ", "AX", "CX")
		a.Op("JLT", more)
		a.Label(done, "The sum is done.")
		a.Op("NOTL", crcs[i])
		a.Op("MOVL", crcs[i], asm.Mem("DI", 4*i))
	}
	a.Op("ADDQ", 16, "DI")
	a.Op("MOVQ", "DI", "dst+0(FP)")
	a.Op("ADDQ", 16, "SI")
	a.Op("DECQ", "fours+24(FP)")
	a.Op("JNZ", "four")
	a.Op("RET")
}
