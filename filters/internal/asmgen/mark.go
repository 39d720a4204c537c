package main

import "fmt"

// markGroup is how many values are marked at a time.
const markGroup = 8

// Registers of marking: where the next value is, its index in the upper half, the last cell and its number, and where
// the cells are.
const (
	rValue = "CX"
	rIndex = "R8"
	rCell  = "R13"
	rAt    = "BX"
	rCells = "R14"
	rNext  = "R10" // 1<<32
	rOne   = "BP"  // 1
)

// markValues makes the bitmap of ascending values.
func markValues(a *file) {
	a.function("markValues(e *elements)", 8, 8,
		"markValues marks whole groups of 8 values, as many as are left.")
	a.load("e", 0, "AX")
	loadMarks(a, "AX", "0(SP)")
	a.op("JMP", "groups")
	a.label("group", "For each group.")
	markSteps(a)
	a.label("groups", "As long as there are groups.")
	a.op("CMPQ", rValue, "0(SP)")
	a.op("JB", "group")
	a.load("e", 0, "AX")
	saveMarks(a, "AX")
	a.op("RET")
}

// loadMarks loads the state of marking the elements at a register, and stores at
// end where the last whole group ends. It overwrites DX.
func loadMarks(a *file, elements, end string) {
	a.op("MOVQ", "elements_values("+elements+")", rValue)
	a.op("MOVQ", "(elements_values+8)("+elements+")", "DX")
	a.op("ANDQ", fmt.Sprintf("$~%d", markGroup-1), "DX")
	a.op("LEAQ", "("+rValue+")(DX*8)", "DX")
	a.op("MOVQ", "DX", end)
	a.op("MOVQ", "elements_done("+elements+")", rIndex)
	a.op("LEAQ", "("+rValue+")("+rIndex+"*8)", rValue)
	a.op("SHLQ", 32, rIndex)
	a.op("MOVQ", "elements_cell("+elements+")", rCell)
	a.op("MOVQ", "elements_at("+elements+")", rAt)
	a.op("MOVQ", "elements_cells("+elements+")", rCells)
	a.op("MOVL", "$1", rOne)
}

// saveMarks stores the state.
func saveMarks(a *file, elements string) {
	a.op("SUBQ", "elements_values("+elements+")", rValue)
	a.op("SHRQ", 3, rValue)
	a.op("MOVQ", rValue, "elements_done("+elements+")")
	a.op("MOVQ", rCell, "elements_cell("+elements+")")
	a.op("MOVQ", rAt, "elements_at("+elements+")")
}

// markSteps marks a group of values. Their cell is built up in a register, and
// begun anew where the number of the cell is another one. It overwrites AX, DX and R10.
func markSteps(a *file) {
	a.op("MOVQ", "$(1<<32)", rNext)
	this, last := "DX", rAt
	for i := range markGroup {
		a.op("MOVQ", mem(rValue, 8*i), this)
		a.op("RORXQ", "$const_slotShift", this, "AX")
		a.op("SHRQ", "$const_cellShift", this)
		a.op("SHLXL", "AX", rOne, "AX")
		a.op("CMPQ", this, last)
		a.op("CMOVQNE", rIndex, rCell)
		a.op("ORQ", "AX", rCell)
		a.op("MOVQ", rCell, "("+rCells+")("+this+"*8)")
		a.op("ADDQ", rNext, rIndex)
		this, last = last, this
	}
	a.op("ADDQ", 8*markGroup, rValue)
}
