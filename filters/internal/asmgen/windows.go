package main

import "github.com/seed61375155/trawl/internal/asm"

// firstWindows loads the 8 bytes at the position of each lane, inverted, with its
// first bit as the highest: 57 bits or more, and some that were before.
func (d decoder) firstWindows() {
	d.Note("Windows: load 8 bytes at the position of each lane.")
	d.over("VPSRLQ", func(s set) []any { return []any{3, s.pos, s.newPos} })
	d.over("VMOVDQA64", func(s set) []any { return []any{s.newPos, asm.Mem("R8", 64*s.i)} })
	for _, s := range d.sets {
		d.load8(s, 0, s.value)
	}
	d.over("VPANDQ", func(s set) []any { return []any{zSeven, s.pos, s.newPos} })
	d.over("VPSHUFB", func(s set) []any { return []any{zReverse, s.value, s.value} })
	d.over("VPTERNLOGQ", func(s set) []any { return []any{"$0x55", s.value, s.value, s.value} })
	d.over("VPROLVQ", func(s set) []any { return []any{s.newPos, s.value, s.value} })
}

// secondWindows puts the bits of the next 8 bytes after what is left of the first
// ones: 64 bits that are not yet decoded.
func (d decoder) secondWindows() {
	d.Note("Windows: load the next 8 bytes, and put them after the bits that are left, whose number is %s less pos "+
		"and quotients.", zRest)
	for _, s := range d.sets {
		d.load8(s, 8, s.newPos)
	}
	d.over("VPSHUFB", func(s set) []any { return []any{zReverse, s.newPos, s.newPos} })
	for _, s := range d.sets {
		d.Op("VPANDQ", zSeven, s.pos, zScratch)
		d.Op("VPSUBQ", zScratch, zRest, zScratch)
		d.Op("VPSUBQ", s.runs, zScratch, zScratch)
		d.Note("All ones, shifted, are a mask of the bits after those.")
		d.Op("VPTERNLOGQ", "$0xff", zTemp, zTemp, zTemp)
		d.Op("VPSRLVQ", zScratch, s.newPos, s.newPos)
		d.Op("VPSRLVQ", zScratch, zTemp, zTemp)
		d.Op("VPTERNLOGQ", "$0x74", s.newPos, zTemp, s.value)
	}
}

// load8 loads 8 bytes for each lane of a set, at an offset from its address in the
// scratch memory. Loads one by one are faster than a gather.
func (d decoder) load8(s set, offset int, to string) {
	x0, y0 := "X"+to[1:], "Y"+to[1:]
	for i, r := range []string{x0, "X31", "X30", "X31"} {
		d.Op("MOVQ", asm.Mem("R8", 64*s.i+16*i), "AX")
		d.Op("MOVQ", asm.Mem("R8", 64*s.i+16*i+8), "DX")
		d.Op("VMOVQ", asm.Mem("AX", offset), r)
		d.Op("VPINSRQ", 1, asm.Mem("DX", offset), r, r)
		switch i {
		case 1:
			d.Op("VINSERTI64X2", 1, r, y0, y0)
		case 3:
			d.Op("VINSERTI64X2", 1, r, "Y30", "Y30")
		}
	}
	d.Op("VINSERTI64X4", 1, "Y30", to, to)
}
