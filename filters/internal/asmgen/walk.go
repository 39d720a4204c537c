package main

import "fmt"

// Offsets of rows of 32 numbers in the frame of walkPlaces.
const (
	walkAddresses = 256 * iota
	walkPos
	walkLast
	walkWant
	walkEnd
	walkFrame
)

// walkPlaces walks from 32 places side by side.
func walkPlaces(a *file) {
	a.function("walkPlaces(places *place, which *uint32, all *probe) (found, stuck uint32)", walkFrame+64, 32,
		"walkPlaces walks from the 32 places whose indices are in which, through elements that end up to the place's end, until each is at its number or beyond. It returns which have found it, and which have met a quotient that fits no window. 8 bytes must be readable from the end of each place on.")
	w := newWalker(a)
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
	a.op("MOVL", "place_pos(AX)", "DX")
	a.op("ADDQ", "BX", "DX")
	a.op("MOVQ", "DX", fmt.Sprintf("%d(R8)(CX*8)", walkPos))
	a.op("MOVL", "place_end(AX)", "DX")
	a.op("ADDQ", "BX", "DX")
	a.op("MOVQ", "DX", fmt.Sprintf("%d(R8)(CX*8)", walkEnd))
	a.op("MOVQ", "place_last(AX)", "DX")
	a.op("MOVQ", "DX", fmt.Sprintf("%d(R8)(CX*8)", walkLast))
	a.op("MOVQ", "place_want(AX)", "DX")
	a.op("MOVQ", "DX", fmt.Sprintf("%d(R8)(CX*8)", walkWant))
	a.op("INCL", "CX")
	a.op("CMPL", "CX", lanes)
	a.op("JLT", "place")

	w.constants()
	a.op("XORL", "R11", "R11")
	a.op("XORL", "R12", "R12")
	w.over("VMOVDQU64", func(s quarter) []any { return []any{mem("R8", walkPos+64*s.i), s.pos} })
	w.over("VMOVDQU64", func(s quarter) []any { return []any{mem("R8", walkLast+64*s.i), s.last} })
	a.note("K1 to K4 are which lanes have elements to come that may be the number; the first may be it.")
	for _, s := range w.quarters {
		want, live := mem("R8", walkWant+64*s.i), walking(s)
		a.op("VPCMPEQQ", want, s.last, "K5")
		a.op("KMOVB", "K5", "AX")
		a.op("SHLL", 8*s.i, "AX")
		a.op("ORL", "AX", "R11")
		a.op("VPCMPUQ", 1, want, s.last, live)
		a.op("VPCMPUQ", 1, mem("R8", walkEnd+64*s.i), s.pos, live, live)
	}
	a.op("JMP", "more")

	a.label("pair", "For each pair of elements.")
	w.pair()
	for _, s := range w.quarters {
		w.overflow(s)
		w.reach(s)
	}
	w.advance()

	a.label("more", "Is any lane left?")
	a.op("KORB", "K1", "K2", "K5")
	a.op("KORB", "K3", "K4", "K6")
	a.op("KORTESTB", "K5", "K6")
	a.op("JNZ", "pair")
	a.op("VZEROUPPER")
	a.op("MOVL", "R11", "found+24(FP)")
	a.op("MOVL", "R12", "stuck+28(FP)")
	a.op("RET")
	for _, s := range w.quarters {
		w.reached(s)
		w.single(s)
	}
}

// quarter names the registers of 8 of the 32 places.
type quarter struct {
	i            int
	pos, last    string // state
	first, value string // the pair of elements that was decoded
	newPos       string
	runs         string // quotients, sum of both in the end
}

// Registers of constants.
const (
	walkReverse = "Z26" // reverse8
	walkSeven   = "Z27"
	walkShared  = "Z28" // the most that two quotients in one window add up to
	walkOnes    = "Z29"
	walkMin     = "Z30" // the bits of an element but its quotient
	walkMaxRun  = "Z31" // the longest quotient that fits a window
)

// walker writes the parts of walkPlaces.
type walker struct {
	*file
	quarters []quarter
}

func newWalker(a *file) walker {
	w := walker{file: a}
	for i := range lanes / 8 {
		w.quarters = append(w.quarters, quarter{i: i, pos: z(i), last: z(4 + i), value: z(8 + i), runs: z(12 + i), newPos: z(16 + i), first: z(20 + i)})
	}
	return w
}

