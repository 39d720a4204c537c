package main

// siftLines512 picks the hashes whose bit is set in probe lines.
func siftLines512(a *file) {
	a.function("siftLines512(hashes *uint64, count int, lines *byte) (kept int)", 0, 32,
		"siftLines512 moves the hashes whose bit is set to the front. It stores 8 at a time, never before what it has not yet read, and at most up to the next multiple of 8.")
	a.load("hashes", 0, "SI", "count", 8, "CX", "lines", 16, "BX")
	a.op("MOVQ", "SI", "DI")
	a.op("MOVQ", "SI", "R8")
	a.broadcast(1, "Z7")
	a.broadcast(^uint64(3), "Z8")
	a.op("MOVQ", "$0xff", "DX")

	a.label("eight", "For each 8 hashes, or as many as are left.")
	a.op("CMPQ", "CX", 8)
	a.op("JGE", "full")
	a.op("MOVQ", "$1", "DX")
	a.op("SHLQ", "CX", "DX")
	a.op("DECQ", "DX")

	a.label("full", "K1 is which of the 8 there are.")
	a.op("KMOVB", "DX", "K1")
	a.op("VMOVDQU64", "(SI)", "Z0")
	a.note("Gather the word with the bit, bring the bit to its end. Of 8 words of a line, 4 are bitmaps: leave out 4 for each line before.")
	a.op("VPSRLQ", "$const_slotBits", "Z0", "Z1")
	a.op("VPSRLQ", "$const_chunkBits", "Z0", "Z2")
	a.op("VPANDQ", "Z8", "Z2", "Z4")
	a.op("VPADDQ", "Z4", "Z2", "Z2")
	a.op("VPXORQ", "Z3", "Z3", "Z3")
	a.op("KMOVB", "K1", "K2")
	a.op("VPGATHERQQ", "(BX)(Z2*8)", "K2", "Z3")
	a.op("VPRORVQ", "Z1", "Z3", "Z3")
	a.op("VPTESTMQ", "Z7", "Z3", "K1", "K1")
	a.note("Move the hits together and go past them.")
	a.op("VPCOMPRESSQ", "Z0", "K1", "Z4")
	a.op("VMOVDQU64", "Z4", "(DI)")
	a.op("KMOVB", "K1", "R9")
	a.op("POPCNTQ", "R9", "R9")
	a.op("LEAQ", "(DI)(R9*8)", "DI")
	a.op("ADDQ", 64, "SI")
	a.op("SUBQ", 8, "CX")
	a.op("JG", "eight")
	a.op("VZEROUPPER")
	a.op("SUBQ", "R8", "DI")
	a.op("SHRQ", 3, "DI")
	a.op("MOVQ", "DI", "kept+24(FP)")
	a.op("RET")
}

// lookLines512 looks at one bit of each of 32 filters.
func lookLines512(a *file) {
	a.function("lookLines512(hashes *uint64, lines **byte) (found uint32)", 0, 20,
		"lookLines512 returns for which of 32 hashes the bit is set in the probe lines of its filter, which begin at the address of the same index.")
	a.load("hashes", 0, "SI", "lines", 8, "DI")
	a.broadcast(1, "Z7")
	a.broadcast(^uint64(3), "Z8")
	a.op("XORQ", "BX", "BX")
	for i := range lanes / 8 {
		a.note("Hashes %d to %d: the address of the word, the word, the bit.", 8*i, 8*i+7)
		a.op("VMOVDQU64", mem("SI", 64*i), z(9+i))
		a.op("VPSRLQ", "$const_chunkBits", z(9+i), z(13+i))
		a.op("VPANDQ", "Z8", z(13+i), z(17+i))
		a.op("VPADDQ", z(17+i), z(13+i), z(13+i))
		a.op("VPSLLQ", 3, z(13+i), z(13+i))
		a.op("VPADDQ", mem("DI", 64*i), z(13+i), z(13+i))
		a.op("KXNORB", "K1", "K1", "K1")
		a.op("VPXORQ", z(17+i), z(17+i), z(17+i))
		a.op("VPGATHERQQ", "(BX)("+z(13+i)+"*1)", "K1", z(17+i))
	}
	a.op("XORQ", "AX", "AX")
	for i := range lanes / 8 {
		a.op("VPSRLQ", "$const_slotBits", z(9+i), z(9+i))
		a.op("VPRORVQ", z(9+i), z(17+i), z(17+i))
		a.op("VPTESTMQ", "Z7", z(17+i), "K1")
		a.op("KMOVB", "K1", "DX")
		if i > 0 {
			a.op("SHLL", 8*i, "DX")
		}
		a.op("ORL", "DX", "AX")
	}
	a.op("VZEROUPPER")
	a.op("MOVL", "AX", "found+16(FP)")
	a.op("RET")
}

// exchange512 is what sorting networks are made of.
func exchange512(a *file) {
	a.function("exchange512(rows *uint64, pairs *[2]uint32, count int)", 0, 24,
		"exchange512 puts, for each pair of rows of 32 numbers, the lesser of each two into the first row and the greater into the second.")
	a.load("rows", 0, "DI", "pairs", 8, "SI", "count", 16, "CX")

	a.label("pair", "For each pair of rows: AX and BX are their addresses.")
	a.op("MOVL", "(SI)", "AX")
	a.op("MOVL", "4(SI)", "BX")
	a.op("ADDQ", 8, "SI")
	a.op("SHLQ", 8, "AX")
	a.op("SHLQ", 8, "BX")
	a.op("ADDQ", "DI", "AX")
	a.op("ADDQ", "DI", "BX")
	for i := range lanes / 8 {
		a.op("VMOVDQU64", mem("AX", 64*i), z(i))
		a.op("VMOVDQU64", mem("BX", 64*i), z(4+i))
	}
	for i := range lanes / 8 {
		a.op("VPMINUQ", z(i), z(4+i), z(8+i))
		a.op("VPMAXUQ", z(i), z(4+i), z(12+i))
	}
	for i := range lanes / 8 {
		a.op("VMOVDQU64", z(8+i), mem("AX", 64*i))
		a.op("VMOVDQU64", z(12+i), mem("BX", 64*i))
	}
	a.op("DECQ", "CX")
	a.op("JNZ", "pair")
	a.op("VZEROUPPER")
	a.op("RET")
}
