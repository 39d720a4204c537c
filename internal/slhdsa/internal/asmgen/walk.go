package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// walk writes the function that hashes nodes again and again.
func (v *vectors) walk() {
	v.Function(fmt.Sprint("walk", v.width)+"(nodes *node, l *lanes16, start *[8]uint32, steps int)", 0, 32,
		"walk hashes 16 nodes so many times, each with the address of its lane, whose step goes up by one each time. "+
			"A lane takes part in the steps between its from and its to.")
	v.Load("nodes", 0, "DI", "l", 8, "BX", "start", 16, "DX")
	if v.wide() {
		v.lowWords()
	}
	v.halves(func() {
		v.Op("LEAQ", "lanes16_schedule(BX)", "R8")
		v.Op("MOVQ", "steps+24(FP)", "CX")
		v.Note("Nodes to words.")
		for i := range 4 {
			v.move(asm.Mem("DI", 64*i), v.r(i))
			v.swapBytes(v.r(i), v.r(i))
		}
		v.unpack(v.r, v.free, func(i int) string { return v.r(4 + i) })
		for i := range 4 {
			v.move(v.free(i), lane("words", row*i))
		}
		v.Label("step", "For each step: the words of the message.")
		for i := range 4 {
			v.move(lane("words", row*i), v.r(i))
		}
		v.pack(4)
		v.opened()
		v.compress(oneNode)
		v.finish()
		v.keep()
		v.Note("The next step.")
		for _, next := range []struct {
			line   string
			number int
		}{{"tag", numberStep}, {"at", numberOne}} {
			v.move(lane(next.line, 0), v.free(0))
			v.addNumber(next.number, v.free(0))
			v.move(v.free(0), lane(next.line, 0))
		}
		v.Op("DECQ", "CX")
		v.Op("JNZ", "step")
		v.Note("Words to nodes.")
		for i := range 4 {
			v.move(lane("words", row*i), v.r(i))
		}
		v.unpack(v.r, v.free, func(i int) string { return v.r(4 + i) })
		for i := range 4 {
			v.swapBytes(v.free(i), v.free(i))
			v.move(v.free(i), asm.Mem("DI", 64*i))
		}
	})
	v.end()
}

// lane is a line of the lanes that BX points to.
func lane(field string, offset int) string { return fmt.Sprintf("(lanes16_%s+%d)(BX)", field, offset) }

// keep puts the new words of those lanes into memory that take part in a step.
func (v *vectors) keep() {
	v.Note("Lanes that take part get their new words.")
	v.move(lane("at", 0), v.free(0))
	if v.wide() {
		v.Op("VPCMPUD", 5, lane("from", 0), v.free(0), "K2")
		v.Op("VPCMPUD", 1, lane("to", 0), v.free(0), "K2", "K3")
		for i := range 4 {
			v.move(lane("words", row*i), v.free(1+i))
			v.Op("VMOVDQA32", v.r(i), "K3", v.free(1+i))
			v.move(v.free(1+i), lane("words", row*i))
		}
		return
	}
	v.move(lane("from", 0), v.free(1))
	v.move(lane("to", 0), v.free(2))
	v.Op("VPCMPGTD", v.free(0), v.free(1), v.free(1))
	v.Op("VPCMPGTD", v.free(0), v.free(2), v.free(2))
	v.Op("VPANDN", v.free(2), v.free(1), v.free(1))
	for i := range 4 {
		v.move(lane("words", row*i), v.free(2))
		v.Op("VPBLENDVB", v.free(1), v.r(i), v.free(2), v.free(2))
		v.move(v.free(2), lane("words", row*i))
	}
}
