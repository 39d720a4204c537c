package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

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
	a.Function("markValues(e *elements)", 8, 8,
		"markValues marks whole groups of 8 values, as many as are left.")
	a.Load("e", 0, "AX")
	loadMarks(a, "AX", "0(SP)")
	a.Op("JMP", "groups")
	a.Label("group", "For each group.")
	markSteps(a)
	a.Label("groups", "As long as there are groups.")
	a.Op("CMPQ", rValue, "0(SP)")
	a.Op("JB", "group")
	a.Load("e", 0, "AX")
	saveMarks(a, "AX")
	a.Op("RET")
}

// loadMarks loads the state of marking the elements at a register, and stores at
// end where the last whole group ends. It overwrites DX.
func loadMarks(a *file, elements, end string) {
	a.Op("MOVQ", "elements_values("+elements+")", rValue)
	a.Op("MOVQ", "(elements_values+8)("+elements+")", "DX")
	a.Op("ANDQ", fmt.Sprintf("$~%d", markGroup-1), "DX")
	a.Op("LEAQ", "("+rValue+")(DX*8)", "DX")
	a.Op("MOVQ", "DX", end)
	a.Op("MOVQ", "elements_done("+elements+")", rIndex)
	a.Op("LEAQ", "("+rValue+")("+rIndex+"*8)", rValue)
	a.Op("SHLQ", 32, rIndex)
	a.Op("MOVQ", "elements_cell("+elements+")", rCell)
	a.Op("MOVQ", "elements_at("+elements+")", rAt)
	a.Op("MOVQ", "elements_cells("+elements+")", rCells)
	a.Op("MOVL", "$1", rOne)
}

// saveMarks stores the state.
func saveMarks(a *file, elements string) {
	a.Op("SUBQ", "elements_values("+elements+")", rValue)
	a.Op("SHRQ", 3, rValue)
	a.Op("MOVQ", rValue, "elements_done("+elements+")")
	a.Op("MOVQ", rCell, "elements_cell("+elements+")")
	a.Op("MOVQ", rAt, "elements_at("+elements+")")
}

// markSteps marks a group of values. Their cell is built up in a register, which begins
// a new cell when the number of the cell changes. It overwrites AX, DX and R10.
func markSteps(a *file) {
	a.Op("MOVQ", "$(1<<32)", rNext)
	this, last := "DX", rAt
	for i := range markGroup {
		a.Op("MOVQ", asm.Mem(rValue, 8*i), this)
		a.Op("RORXQ", "$const_slotShift", this, "AX")
		a.Op("SHRQ", "$const_cellShift", this)
		a.Op("SHLXL", "AX", rOne, "AX")
		a.Op("CMPQ", this, last)
		a.Op("CMOVQNE", rIndex, rCell)
		a.Op("ORQ", "AX", rCell)
		a.Op("MOVQ", rCell, "("+rCells+")("+this+"*8)")
		a.Op("ADDQ", rNext, rIndex)
		this, last = last, this
	}
	a.Op("ADDQ", 8*markGroup, rValue)
}
