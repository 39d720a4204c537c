package main

import "fmt"

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
	a.function("walkPlaces(places *place, which *uint32, all *probe, passed int) (found uint32, stuck uint64)",
		walkFrame+64, 48,
		"walkPlaces walks from the 32 places whose indices are in which, four elements at a time, until each is at "+
			"its number, beyond, or at the place's end. In as many fours as passed says no number can be. It returns "+
			"which have met their number, which may have been after the end; and something else than zero when it "+
			"gives up, because a quotient fits no window. 256 bits from the end of each place on, 8 bytes must be "+
			"readable.")
	d := decoder{a, sets(), "DI"}
	align(a)
	a.load("places", 0, "DI", "which", 8, "SI", "all", 16, "R9")
	a.op("XORL", "CX", "CX")

	a.label("place", "For each place: put what it says into rows.")
	a.op("MOVL", "(SI)(CX*4)", "AX")
	a.op("IMUL3Q", "$place__size", "AX", "AX")
	a.op("ADDQ", "DI", "AX")
	a.op("MOVL", "place_filter(AX)", "BX")
	a.op("IMUL3Q", "$probe__size", "BX", "BX")
	a.op("MOVQ", "probe_code(R9)(BX*1)", "BX")
	a.op("SHLQ", 3, "BX")
	row := func(at int) string { return fmt.Sprintf("%d(R8)(CX*8)", at) }
	a.op("MOVL", "place_pos(AX)", "DX")
	a.op("ADDQ", "BX", "DX")
	a.op("MOVQ", "DX", row(walkRows))
	a.op("MOVL", "place_end(AX)", "DX")
	a.op("ADDQ", "BX", "DX")
	a.op("MOVQ", "DX", row(walkEnd))
	a.op("MOVQ", "place_last(AX)", "DX")
	a.op("MOVQ", "DX", row(walkRows+256))
	a.op("MOVQ", "place_want(AX)", "DX")
	a.op("MOVQ", "DX", row(walkWant))
	a.op("INCL", "CX")
	a.op("CMPL", "CX", lanes)
	a.op("JLT", "place")

	d.constants()
	d.over("VMOVDQU64", func(s set) []any { return []any{mem("R8", walkRows+64*s.i), s.pos} })
	d.over("VMOVDQU64", func(s set) []any { return []any{mem("R8", walkRows+256+64*s.i), s.last} })
	a.op("LEAQ", mem("R8", walkRows), "DI")
	a.op("MOVQ", "passed+24(FP)", "CX")
	a.note("The first element may be the number.")
	a.op("XORL", "R11", "R11")
	d.met(func(s set, k string) {
		a.op("VPCMPEQQ", mem("R8", walkWant+64*s.i), s.last, k)
	})

	a.label("four", "For each four elements. Lanes at their end stay there.")
	d.over("VPMINUQ", func(s set) []any { return []any{mem("R8", walkEnd+64*s.i), s.pos, s.pos} })
	d.four()
	d.advance()
	a.op("DECQ", "CX")
	a.op("JGE", "four")

	a.note("Is any of them the number of its lane?")
	for _, s := range d.sets {
		want, k := mem("R8", walkWant+64*s.i), fmt.Sprint("K", 1+s.i)
		a.op("VMOVDQA64", want, s.runs)
		a.op("VPCMPEQQ", s.value, s.runs, k)
		for i := range 3 {
			a.op("VPCMPEQQ", d.row(i, s), s.runs, "K5")
			a.op("KORB", "K5", k, k)
		}
	}
	d.met(func(set, string) {})
	a.note("Has any lane elements to come that may be the number?")
	for _, s := range d.sets {
		k := fmt.Sprint("K", 1+s.i)
		a.op("VPCMPUQ", 6, s.value, s.runs, k)
		a.op("VPCMPUQ", 1, mem("R8", walkEnd+64*s.i), s.pos, k, k)
	}
	any32(a)
	a.op("JNZ", "four")
	a.op("XORL", "R10", "R10")
	a.op("JMP", "done")

	d.slow()
	a.label("done", "The end: R10 tells whether a quotient was too long.")
	a.op("VZEROUPPER")
	a.op("MOVL", "R11", "found+32(FP)")
	a.op("MOVQ", "R10", "stuck+40(FP)")
	a.op("RET")
}

// any32 tests whether any bit is set in K1 to K4.
func any32(a *file) {
	a.op("KORB", "K1", "K2", "K5")
	a.op("KORB", "K3", "K4", "K6")
	a.op("KORTESTB", "K5", "K6")
}

// met adds K1 to K4, which compare sets, to R11.
func (d decoder) met(compare func(s set, k string)) {
	for _, s := range d.sets {
		compare(s, fmt.Sprint("K", 1+s.i))
	}
	a := d.file
	a.op("KUNPCKBW", "K1", "K2", "K5")
	a.op("KUNPCKBW", "K3", "K4", "K6")
	a.op("KUNPCKWD", "K5", "K6", "K5")
	a.op("KMOVD", "K5", "AX")
	a.op("ORL", "AX", "R11")
}
