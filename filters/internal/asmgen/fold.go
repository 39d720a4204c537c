package main

// foldFar and foldNear are x^n modulo the polynomial of CRC-32C, each reversed and
// shifted by one as products of reversed polynomials are. The distance in bits
// from a half of 16 bytes to the place where it is added gives n: 32 more and 32
// less. Of these, foldFar adds 64 bytes to the next 64, foldNear the first 48
// bytes to the last 16.
var (
	foldFar = [8]uint64{
		0x0740eef02, 0x09e4addf8, 0x0740eef02, 0x09e4addf8,
		0x0740eef02, 0x09e4addf8, 0x0740eef02, 0x09e4addf8,
	}
	foldNear = [8]uint64{
		0x01c291d04, 0x1d82c63da, 0x1384aa63a, 0x0ba4fc28e,
		0x0f20c0dfe, 0x14cd00bd6, 0, 0,
	}
)

// foldBegin has the 32 set bits that a sum begins with, between zeros.
var foldBegin = [32]uint64{8: 0xffffffff}

// foldParts sums parts of code by products without carry.
func foldParts(a *file) {
	a.Function("foldParts(dst *uint32, places *place, which *uint32, count int, all *probe)", 0, 40,
		"foldParts sets dst to the CRC-32C of the parts of code of those places whose indices are in which, each of "+
			"8 bytes or more. A part is the polynomial of its bits: what its first bytes leave over is a product, "+
			"which is added to later bytes.")
	a.Load("dst", 0, "R10", "places", 8, "DI", "which", 16, "SI", "count", 24, "CX", "all", 32, "R9")
	a.Op("LEAQ", "foldBegin<>(SB)", "R11")
	a.Op("VMOVDQU64", "foldFar<>(SB)", "Z16")
	a.Op("VMOVDQU64", "foldNear<>(SB)", "Z17")
	a.Op("MOVL", "$0xc0", "AX")
	a.Op("KMOVB", "AX", "K2")

	a.Label("part", "For each part: R12 is its address, R13 its end.")
	a.Op("MOVL", "(SI)", "AX")
	a.Op("IMUL3Q", "$place__size", "AX", "AX")
	a.Op("ADDQ", "DI", "AX")
	a.Op("MOVL", "place_filter(AX)", "BX")
	a.Op("IMUL3Q", "$probe__size", "BX", "BX")
	a.Op("MOVQ", "probe_code(R9)(BX*1)", "BX")
	a.Op("MOVL", "place_base(AX)", "R12")
	a.Op("MOVL", "place_end(AX)", "R13")
	a.Op("SHRQ", 3, "R12")
	a.Op("ADDQ", 7, "R13")
	a.Op("SHRQ", 3, "R13")
	a.Op("ADDQ", "BX", "R12")
	a.Op("ADDQ", "BX", "R13")
	a.Note("The first AX bytes, 1 to 64, leave a multiple of 64. They go to the end of the register; zeros before do " +
		"nothing. The ones at the beginning may reach into the next 64 bytes.")
	a.Op("LEAQ", "-1(R13)", "AX")
	a.Op("SUBQ", "R12", "AX")
	a.Op("ANDL", 63, "AX")
	a.Op("INCL", "AX")
	a.Op("MOVL", 64, "DX")
	a.Op("SUBL", "AX", "DX")
	a.Op("MOVQ", "$-1", "BX")
	a.Op("SHLXQ", "DX", "BX", "BX")
	a.Op("KMOVQ", "BX", "K1")
	a.Op("LEAQ", "-64(R12)(AX*1)", "BX")
	a.Op("VMOVDQU8.Z", "(BX)", "K1", "Z0")
	a.Op("VPXORQ", "(R11)(AX*1)", "Z0", "Z0")
	a.Op("VMOVDQU64", "64(R11)(AX*1)", "Z3")
	a.Op("JMP", "next")

	a.Label("more", "For each further 64 bytes.")
	a.Op("VPCLMULQDQ", "$0x00", "Z16", "Z0", "Z1")
	a.Op("VPCLMULQDQ", "$0x11", "Z16", "Z0", "Z2")
	a.Op("VPXORQ", "(BX)", "Z3", "Z0")
	a.Op("VPTERNLOGQ", "$0x96", "Z1", "Z2", "Z0")
	a.Op("VPXORQ", "Z3", "Z3", "Z3")
	a.Label("next", "BX is the address of the next.")
	a.Op("ADDQ", 64, "BX")
	a.Op("CMPQ", "BX", "R13")
	a.Op("JLT", "more")

	a.Note("64 bytes to 16, and these to the sum.")
	a.Op("VPCLMULQDQ", "$0x00", "Z17", "Z0", "Z1")
	a.Op("VPCLMULQDQ", "$0x11", "Z17", "Z0", "Z2")
	a.Op("VMOVDQA64.Z", "Z0", "K2", "Z0")
	a.Op("VPTERNLOGQ", "$0x96", "Z1", "Z2", "Z0")
	a.Op("VEXTRACTI64X4", 1, "Z0", "Y1")
	a.Op("VPXORQ", "Y1", "Y0", "Y0")
	a.Op("VEXTRACTI64X2", 1, "Y0", "X1")
	a.Op("VPXORQ", "X1", "X0", "X0")
	a.Op("VMOVQ", "X0", "AX")
	a.Op("VPEXTRQ", 1, "X0", "BX")
	a.Op("XORL", "DX", "DX")
	a.Op("CRC32Q", "AX", "DX")
	a.Op("CRC32Q", "BX", "DX")
	a.Op("NOTL", "DX")
	a.Op("MOVL", "DX", "(R10)")
	a.Op("ADDQ", 4, "R10")
	a.Op("ADDQ", 4, "SI")
	a.Op("DECQ", "CX")
	a.Op("JNZ", "part")
	a.Op("VZEROUPPER")
	a.Op("RET")
}
