package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// lanes is how many filters are decoded side by side.
const lanes = 32

// reverse8 is the byte shuffle that reverses each number's bytes.
var reverse8 = [8]uint64{
	0x0001020304050607, 0x08090a0b0c0d0e0f, 0x0001020304050607, 0x08090a0b0c0d0e0f,
	0x0001020304050607, 0x08090a0b0c0d0e0f, 0x0001020304050607, 0x08090a0b0c0d0e0f,
}

// decoderConstants are what a decoder reads from memory.
func decoderConstants(a *file) {
	a.Constant("reverse8<>", reverse8[:])
	a.WriteString("\nDATA fourMin<>+0(SB)/8, $(4*const_minBits)\nGLOBL fourMin<>(SB), RODATA|NOPTR, $8\n")
	a.WriteString("\nDATA maxRun<>+0(SB)/8, $const_maxRun\nGLOBL maxRun<>(SB), RODATA|NOPTR, $8\n")
}

// field is the part of a field of the struct lanes32 for the 8 lanes of set i.
// A field is an array of one number for each lane. The offsets are from
// go_asm.h, which the compiler writes.
func field(name string, i int) string {
	return fmt.Sprintf("(lanes32_%s+%d)(SI)", name, 64*i)
}

// set names the registers of 8 lanes.
type set struct {
	i         int
	pos, last string // state
	value     string // the window, and in the end the last of the four elements
	first     string // elements before
	newPos    string
	runs      string // sum of the quotients
}

// sets are all lanes.
func sets() []set {
	all := make([]set, lanes/8)
	for i := range all {
		all[i] = set{
			i: i, pos: asm.Z(i), last: asm.Z(4 + i), value: asm.Z(8 + i), runs: asm.Z(12 + i),
			newPos: asm.Z(16 + i), first: asm.Z(20 + i),
		}
	}
	return all
}

// Registers of constants, and of values that are needed for an instruction or two.
const (
	zReverse   = "Z24" // reverse8
	zSeven     = "Z25"
	zShared    = "Z26" // the most that two quotients in the first window add up to
	zRest      = "Z27" // what four do, in both windows
	zMin       = "Z28" // the bits of an element but its quotient
	zRemainder = "Z29" // mask of a remainder
	zTemp      = "Z30"
	zScratch   = "Z31"
)

// decoder writes the parts that all decoding loops have in common. SI is the
// struct of lanes, R8 aligned scratch memory of 256 bytes. CX counts the steps
// of four elements left to do, R13 the steps before the room must be looked at
// again. AX, DX, R9 and R10 are overwritten.
type decoder struct {
	*file
	sets []set
	rows string // register of where the first three elements of all lanes go
}

// over writes an instruction for each set of lanes in turn.
func (d decoder) over(name string, operands func(s set) []any) {
	for _, s := range d.sets {
		d.Op(name, operands(s)...)
	}
}

// start loads constants and state.
func (d decoder) start() {
	d.constants()
	d.Note("State of the lanes.")
	d.over("VMOVDQU64", func(s set) []any { return []any{field("pos", s.i), s.pos} })
	d.over("VMOVDQU64", func(s set) []any { return []any{field("last", s.i), s.last} })
}

func (d decoder) constants() {
	d.Note("Constants.")
	d.Op("VMOVDQU64", "reverse8<>(SB)", zReverse)
	for _, c := range []struct{ value, register string }{
		{"$7", zSeven},
		{"$(57-2*const_minBits)", zShared},
		{"$(64-2*const_minBits)", zRest},
		{"$const_minBits", zMin},
		{"$((1<<const_P)-1)", zRemainder},
	} {
		d.Op("MOVQ", c.value, "R9")
		d.Op("VPBROADCASTQ", "R9", c.register)
	}
}

// save stores the state.
func (d decoder) save() {
	d.over("VMOVDQU64", func(s set) []any { return []any{s.pos, field("pos", s.i)} })
	d.over("VMOVDQU64", func(s set) []any { return []any{s.last, field("last", s.i)} })
}

