package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// The widths of vectors in bits.
const (
	avx2   = 256
	avx512 = 512
)

// row is how far lines of numbers for each lane are apart in memory: 16 numbers of 32
// bits. AVX2 goes through the two halves of each.
const row = 64

// vectors writes instructions for vectors of one width. Registers 0 to 7 are the state of
// SHA-256, in turn; the rest are the schedule, where there are so many, and free.
type vectors struct {
	*asm.File
	width int
}

// bytes is the size of a vector.
func (v *vectors) bytes() int { return v.width / 8 }

// lanes is how many messages a vector has a word of.
func (v *vectors) lanes() int { return v.width / 32 }

// wide reports whether it has the instructions of AVX-512.
func (v *vectors) wide() bool { return v.width == avx512 }

// r names a register.
func (v *vectors) r(n int) string {
	if v.wide() {
		return asm.Z(n)
	}
	return asm.Y(n)
}

// free names one of the registers that each step may overwrite, 0 to 7.
func (v *vectors) free(n int) string {
	if v.wide() {
		return v.r(24 + n)
	}
	return v.r(8 + n)
}

// move loads or stores a vector.
func (v *vectors) move(from, to string) {
	if v.wide() {
		v.Op("VMOVDQU32", from, to)
	} else {
		v.Op("VMOVDQU", from, to)
	}
}

// add adds a register or memory to a register.
func (v *vectors) add(what, to string) { v.Op("VPADDD", what, to, to) }

// addNumber adds a number of the table to all lanes.
func (v *vectors) addNumber(number int, to string) { v.numbered("VPADDD", number, to) }

// numbered writes an instruction with a number of the table as its first operand.
func (v *vectors) numbered(op string, number int, to string) {
	at := fmt.Sprintf("numbers<>+%d(SB)", 4*number)
	if v.wide() {
		if op == "VPOR" {
			op = "VPORD"
		}
		v.Op(op+".BCST", at, to, to)
		return
	}
	v.Op(op, fmt.Sprintf("numbers<>+%d(SB)", v.bytes()*number), to, to)
}

// broadcast fills a register with 32 bits of memory.
func (v *vectors) broadcast(from, to string) { v.Op("VPBROADCASTD", from, to) }

// turns is a function of SHA-256's that combines three rotations, or two and a shift.
type turns struct {
	rotate []int
	shift  int
}

// The functions of FIPS 180-4, 4.1.2.
var (
	sumA  = turns{rotate: []int{2, 13, 22}}
	sumE  = turns{rotate: []int{6, 11, 25}}
	early = turns{rotate: []int{7, 18}, shift: 3}
	late  = turns{rotate: []int{17, 19}, shift: 10}
)

// turned puts a function of from, a register, into to. It overwrites t.
func (v *vectors) turned(f turns, from, to, t string, t2 string) {
	if v.wide() {
		into := []string{t, t2, to}
		for i, by := range f.rotate {
			v.Op("VPRORD", by, from, into[i])
		}
		if f.shift > 0 {
			v.Op("VPSRLD", f.shift, from, to)
		}
		v.Op("VPTERNLOGD", "$0x96", t, t2, to)
		return
	}
	begun := false
	part := func(op string, by int) {
		if !begun {
			begun = true
			v.Op(op, by, from, to)
			return
		}
		v.Op(op, by, from, t)
		v.Op("VPXOR", t, to, to)
	}
	for _, by := range f.rotate {
		part("VPSRLD", by)
		part("VPSLLD", 32-by)
	}
	if f.shift > 0 {
		part("VPSRLD", f.shift)
	}
}

// choose puts into to, for each bit, that of f where e has a one, else that of g.
func (v *vectors) choose(e, f, g, to string) {
	if v.wide() {
		v.Op("VMOVDQA32", e, to)
		v.Op("VPTERNLOGD", "$0xca", g, f, to)
		return
	}
	v.Op("VPXOR", f, g, to)
	v.Op("VPAND", e, to, to)
	v.Op("VPXOR", g, to, to)
}

// majority puts into to, for each bit, what two of a, b and c have. It overwrites t.
func (v *vectors) majority(a, b, c, to, t string) {
	if v.wide() {
		v.Op("VMOVDQA32", a, to)
		v.Op("VPTERNLOGD", "$0xe8", c, b, to)
		return
	}
	v.Op("VPOR", a, b, to)
	v.Op("VPAND", a, b, t)
	v.Op("VPAND", c, to, to)
	v.Op("VPOR", t, to, to)
}

// swapBytes turns the bytes of each word around.
func (v *vectors) swapBytes(from, to string) { v.Op("VPSHUFB", "swap<>(SB)", from, to) }

// unpack makes words of nodes, or nodes of words: the 4 words in each quarter of 128 bits
// of 4 registers are a matrix that is turned. It overwrites the registers from t on.
func (v *vectors) unpack(from, to, t func(int) string) {
	for i := range 2 {
		v.Op("VPUNPCKLDQ", from(2*i+1), from(2*i), t(2*i))
		v.Op("VPUNPCKHDQ", from(2*i+1), from(2*i), t(2*i+1))
	}
	for i := range 2 {
		v.Op("VPUNPCKLQDQ", t(2+i), t(i), to(2*i))
		v.Op("VPUNPCKHQDQ", t(2+i), t(i), to(2*i+1))
	}
}
