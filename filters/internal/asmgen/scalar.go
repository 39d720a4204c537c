package main

import "fmt"

// scalarLanes is how many filters are decoded side by side without vectors: as
// many as there are registers for.
const scalarLanes = 4

// decodeFour decodes four filters into memory, by the instructions of BMI2 and
// LZCNT.
func decodeFour(a *file) {
	a.function("decodeFour(l *lanes4, pairs int) (turns int)", 0, 24,
		"decodeFour decodes pairs of elements of four lanes in turn, to where out ends, and returns how many turns "+
			"it has made: it ends early with a turn whose quotients fit no window, and leaves that lane as it was. "+
			"Each lane must have room for the pairs.")
	a.load("l", 0, "SI", "pairs", 8, "CX")
	a.note("CX counts the bytes of each lane up to zero.")
	a.op("SHLQ", 4, "CX")
	a.op("NEGQ", "CX")
	for i := range scalarLanes {
		a.op("MOVQ", fmt.Sprintf("(lanes4_pos+%d)(SI)", 8*i), lanePos(i))
		a.op("MOVQ", fmt.Sprintf("(lanes4_last+%d)(SI)", 8*i), laneLast(i))
	}

	a.label("pair", "For each pair of elements: a turn of each lane.")
	for i := range scalarLanes {
		turn(a, i)
	}
	a.op("ADDQ", 16, "CX")
	a.op("JNZ", "pair")
	a.op("XORQ", "AX", "AX")

	a.label("done", "AX is how many lanes have had a turn more than the others.")
	for i := range scalarLanes {
		a.op("MOVQ", lanePos(i), fmt.Sprintf("(lanes4_pos+%d)(SI)", 8*i))
		a.op("MOVQ", laneLast(i), fmt.Sprintf("(lanes4_last+%d)(SI)", 8*i))
	}
	a.note("Whole pairs of all lanes, and of the first ones a turn more.")
	a.op("SARQ", 2, "CX")
	a.op("MOVQ", "pairs+8(FP)", "DX")
	a.op("LEAQ", "(CX)(DX*4)", "CX")
	a.op("ADDQ", "AX", "CX")
	a.op("MOVQ", "CX", "turns+16(FP)")
	a.op("RET")

	for i := range scalarLanes {
		slowTurn(a, i)
	}
}

// lanePos and laneLast are the registers of a lane's state: the bit address of
// its next element, and its last element.
func lanePos(i int) string  { return fmt.Sprint("R", 8+i) }
func laneLast(i int) string { return fmt.Sprint("R", 12+i) }

// turn decodes a pair of elements of a lane. AX is the window, BX the first
// element, DX its quotient and later the sum of both, DI has what is of use.
func turn(a *file, i int) {
	pos, last := lanePos(i), laneLast(i)
	a.note("Lane %d: the first element.", i)
	scalarWindow(a, pos)
	a.op("SHLXQ", "DX", "AX", "AX")
	a.op("MOVQ", "AX", "BX")
	a.op("SHRQ", "$(64-const_minBits)", "BX")
	a.op("ADDQ", last, "BX")
	a.op("MOVQ", "DX", "DI")
	a.op("SHLQ", "$const_P", "DI")
	a.op("ADDQ", "DI", "BX")
	a.op("MOVQ", outEnd(i), "DI")
	a.op("MOVQ", "BX", "(DI)(CX*1)")
	a.note("Lane %d: the second one, if it lies within the window.", i)
	a.op("SHLQ", "$const_minBits", "AX")
	a.op("MOVQ", "AX", "DI")
	a.op("NOTQ", "DI")
	a.op("LZCNTQ", "DI", "DI")
	a.op("ADDQ", "DI", "DX")
	a.op("CMPQ", "DX", "$(57-2*const_minBits)")
	a.op("JHI", fmt.Sprint("slow", i))
	a.op("SHLXQ", "DI", "AX", "AX")
	a.op("LEAQ", fmt.Sprintf("(2*const_minBits)(%s)(DX*1)", pos), pos)
	a.label(fmt.Sprint(
		"second", i,
	), fmt.Sprintf("Lane %d: AX begins with the remainder of the second element, DI is its quotient.", i))
	a.op("SHRQ", "$(64-const_minBits)", "AX")
	a.op("SHLQ", "$const_P", "DI")
	a.op("ADDQ", "BX", "AX")
	a.op("LEAQ", "(AX)(DI*1)", last)
	a.op("MOVQ", outEnd(i), "DI")
	a.op("MOVQ", last, "8(DI)(CX*1)")
}

// outEnd is where a lane's elements end.
func outEnd(i int) string { return fmt.Sprintf("(lanes4_out+%d)(SI)", 8*i) }

// scalarWindow loads the window at pos into AX, and its quotient into DX.
func scalarWindow(a *file, pos string) {
	a.op("MOVQ", pos, "AX")
	a.op("SHRQ", 3, "AX")
	a.op("MOVQ", "(AX)", "AX")
	a.op("MOVL", pos, "DX")
	a.op("ANDL", 7, "DX")
	a.op("BSWAPQ", "AX")
	a.op("SHLXQ", "DX", "AX", "AX")
	a.op("MOVQ", "AX", "DX")
	a.op("NOTQ", "DX")
	a.op("LZCNTQ", "DX", "DX")
}

// slowTurn decodes the second element of a pair in a window of its own.
func slowTurn(a *file, i int) {
	pos := lanePos(i)
	a.label(fmt.Sprint("slow", i), fmt.Sprintf(
		"Lane %d: the second element in a window of its own. The first is right unless its quotient is too long.", i,
	))
	a.op("SUBQ", "DI", "DX")
	a.op("CMPQ", "DX", "$const_maxRun")
	a.op("JHI", fmt.Sprint("long", i))
	a.op("LEAQ", fmt.Sprintf("const_minBits(%s)(DX*1)", pos), "DI")
	scalarWindow(a, "DI")
	a.op("CMPQ", "DX", "$const_maxRun")
	a.op("JHI", fmt.Sprint("long", i))
	a.op("LEAQ", "const_minBits(DI)(DX*1)", pos)
	a.op("SHLXQ", "DX", "AX", "AX")
	a.op("MOVQ", "DX", "DI")
	a.op("JMP", fmt.Sprint("second", i))
	a.label(fmt.Sprint("long", i), fmt.Sprintf("Lane %d: a quotient fits no window.", i))
	a.op("MOVQ", i, "AX")
	a.op("JMP", "done")
}