// room sets R13 to how many times all lanes surely have 2^shift bits left, at most
// CX. For four elements 2^8 bits are enough: they take four windows of 57 bits at
// most.
func (d decoder) room(shift int) {
	d.Note("Room: the least distance of any lane to its end, in steps of %d bits: no step reads beyond, whatever the "+
		"bits are.", 1<<shift)
	d.over("VMOVDQU64", func(s set) []any { return []any{field("end", s.i), s.value} })
	d.over("VPSUBQ", func(s set) []any { return []any{s.pos, s.value, s.value} })
	d.Op("VPMINUQ", "Z8", "Z9", "Z8")
	d.Op("VPMINUQ", "Z10", "Z11", "Z10")
	d.Op("VPMINUQ", "Z8", "Z10", "Z8")
	d.Op("VEXTRACTI64X4", 1, "Z8", "Y9")
	d.Op("VPMINUQ", "Z8", "Z9", "Z8")
	d.Op("VEXTRACTI64X2", 1, "Z8", "X9")
	d.Op("VPMINUQ", "Z8", "Z9", "Z8")
	d.Op("VPSHUFD", "$0x4e", "X8", "X9")
	d.Op("VPMINUQ", "Z8", "Z9", "Z8")
	d.Op("VMOVQ", "X8", "R13")
	d.Op("SHRQ", shift, "R13")
	d.Op("CMPQ", "R13", "CX")
	d.Op("CMOVQGT", "CX", "R13")
}

// row is the memory of the elements of a set: those of all lanes lie side by side.
func (d decoder) row(i int, s set) string { return asm.Mem(d.rows, 8*lanes*i+64*s.i) }

// four decodes four elements of each lane, the first three into rows, the last one
// into value, and the position after them into newPos; pos and last stay. It jumps
// to long if a quotient does not fit a window. Its labels begin with slow.
//
// From one position to the next is a long way of instructions that wait for each
// other, so two windows of 8 bytes are loaded at once. They are kept inverted: then
// a quotient is the number of leading zeros. And they are rotated, which brings a
// remainder to the end, and the next element to the front.
func (d decoder) four() {
	d.firstWindows()
	d.Note("First element: its quotient, the remainder, the sum.")
	d.over("VPLZCNTQ", func(s set) []any { return []any{s.value, s.runs} })
	d.rotate(func(s set) string { return s.runs })
	d.over("VPSLLQ", func(s set) []any { return []any{"$const_P", s.runs, s.newPos} })
	d.over("VPTERNLOGQ", withRemainder)
	d.over("VPADDQ", func(s set) []any { return []any{s.newPos, s.last, s.first} })
	d.over("VMOVDQA64", func(s set) []any { return []any{s.first, d.row(0, s)} })
	d.Note("Second element.")
	d.next()
	d.over("VMOVDQA64", func(s set) []any { return []any{s.first, d.row(1, s)} })
	d.Note("K5: does the second element of any lane not lie within the window?")
	d.beyond(zShared, "K5")
	d.secondWindows()
	d.Note("Third element.")
	d.next()
	d.over("VMOVDQA64", func(s set) []any { return []any{s.first, d.row(2, s)} })
	d.Note("Fourth element.")
	d.next()
	d.over("VMOVDQA64", func(s set) []any { return []any{s.first, s.value} })
	d.over("VPADDQ", func(s set) []any { return []any{s.runs, s.pos, s.newPos} })
	d.over("VPADDQ.BCST", func(s set) []any { return []any{"fourMin<>(SB)", s.newPos, s.newPos} })
	d.Note("Did any element not lie within the windows?")
	d.beyond(zRest, "K6")
	d.Op("KORTESTB", "K5", "K6")
	d.Op("JNZ", "slow")
	d.Label("decoded", "Now the elements and the position after them are known.")
}

// withRemainder are the operands that put the remainder, at the end of the window,
// beside the quotient in newPos: newPos | ^value & zRemainder.
func withRemainder(s set) []any { return []any{"$0xf4", s.value, zRemainder, s.newPos} }

