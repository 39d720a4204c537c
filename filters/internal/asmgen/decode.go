package main

import "fmt"

// lanes is how many filters are decoded side by side.
const lanes = 32

// reverse8 is the byte shuffle that reverses each number's bytes.
var reverse8 = [8]uint64{
	0x0001020304050607, 0x08090a0b0c0d0e0f, 0x0001020304050607, 0x08090a0b0c0d0e0f,
	0x0001020304050607, 0x08090a0b0c0d0e0f, 0x0001020304050607, 0x08090a0b0c0d0e0f,
}

// field is a field of the struct lanes32, an array of one number for each lane:
// the 8 lanes of set i of it. The offsets are from go_asm.h, which the compiler
// writes.
func field(name string, i int) string {
	return fmt.Sprintf("(lanes32_%s+%d)(SI)", name, 64*i)
}

// set names the registers of 8 lanes.
type set struct {
	i            int
	pos, last    string // state
	first, value string // the two elements that were decoded
	newPos       string
	runs         string // quotients, sum of both in the end
}

// sets are all lanes.
func sets() []set {
	all := make([]set, lanes/8)
	for i := range all {
		all[i] = set{i: i, pos: z(i), last: z(4 + i), value: z(8 + i), runs: z(12 + i), newPos: z(16 + i), first: z(20 + i)}
	}
	return all
}

// Registers of constants.
const (
	zReverse = "Z24" // reverse8
	zSeven   = "Z25"
	zShared  = "Z26" // the most that two quotients in one window add up to
	zTwoMin  = "Z27" // the bits of two elements but their quotients
	zOnes    = "Z28"
	zMin     = "Z29" // the bits of an element but its quotient
	zMaxRun  = "Z30" // the longest quotient that fits a window
	zScratch = "Z31"
)

// decoder writes the parts that all decoding loops have in common. SI is the
// struct of lanes, R8 aligned scratch memory of 256 bytes; the pairs left to do
// are in CX, those to do before the room must be looked at again in R13. AX, DX,
// R9 and R10 are overwritten.
type decoder struct {
	*file
	sets []set
}

// over writes an instruction for each set of lanes in turn.
func (d decoder) over(name string, operands func(s set) []any) {
	for _, s := range d.sets {
		d.op(name, operands(s)...)
	}
}

// start loads constants and state.
func (d decoder) start() {
	d.note("Constants.")
	d.op("VMOVDQU64", "reverse8<>(SB)", zReverse)
	for _, c := range []struct{ value, register string }{
		{"$7", zSeven},
		{"$(57-2*const_minBits)", zShared},
		{"$(2*const_minBits)", zTwoMin},
		{"$const_minBits", zMin},
		{"$const_maxRun", zMaxRun},
	} {
		d.op("MOVQ", c.value, "R9")
		d.op("VPBROADCASTQ", "R9", c.register)
	}
	d.op("VPTERNLOGQ", "$0xff", zOnes, zOnes, zOnes)
	d.note("State of the lanes.")
	d.over("VMOVDQU64", func(s set) []any { return []any{field("pos", s.i), s.pos} })
	d.over("VMOVDQU64", func(s set) []any { return []any{field("last", s.i), s.last} })
}

// save stores the state.
func (d decoder) save() {
	d.over("VMOVDQU64", func(s set) []any { return []any{s.pos, field("pos", s.i)} })
	d.over("VMOVDQU64", func(s set) []any { return []any{s.last, field("last", s.i)} })
}

