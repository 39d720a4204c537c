package main

import "github.com/seed61375155/trawl/internal/asm"

// exchange512 is what sorting networks are made of.
func exchange512(a *file) {
	a.Function("exchange512(rows *uint64, pairs *[2]uint32, count int)", 0, 24,
		"exchange512 puts, for each pair of rows of 32 numbers, the lesser of each two into the first row and the "+
			"greater into the second.")
	a.Load("rows", 0, "DI", "pairs", 8, "SI", "count", 16, "CX")

	a.Label("pair", "For each pair of rows: AX and BX are their addresses.")
	a.Op("MOVL", "(SI)", "AX")
	a.Op("MOVL", "4(SI)", "BX")
	a.Op("ADDQ", 8, "SI")
	a.Op("SHLQ", 8, "AX")
	a.Op("SHLQ", 8, "BX")
	a.Op("ADDQ", "DI", "AX")
	a.Op("ADDQ", "DI", "BX")
	for i := range lanes / 8 {
		a.Op("VMOVDQU64", asm.Mem("AX", 64*i), asm.Z(i))
		a.Op("VMOVDQU64", asm.Mem("BX", 64*i), asm.Z(4+i))
	}
	for i := range lanes / 8 {
		a.Op("VPMINUQ", asm.Z(i), asm.Z(4+i), asm.Z(8+i))
		a.Op("VPMAXUQ", asm.Z(i), asm.Z(4+i), asm.Z(12+i))
	}
	for i := range lanes / 8 {
		a.Op("VMOVDQU64", asm.Z(8+i), asm.Mem("AX", 64*i))
		a.Op("VMOVDQU64", asm.Z(12+i), asm.Mem("BX", 64*i))
	}
	a.Op("DECQ", "CX")
	a.Op("JNZ", "pair")
	a.Op("VZEROUPPER")
	a.Op("RET")
}
