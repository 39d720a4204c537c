package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// Offsets of rows of 32 numbers in the frame of walkPlaces, after the scratch
// memory of the decoder.
const (
	walkWant = 256 * (1 + iota)
	walkEnd
	walkRows  // of three elements; the state at the start is there before
	walkFrame = walkRows + 3*256
)

// walkPlaces walks from 32 places side by side.
func walkPlaces(a *file) {
	a.Function("walkPlaces(places *place, which *uint32, all *probe, passed int) (found uint32, stuck uint64)",
		walkFrame+64, 48,
		"walkPlaces walks from the 32 places whose indices are in which, four elements at a time, until each is at "+
			"its number, beyond, or at the place's end. In as many fours as passed says no number can be. It returns "+
			"which have met their number, which may have been after the end; and something else than zero when it "+
			"gives up, because a quotient fits no window. 256 bits from the end of each place on, 8 bytes must be "+
			"readable.")
	d := decoder{a, sets(), "DI"}
	align(a)
	a.Load("places", 0, "DI", "which", 8, "SI", "all", 16, "R9")
	a.Op("XORL", "CX", "CX")

	a.Label("place", "For each place: put what it says into rows.")
	a.Op("MOVL", "(SI)(CX*4)", "AX")
	a.Op("IMUL3Q", "$place__size", "AX", "AX")
	a.Op("ADDQ", "DI", "AX")
	a.Op("MOVL", "place_filter(AX)", "BX")
	a.Op("IMUL3Q", "$probe__size", "BX", "BX")
	a.Op("MOVQ", "probe_code(R9)(BX*1)", "BX")
	a.Op("SHLQ", 3, "BX")
	row := func(at int) string { return fmt.Sprintf("%d(R8)(CX*8)", at) }
	a.Op("MOVL", "place_pos(AX)", "DX")
	a.Op("ADDQ", "BX", "DX")
	a.Op("MOVQ", "DX", row(walkRows))
	a.Op("MOVL", "place_end(AX)", "DX")
	a.Op("ADDQ", "BX", "DX")
	a.Op("MOVQ", "DX", row(walkEnd))
	a.Op("MOVQ", "place_last(AX)", "DX")
	a.Op("MOVQ", "DX", row(walkRows+256))
	a.Op("MOVQ", "place_want(AX)", "DX")
	a.Op("MOVQ", "DX", row(walkWant))
	a.Op("INCL", "CX")
	a.Op("CMPL", "CX", lanes)
	a.Op("JLT", "place")

	d.constants()
	d.over("VMOVDQU64", func(s set) []any { return []any{asm.Mem("R8", walkRows+64*s.i), s.pos} })
	d.over("VMOVDQU64", func(s set) []any { return []any{asm.Mem("R8", walkRows+256+64*s.i), s.last} })
	a.Op("LEAQ", asm.Mem("R8", walkRows), "DI")
	a.Op("MOVQ", "passed+24(FP)", "CX")
	a.Note("The first element may be the number.")
	a.Op("XORL", "R11", "R11")
	d.met(func(s set, k string) {
		a.Op("VPCMPEQQ", asm.Mem("R8", walkWant+64*s.i), s.last, k)
	})

	a.Label("four", "For each four elements. Lanes at their end stay there.")
	d.over("VPMINUQ", func(s set) []any { return []any{asm.Mem("R8", walkEnd+64*s.i), s.pos, s.pos} })
	d.four()
	d.advance()
	a.Op("DECQ", "CX")
	a.Op("JGE", "four")

	a.Note("Is any of them the number of its lane?")
	for _, s := range d.sets {
		want, k := asm.Mem("R8", walkWant+64*s.i), fmt.Sprint("K", 1+s.i)
		a.Op("VMOVDQA64", want, s.runs)
		a.Op("VPCMPEQQ", s.value, s.runs, k)
		for i := range 3 {
			a.Op("VPCMPEQQ", d.row(i, s), s.runs, "K5")
			a.Op("KORB", "K5", k, k)
		}
	}
	d.met(func(set, string) {})
	a.Note("Has any lane elements to come that may be the number?")
	for _, s := range d.sets {
		k := fmt.Sprint("K", 1+s.i)
		a.Op("VPCMPUQ", 6, s.value, s.runs, k)
		a.Op("VPCMPUQ", 1, asm.Mem("R8", walkEnd+64*s.i), s.pos, k, k)
	}
	any32(a)
	a.Op("JNZ", "four")
	a.Op("XORL", "R10", "R10")
	a.Op("JMP", "done")

	d.slow()
	a.Label("done", "The end: R10 tells whether a quotient was too long.")
	a.Op("VZEROUPPER")
	a.Op("MOVL", "R11", "found+32(FP)")
	a.Op("MOVQ", "R10", "stuck+40(FP)")
	a.Op("RET")
}

// any32 tests whether any bit is set in K1 to K4.
func any32(a *file) {
	a.Op("KORB", "K1", "K2", "K5")
	a.Op("KORB", "K3", "K4", "K6")
	a.Op("KORTESTB", "K5", "K6")
}

// met adds K1 to K4, which compare sets, to R11.
func (d decoder) met(compare func(s set, k string)) {
	for _, s := range d.sets {
		compare(s, fmt.Sprint("K", 1+s.i))
	}
	a := d.file
	a.Op("KUNPCKBW", "K1", "K2", "K5")
	a.Op("KUNPCKBW", "K3", "K4", "K6")
	a.Op("KUNPCKWD", "K5", "K6", "K5")
	a.Op("KMOVD", "K5", "AX")
	a.Op("ORL", "AX", "R11")
}