// room sets R13 to how many times all lanes surely have 2^shift bits left, at
// most CX. 2^7 are enough for a pair of elements, which takes two windows of 57
// bits at most.
func (d decoder) room(shift int) {
	d.note("Room: the least distance of any lane to its end, in steps of %d bits: no step reads beyond, whatever the bits are.", 1<<shift)
	d.over("VMOVDQU64", func(s set) []any { return []any{field("end", s.i), s.value} })
	d.over("VPSUBQ", func(s set) []any { return []any{s.pos, s.value, s.value} })
	d.op("VPMINUQ", "Z8", "Z9", "Z8")
	d.op("VPMINUQ", "Z10", "Z11", "Z10")
	d.op("VPMINUQ", "Z8", "Z10", "Z8")
	d.op("VEXTRACTI64X4", 1, "Z8", "Y9")
	d.op("VPMINUQ", "Z8", "Z9", "Z8")
	d.op("VEXTRACTI64X2", 1, "Z8", "X9")
	d.op("VPMINUQ", "Z8", "Z9", "Z8")
	d.op("VPSHUFD", "$0x4e", "X8", "X9")
	d.op("VPMINUQ", "Z8", "Z9", "Z8")
	d.op("VMOVQ", "X8", "R13")
	d.op("SHRQ", shift, "R13")
	d.op("CMPQ", "R13", "CX")
	d.op("CMOVQGT", "CX", "R13")
}

// pair decodes two elements of each lane into first and value, and the position
// after them into newPos; pos and last stay. It jumps to long if a quotient does
// not fit a window. Its labels begin with slow.
func (d decoder) pair() {
	d.windows()
	d.note("First element: a quotient in unary, its closing zero, a remainder. With the zero as top bit, shifting leaves just the remainder.")
	d.over("VPXORQ", func(s set) []any { return []any{zOnes, s.value, s.runs} })
	d.over("VPLZCNTQ", func(s set) []any { return []any{s.runs, s.runs} })
	d.over("VPSLLVQ", func(s set) []any { return []any{s.runs, s.value, s.value} })
	d.over("VPSRLQ", func(s set) []any { return []any{"$(64-const_minBits)", s.value, s.newPos} })
	d.over("VPADDQ", func(s set) []any { return []any{s.newPos, s.last, s.first} })
	d.over("VPSLLQ", func(s set) []any { return []any{"$const_P", s.runs, s.newPos} })
	d.over("VPADDQ", func(s set) []any { return []any{s.newPos, s.first, s.first} })
	d.over("VPSLLQ", func(s set) []any { return []any{"$const_minBits", s.value, s.value} })
	d.note("Second element, of what is left of the window.")
	d.over("VPXORQ", func(s set) []any { return []any{zOnes, s.value, s.newPos} })
	d.over("VPLZCNTQ", func(s set) []any { return []any{s.newPos, s.newPos} })
	d.over("VPSLLVQ", func(s set) []any { return []any{s.newPos, s.value, s.value} })
	d.over("VPADDQ", func(s set) []any { return []any{s.newPos, s.runs, s.runs} })
	d.over("VPSRLQ", func(s set) []any { return []any{"$(64-const_minBits)", s.value, s.value} })
	d.over("VPADDQ", func(s set) []any { return []any{s.first, s.value, s.value} })
	d.over("VPSLLQ", func(s set) []any { return []any{"$const_P", s.newPos, s.newPos} })
	d.over("VPADDQ", func(s set) []any { return []any{s.newPos, s.value, s.value} })
	d.over("VPADDQ", func(s set) []any { return []any{s.runs, s.pos, s.newPos} })
	d.over("VPADDQ", func(s set) []any { return []any{zTwoMin, s.newPos, s.newPos} })
	d.note("Did the second element of every lane lie within the window?")
	d.op("VPMAXUQ", "Z12", "Z13", "Z12")
	d.op("VPMAXUQ", "Z14", "Z15", "Z14")
	d.op("VPMAXUQ", "Z12", "Z14", "Z12")
	d.op("VPCMPUQ", 6, zShared, "Z12", "K5")
	d.op("KORTESTB", "K5", "K5")
	d.op("JNZ", "slow")
	d.label("decoded", "Now first and second element and the position after them are known.")
}