// over writes an instruction for each quarter in turn.
func (w walker) over(name string, operands func(s quarter) []any) {
	for _, s := range w.quarters {
		w.op(name, operands(s)...)
	}
}

func (w walker) constants() {
	w.note("Constants.")
	w.op("VMOVDQU64", "reverse8<>(SB)", walkReverse)
	for _, c := range []struct{ value, register string }{
		{"$7", walkSeven},
		{"$(57-2*const_minBits)", walkShared},
		{"$const_minBits", walkMin},
		{"$const_maxRun", walkMaxRun},
	} {
		w.op("MOVQ", c.value, "AX")
		w.op("VPBROADCASTQ", "AX", c.register)
	}
	w.op("VPTERNLOGQ", "$0xff", walkOnes, walkOnes, walkOnes)
}

// windows loads the 8 bytes at the position of each place, with its first bit as
// the highest: 57 bits or more. Loads one by one are faster than a gather.
func (w walker) windows() {
	w.note("Windows: load 8 bytes at each position.")
	w.over("VPSRLQ", func(s quarter) []any { return []any{3, s.pos, s.newPos} })
	w.over("VMOVDQA64", func(s quarter) []any { return []any{s.newPos, mem("R8", walkAddresses+64*s.i)} })
	for _, s := range w.quarters {
		parts := []string{x(8 + s.i), x(12 + s.i), x(16 + s.i), x(20 + s.i)}
		for i, part := range parts {
			w.op("MOVQ", mem("R8", walkAddresses+64*s.i+16*i), "AX")
			w.op("MOVQ", mem("R8", walkAddresses+64*s.i+16*i+8), "DX")
			w.op("VMOVQ", "(AX)", part)
			w.op("VPINSRQ", 1, "(DX)", part, part)
		}
		w.op("VINSERTI64X2", 1, parts[1], y(8+s.i), y(8+s.i))
		w.op("VINSERTI64X2", 1, parts[3], y(16+s.i), y(16+s.i))
		w.op("VINSERTI64X4", 1, y(16+s.i), s.value, s.value)
	}
	w.over("VPANDQ", func(s quarter) []any { return []any{walkSeven, s.pos, s.newPos} })
	w.over("VPSHUFB", func(s quarter) []any { return []any{walkReverse, s.value, s.value} })
	w.over("VPSLLVQ", func(s quarter) []any { return []any{s.newPos, s.value, s.value} })
}

// elements decodes two elements of each window into first and value, and the
// position after them into newPos.
func (w walker) elements() {
	w.note("First element: a quotient in unary, its closing zero, a remainder. With the zero as top bit, shifting leaves just the remainder.")
	w.over("VPXORQ", func(s quarter) []any { return []any{walkOnes, s.value, s.runs} })
	w.over("VPLZCNTQ", func(s quarter) []any { return []any{s.runs, s.runs} })
	w.over("VPSLLVQ", func(s quarter) []any { return []any{s.runs, s.value, s.value} })
	w.over("VPSRLQ", func(s quarter) []any { return []any{"$(64-const_minBits)", s.value, s.newPos} })
	w.over("VPADDQ", func(s quarter) []any { return []any{s.newPos, s.last, s.first} })
	w.over("VPSLLQ", func(s quarter) []any { return []any{"$const_P", s.runs, s.newPos} })
	w.over("VPADDQ", func(s quarter) []any { return []any{s.newPos, s.first, s.first} })
	w.over("VPSLLQ", func(s quarter) []any { return []any{"$const_minBits", s.value, s.value} })
	w.note("Second element, of what is left of the window.")
	w.over("VPXORQ", func(s quarter) []any { return []any{walkOnes, s.value, s.newPos} })
	w.over("VPLZCNTQ", func(s quarter) []any { return []any{s.newPos, s.newPos} })
	w.over("VPSLLVQ", func(s quarter) []any { return []any{s.newPos, s.value, s.value} })
	w.over("VPADDQ", func(s quarter) []any { return []any{s.newPos, s.runs, s.runs} })
	w.over("VPSRLQ", func(s quarter) []any { return []any{"$(64-const_minBits)", s.value, s.value} })
	w.over("VPADDQ", func(s quarter) []any { return []any{s.first, s.value, s.value} })
	w.over("VPSLLQ", func(s quarter) []any { return []any{"$const_P", s.newPos, s.newPos} })
	w.over("VPADDQ", func(s quarter) []any { return []any{s.newPos, s.value, s.value} })
	w.over("VPADDQ", func(s quarter) []any { return []any{s.runs, s.pos, s.newPos} })
	w.over("VPADDQ", func(s quarter) []any { return []any{walkMin, s.newPos, s.newPos} })
	w.over("VPADDQ", func(s quarter) []any { return []any{walkMin, s.newPos, s.newPos} })
}

