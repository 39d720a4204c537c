package main

import "fmt"

// Registers of the four lines or parts that are summed side by side: one sum
// waits for its last instruction, four are as many as there are registers for.
var (
	sums    = [4]string{"AX", "BX", "CX", "DX"}
	sources = [4]string{"R8", "R9", "R10", "R11"}
)

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

// sumParts sums parts of code, four at a time.
func sumParts(a *file) {
	a.function("sumParts(dst *uint32, places *place, which *uint32, fours int, all *probe)", 32, 40,
		"sumParts sets dst to the CRC-32C of the parts of code of those places whose indices are in which, fours "+
			"times four of them, each of 8 bytes or more.")
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
		a.note("The bytes that make no word come first, as the end of one; zeros before do nothing. The sum begins " +
			"with ones, which are put into the first bytes.")
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
