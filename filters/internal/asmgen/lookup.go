package main

// exchange512 is what sorting networks are made of.
func exchange512(a *file) {
	a.function("exchange512(rows *uint64, pairs *[2]uint32, count int)", 0, 24,
		"exchange512 puts, for each pair of rows of 32 numbers, the lesser of each two into the first row and the "+
			"greater into the second.")
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