// next decodes the element at the front of the window, adds it to first and its
// quotient to runs.
func (d decoder) next() {
	d.over("VPLZCNTQ", func(s set) []any { return []any{s.value, s.newPos} })
	d.rotate(func(s set) string { return s.newPos })
	d.over("VPADDQ", func(s set) []any { return []any{s.newPos, s.runs, s.runs} })
	d.over("VPSLLQ", func(s set) []any { return []any{"$const_P", s.newPos, s.newPos} })
	d.over("VPTERNLOGQ", withRemainder)
	d.over("VPADDQ", func(s set) []any { return []any{s.newPos, s.first, s.first} })
}

// rotate brings an element of a quotient to the end of the window.
func (d decoder) rotate(quotient func(s set) string) {
	for _, s := range d.sets {
		d.Op("VPADDQ", zMin, quotient(s), zScratch)
		d.Op("VPROLVQ", zScratch, s.value, s.value)
	}
}

// beyond sets the bits of those lanes of a set whose quotients, or those of the
// same lane of another set, add up to more than a limit.
func (d decoder) beyond(limit, mask string) {
	d.Op("VPMAXUQ", "Z12", "Z13", zTemp)
	d.Op("VPMAXUQ", "Z14", "Z15", zScratch)
	d.Op("VPMAXUQ", zTemp, zScratch, zTemp)
	d.Op("VPCMPUQ", 6, limit, zTemp, mask)
}

// slow decodes four elements with a window for each, which one step in 200 needs.
func (d decoder) slow() {
	d.Label("slow", "Decode the elements again with a window for each. R10 is not zero when a quotient fits none.")
	d.Op("XORQ", "R10", "R10")
	d.Op("XORQ", "R9", "R9")
	for _, s := range d.sets {
		pos, last := s.pos, s.last
		for i, value := range []string{s.first, s.value, s.first, s.value} {
			d.Note("Lanes %d to %d: element %d.", 8*s.i, 8*s.i+7, i+1)
			d.slowElement(s, pos, last, value)
			if i < 3 {
				d.Op("VMOVDQA64", value, d.row(i, s))
			}
			pos, last = s.newPos, value
		}
	}
	d.Op("TESTQ", "R10", "R10")
	d.Op("JZ", "decoded")
}

// slowElement decodes the element at pos into value, and sets newPos.
func (d decoder) slowElement(s set, pos, last, value string) {
	d.Op("VPSRLQ", 3, pos, s.runs)
	d.Op("KXNORB", "K1", "K1", "K1")
	d.Op("VPXORQ", zScratch, zScratch, zScratch)
	d.Op("VPGATHERQQ", "(R9)("+s.runs+"*1)", "K1", zScratch)
	d.Op("VPANDQ", zSeven, pos, s.runs)
	d.Op("VPSHUFB", zReverse, zScratch, zScratch)
	d.Op("VPSLLVQ", s.runs, zScratch, zScratch)
	d.Op("VPTERNLOGQ", "$0x55", zScratch, zScratch, s.runs)
	d.Op("VPLZCNTQ", s.runs, s.runs)
	d.Op("VPCMPUQ.BCST", 6, "maxRun<>(SB)", s.runs, "K5")
	d.Op("KMOVB", "K5", "AX")
	d.Op("ORQ", "AX", "R10")
	d.Op("VPADDQ", s.runs, pos, s.newPos)
	d.Op("VPADDQ", zMin, s.newPos, s.newPos)
	d.Op("VPSLLVQ", s.runs, zScratch, zScratch)
	d.Op("VPSRLQ", "$(64-const_minBits)", zScratch, zScratch)
	d.Op("VPSLLQ", "$const_P", s.runs, s.runs)
	d.Op("VPADDQ", zScratch, last, value)
	d.Op("VPADDQ", s.runs, value, value)
}

// advance makes the fourth element the last.
func (d decoder) advance() {
	d.over("VMOVDQA64", func(s set) []any { return []any{s.newPos, s.pos} })
	d.over("VMOVDQA64", func(s set) []any { return []any{s.value, s.last} })
}