// windows loads the 8 bytes at the position of each lane, with its first bit as
// the highest: 57 bits or more. Loads one by one are faster than a gather.
func (d decoder) windows() {
	d.note("Windows: load 8 bytes at the position of each lane.")
	d.over("VPSRLQ", func(s set) []any { return []any{3, s.pos, s.newPos} })
	d.over("VMOVDQA64", func(s set) []any { return []any{s.newPos, mem("R8", 64*s.i)} })
	for _, s := range d.sets {
		quarter := []string{x(8 + s.i), x(12 + s.i), x(16 + s.i), x(20 + s.i)}
		for i, q := range quarter {
			d.op("MOVQ", mem("R8", 64*s.i+16*i), "AX")
			d.op("MOVQ", mem("R8", 64*s.i+16*i+8), "DX")
			d.op("VMOVQ", "(AX)", q)
			d.op("VPINSRQ", 1, "(DX)", q, q)
		}
		d.op("VINSERTI64X2", 1, quarter[1], y(8+s.i), y(8+s.i))
		d.op("VINSERTI64X2", 1, quarter[3], y(16+s.i), y(16+s.i))
		d.op("VINSERTI64X4", 1, y(16+s.i), s.value, s.value)
	}
	d.over("VPANDQ", func(s set) []any { return []any{zSeven, s.pos, s.newPos} })
	d.over("VPSHUFB", func(s set) []any { return []any{zReverse, s.value, s.value} })
	d.over("VPSLLVQ", func(s set) []any { return []any{s.newPos, s.value, s.value} })
}

// slow decodes a pair with a window for each element, which one pair in 16,000
// needs.
func (d decoder) slow() {
	d.label("slow", "Decode the pair again with a window for each element. R10 is not zero when a quotient fits none.")
	d.op("XORQ", "R10", "R10")
	d.op("XORQ", "R9", "R9")
	for _, s := range d.sets {
		d.note("Lanes %d to %d: the first element.", 8*s.i, 8*s.i+7)
		d.slowElement(s, s.pos, s.last, s.first)
		d.note("The second element.")
		d.slowElement(s, s.newPos, s.first, s.value)
	}
	d.op("TESTQ", "R10", "R10")
	d.op("JZ", "decoded")
}

// slowElement decodes the element at pos into value, and sets newPos.
func (d decoder) slowElement(s set, pos, last, value string) {
	d.op("VPSRLQ", 3, pos, s.runs)
	d.op("KXNORB", "K1", "K1", "K1")
	d.op("VPXORQ", zScratch, zScratch, zScratch)
	d.op("VPGATHERQQ", "(R9)("+s.runs+"*1)", "K1", zScratch)
	d.op("VPANDQ", zSeven, pos, s.runs)
	d.op("VPSHUFB", zReverse, zScratch, zScratch)
	d.op("VPSLLVQ", s.runs, zScratch, zScratch)
	d.op("VPXORQ", zOnes, zScratch, s.runs)
	d.op("VPLZCNTQ", s.runs, s.runs)
	d.op("VPCMPUQ", 6, zMaxRun, s.runs, "K5")
	d.op("KMOVB", "K5", "AX")
	d.op("ORQ", "AX", "R10")
	d.op("VPADDQ", s.runs, pos, s.newPos)
	d.op("VPADDQ", zMin, s.newPos, s.newPos)
	d.op("VPSLLVQ", s.runs, zScratch, zScratch)
	d.op("VPSRLQ", "$(64-const_minBits)", zScratch, zScratch)
	d.op("VPSLLQ", "$const_P", s.runs, s.runs)
	d.op("VPADDQ", zScratch, last, value)
	d.op("VPADDQ", s.runs, value, value)
}

// advance makes the pair the last.
func (d decoder) advance() {
	d.over("VMOVDQA64", func(s set) []any { return []any{s.newPos, s.pos} })
	d.over("VMOVDQA64", func(s set) []any { return []any{s.value, s.last} })
}