// walking is the mask of the lanes of a set that walk.
func walking(s quarter) string { return fmt.Sprint("K", 1+s.i) }

// pair decodes the next two elements of each place. Those at their end stay there.
func (w walker) pair() {
	w.over("VPMINUQ", func(s quarter) []any { return []any{mem("R8", walkEnd+64*s.i), s.pos, s.pos} })
	w.windows()
	w.elements()
}

// advance makes the pair the last.
func (w walker) advance() {
	w.over("VMOVDQA64", func(s quarter) []any { return []any{s.newPos, s.pos} })
	w.over("VMOVDQA64", func(s quarter) []any { return []any{s.value, s.last} })
}

// overflow looks for pairs that were not in one window.
func (w walker) overflow(s quarter) {
	w.note("Lanes %d to %d: were both elements in one window?", 8*s.i, 8*s.i+7)
	w.op("VPCMPUQ", 6, walkShared, s.runs, walking(s), "K7")
	w.op("KORTESTB", "K7", "K7")
	w.op("JNZ", fmt.Sprint("single", s.i))
	w.label(fmt.Sprint("decoded", s.i), "Now newPos is the position after value.")
}

// reach compares the pair of a quarter with its numbers, and leaves out the lanes
// that are beyond.
func (w walker) reach(s quarter) {
	live, want, end := walking(s), mem("R8", walkWant+64*s.i), mem("R8", walkEnd+64*s.i)
	w.note("Is one of them the number, and the second not beyond the end?")
	w.op("VPCMPEQQ", want, s.first, live, "K5")
	w.op("VPCMPUQ", 2, end, s.newPos, live, "K6")
	w.op("VPCMPEQQ", want, s.value, "K6", "K6")
	w.op("KORTESTB", "K5", "K6")
	w.op("JNZ", fmt.Sprint("reached", s.i))
	w.label(fmt.Sprint("passed", s.i), "Which lanes go on?")
	w.op("VPCMPUQ", 1, want, s.value, live, live)
	w.op("VPCMPUQ", 1, end, s.newPos, live, live)
}

// reached notes the lanes that have found their number.
func (w walker) reached(s quarter) {
	w.label(fmt.Sprint("reached", s.i), "Some lane has found its number.")
	w.op("KORB", "K5", "K6", "K5")
	w.op("KMOVB", "K5", "AX")
	w.op("SHLL", 8*s.i, "AX")
	w.op("ORL", "AX", "R11")
	w.op("JMP", fmt.Sprint("passed", s.i))
}

// single takes the second element of a pair back, where it was not in the window,
// and notes the lanes whose first was not either.
func (w walker) single(s quarter) {
	live := walking(s)
	w.label(fmt.Sprint("single", s.i), "Some lane has only one element in its window: what is between it and the last one tells the quotient.")
	w.op("VPSUBQ", s.last, s.first, "Z24")
	w.op("VPSRLQ", "$const_P", "Z24", "Z24")
	w.op("VPCMPUQ", 6, walkMaxRun, "Z24", "K7", "K6")
	w.op("KANDNB", live, "K6", live)
	w.op("KMOVB", "K6", "AX")
	w.op("SHLL", 8*s.i, "AX")
	w.op("ORL", "AX", "R12")
	w.op("VPADDQ", s.pos, "Z24", "Z24")
	w.op("VPADDQ", walkMin, "Z24", "K7", s.newPos)
	w.op("VMOVDQA64", s.first, "K7", s.value)
	w.op("JMP", fmt.Sprint("decoded", s.i))
}
