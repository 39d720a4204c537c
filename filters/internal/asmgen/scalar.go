package main

import "fmt"

// scalarLanes is how many filters are decoded side by side without vectors: as
// many as there are registers for.
const scalarLanes = 4

// decodeFour decodes four filters into memory, by the instructions of BMI2 and
// LZCNT.
func decodeFour(a *file) {
	a.Function("decodeFour(l *lanes4, pairs int) (turns int)", 0, 24,
		"decodeFour decodes pairs of elements of four lanes in turn, to where out ends, and returns how many turns "+
			"it has made: it ends early with a turn whose quotients fit no window, and leaves that lane as it was. "+
			"Each lane must have room for the pairs.")
	a.Load("l", 0, "SI", "pairs", 8, "CX")
	a.Note("CX counts the bytes of each lane up to zero.")
	a.Op("SHLQ", 4, "CX")
	a.Op("NEGQ", "CX")
	for i := range scalarLanes {
		a.Op("MOVQ", fmt.Sprintf("(lanes4_pos+%d)(SI)", 8*i), lanePos(i))
		a.Op("MOVQ", fmt.Sprintf("(lanes4_last+%d)(SI)", 8*i), laneLast(i))
	}

	a.Label("pair", "For each pair of elements: a turn of each lane.")
	for i := range scalarLanes {
		turn(a, i)
	}
	a.Op("ADDQ", 16, "CX")
	a.Op("JNZ", "pair")
	a.Op("XORQ", "AX", "AX")

	a.Label("done", "AX is how many lanes have had a turn more than the others.")
	for i := range scalarLanes {
		a.Op("MOVQ", lanePos(i), fmt.Sprintf("(lanes4_pos+%d)(SI)", 8*i))
		a.Op("MOVQ", laneLast(i), fmt.Sprintf("(lanes4_last+%d)(SI)", 8*i))
	}
	a.Note("Whole pairs of all lanes, and of the first ones a turn more.")
	a.Op("SARQ", 2, "CX")
	a.Op("MOVQ", "pairs+8(FP)", "DX")
	a.Op("LEAQ", "(CX)(DX*4)", "CX")
	a.Op("ADDQ", "AX", "CX")
	a.Op("MOVQ", "CX", "turns+16(FP)")
	a.Op("RET")

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
	a.Note("Lane %d: the first element.", i)
	scalarWindow(a, pos)
	a.Op("SHLXQ", "DX", "AX", "AX")
	a.Op("MOVQ", "AX", "BX")
	a.Op("SHRQ", "$(64-const_minBits)", "BX")
	a.Op("ADDQ", last, "BX")
	a.Op("MOVQ", "DX", "DI")
	a.Op("SHLQ", "$const_P", "DI")
	a.Op("ADDQ", "DI", "BX")
	a.Op("MOVQ", outEnd(i), "DI")
	a.Op("MOVQ", "BX", "(DI)(CX*1)")
	a.Note("Lane %d: the second one, if it lies within the window.", i)
	a.Op("SHLQ", "$const_minBits", "AX")
	a.Op("MOVQ", "AX", "DI")
	a.Op("NOTQ", "DI")
	a.Op("LZCNTQ", "DI", "DI")
	a.Op("ADDQ", "DI", "DX")
	a.Op("CMPQ", "DX", "$(57-2*const_minBits)")
	a.Op("JHI", fmt.Sprint("slow", i))
	a.Op("SHLXQ", "DI", "AX", "AX")
	a.Op("LEAQ", fmt.Sprintf("(2*const_minBits)(%s)(DX*1)", pos), pos)
	a.Label(fmt.Sprint(
		"second", i,
	), fmt.Sprintf("Lane %d: AX begins with the remainder of the second element, DI is its quotient.", i))
	a.Op("SHRQ", "$(64-const_minBits)", "AX")
	a.Op("SHLQ", "$const_P", "DI")
	a.Op("ADDQ", "BX", "AX")
	a.Op("LEAQ", "(AX)(DI*1)", last)
	a.Op("MOVQ", outEnd(i), "DI")
	a.Op("MOVQ", last, "8(DI)(CX*1)")
}

// outEnd is where a lane's elements end.
func outEnd(i int) string { return fmt.Sprintf("(lanes4_out+%d)(SI)", 8*i) }

// scalarWindow loads the window at pos into AX, and its quotient into DX.
func scalarWindow(a *file, pos string) {
	a.Op("MOVQ", pos, "AX")
	a.Op("SHRQ", 3, "AX")
	a.Op("MOVQ", "(AX)", "AX")
	a.Op("MOVL", pos, "DX")
	a.Op("ANDL", 7, "DX")
	a.Op("BSWAPQ", "AX")
	a.Op("SHLXQ", "DX", "AX", "AX")
	a.Op("MOVQ", "AX", "DX")
	a.Op("NOTQ", "DX")
	a.Op("LZCNTQ", "DX", "DX")
}

// slowTurn decodes the second element of a pair in a window of its own.
func slowTurn(a *file, i int) {
	pos := lanePos(i)
	a.Label(fmt.Sprint("slow", i), fmt.Sprintf(
		"Lane %d: the second element in a window of its own. The first is right unless its quotient is too long.", i,
	))
	a.Op("SUBQ", "DI", "DX")
	a.Op("CMPQ", "DX", "$const_maxRun")
	a.Op("JHI", fmt.Sprint("long", i))
	a.Op("LEAQ", fmt.Sprintf("const_minBits(%s)(DX*1)", pos), "DI")
	scalarWindow(a, "DI")
	a.Op("CMPQ", "DX", "$const_maxRun")
	a.Op("JHI", fmt.Sprint("long", i))
	a.Op("LEAQ", "const_minBits(DI)(DX*1)", pos)
	a.Op("SHLXQ", "DX", "AX", "AX")
	a.Op("MOVQ", "DX", "DI")
	a.Op("JMP", fmt.Sprint("second", i))
	a.Label(fmt.Sprint("long", i), fmt.Sprintf("Lane %d: a quotient fits no window.", i))
	a.Op("MOVQ", i, "AX")
	a.Op("JMP", "done")
}
