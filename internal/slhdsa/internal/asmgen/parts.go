package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// constants writes the read-only data.
func (v *vectors) constants() {
	times := 1
	if !v.wide() {
		times = v.lanes()
	}
	var numbers []uint32
	for _, n := range table() {
		for range times {
			numbers = append(numbers, n)
		}
	}
	v.data("numbers<>", numbers)
	var swap, rotate, order []uint32
	for i := range v.lanes() {
		at := uint32(i%4) * 0x04040404
		swap = append(swap, 0x00010203+at)
		rotate = append(rotate, 0x01000302+at)
		order = append(order, uint32(pairAt(i, v.lanes()))<<16)
	}
	v.data("swap<>", swap)
	v.data("order<>", order)
	if !v.wide() {
		v.data("rotate<>", rotate)
	}
}

// data writes words of 32 bits.
func (v *vectors) data(name string, words []uint32) {
	if len(words)%2 != 0 {
		words = append(words, 0)
	}
	pairs := make([]uint64, len(words)/2)
	for i := range pairs {
		pairs[i] = uint64(words[2*i]) | uint64(words[2*i+1])<<32
	}
	v.Constant(name, pairs)
}

// startAt is where the word a, b and so on is in the state that hashes start from, which is
// in the order of the SHA extensions.
var startAt = [8]int{3, 2, 7, 6, 1, 0, 5, 4}

// start puts the state that hashes start from, at DX, into the registers of round 0.
func (v *vectors) start() {
	for word, at := range startAt {
		v.broadcast(asm.Mem("DX", 4*at), v.role(word, 0))
	}
}

// finish adds that state to the words that make a node, in registers 0 to 3.
func (v *vectors) finish() {
	for word := range 4 {
		at := asm.Mem("DX", 4*startAt[word])
		if v.wide() {
			v.Op("VPADDD.BCST", at, v.r(word), v.r(word))
			continue
		}
		v.broadcast(at, v.free(0))
		v.add(v.free(0), v.r(word))
	}
}

// opened puts the state after the first five rounds into its registers.
func (v *vectors) opened() {
	for word := range 8 {
		v.move(line(fmt.Sprintf("state+%d", row*word)), v.role(word, 5))
	}
}

// halves writes what is done for all 16 lanes, of which BX points to the first.
func (v *vectors) halves(write func()) {
	if v.wide() {
		write()
		return
	}
	v.Op("MOVQ", 2, "R11")
	v.Label("half", "For each half of the lanes.")
	write()
	v.Op("ADDQ", v.bytes(), "BX")
	v.Op("ADDQ", v.bytes(), "DI")
	v.Op("DECQ", "R11")
	v.Op("JNZ", "half")
}

// end returns.
func (v *vectors) end() {
	v.Op("VZEROUPPER")
	v.Op("RET")
}

// lowWords puts the mask of the lower halves of words into K1.
func (v *vectors) lowWords() {
	v.Op("MOVL", "$0x55555555", "AX")
	v.Op("KMOVD", "AX", "K1")
}

// pack makes the words of a message from 5 on: the tag in half a word, so many words in
// registers from 0 on, which it overwrites, and the padding.
func (v *vectors) pack(n int) {
	put := func(t int, write func(into string)) {
		if v.wide() {
			write(v.word(t))
			return
		}
		write(v.free(0))
		v.move(v.free(0), v.word(t))
	}
	put(5, func(into string) {
		v.Op("VPSRLD", 16, v.r(0), into)
		if v.wide() {
			v.Op("VPORD", lane("tag", 0), into, into)
		} else {
			v.Op("VPOR", lane("tag", 0), into, into)
		}
	})
	put(5+n, func(into string) {
		v.Op("VPSLLD", 16, v.r(n-1), into)
		v.numbered("VPOR", numberPadding, into)
	})
	for i := range n {
		if v.wide() {
			v.Op("VPRORD", 16, v.r(i), v.r(i))
		} else {
			v.Op("VPSHUFB", "rotate<>(SB)", v.r(i), v.r(i))
		}
	}
	for i := range n - 1 {
		put(6+i, func(into string) {
			if v.wide() {
				v.Op("VPBLENDMW", v.r(i+1), v.r(i), "K1", into)
			} else {
				v.Op("VPBLENDW", "$0x55", v.r(i+1), v.r(i), into)
			}
		})
	}
}
