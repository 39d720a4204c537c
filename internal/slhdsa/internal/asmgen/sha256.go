package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/asm"
)

// kinds of words of a message.
const (
	varies = iota // a register or a line of memory
	opened        // of the first five, whose rounds are done before
	zero
	length // the last
)

// A message says what its words are.
type message struct {
	kinds [16]int
	bits  uint32 // the length in the last word
}

// The messages: after the block of the seed one node or two with their address, or any.
var (
	oneNode  = message{words(5, 10), 8 * (64 + 22 + 16)}
	twoNodes = message{words(5, 14), 8 * (64 + 22 + 32)}
	anyBlock = message{}
)

// words are the kinds of the words of which those from one to another vary.
func words(from, to int) (kinds [16]int) {
	for i := range kinds {
		switch {
		case i < from:
			kinds[i] = opened
		case i == 15:
			kinds[i] = length
		case i >= to:
			kinds[i] = zero
		}
	}
	return kinds
}

// role names the register that has the state's word a, b and so on in a round.
func (v *vectors) role(word, round int) string { return v.r((word - round%8 + 8) % 8) }

// word is where a word of the schedule is: a register, or memory from R8 on.
func (v *vectors) word(t int) string {
	if v.wide() {
		return v.r(8 + t%16)
	}
	return asm.Mem("R8", row*(t%16))
}

// line is a line of the opening that BX points to.
func line(field string) string { return fmt.Sprintf("(opening_%s)(BX)", field) }

// schedule puts the word of a round from 16 on into its place. m has the parts
// of the word that are known before.
func (v *vectors) schedule(t int, m message) {
	sum, begun := v.word(t), m.variesAt(t-16)
	if !v.wide() {
		sum = v.free(7)
		if begun {
			v.move(v.word(t), sum)
		}
	}
	turn := func(macro string, of int) {
		from := v.word(of)
		if !v.wide() {
			from = v.free(6)
			v.move(v.word(of), from)
		}
		to := v.free(0)
		if !begun {
			to = sum
		}
		v.Use(macro, from, to)
		if begun {
			v.add(to, sum)
		}
		begun = true
	}
	if m.variesAt(t - 15) {
		turn("early", t-15)
	}
	if m.variesAt(t - 7) {
		if begun {
			v.add(v.word(t-7), sum)
		} else {
			v.move(v.word(t-7), sum)
			begun = true
		}
	}
	for _, known := range m.knownPart(t) {
		switch {
		case known.line == "":
			v.addNumber(known.number, sum)
		case begun:
			v.add(line(known.line), sum)
		default:
			v.move(line(known.line), sum)
			begun = true
		}
	}
	if m.variesAt(t - 2) {
		turn("late", t-2)
	}
	if !v.wide() {
		v.move(sum, v.word(t))
	}
}

// variesAt reports whether a word of the schedule is known only by the hash.
func (m message) variesAt(t int) bool {
	if t < 16 {
		return m.kinds[t] == varies
	}
	return m.kinds[10] != zero || t != 17 && t != 19
}

// A term of a word of the schedule that is known before.
type term struct {
	line   string // of the opening
	number int    // or of the table
}

// knownPart returns what of a word of the schedule is known before.
func (m message) knownPart(t int) []term {
	all := map[int][]term{}
	switch m.kinds {
	case oneNode.kinds:
		all = map[int][]term{
			16: {{line: "part16"}}, 18: {{line: "part18"}}, 20: {{line: "word+256"}}, 21: {{line: "late19"}},
			22: {{number: numberLength}}, 24: {{line: "w17"}}, 26: {{line: "w19"}}, 30: {{number: numberLengthEarly}},
			31: {{number: numberLength}}, 32: {{line: "early17"}}, 33: {{line: "w17"}}, 34: {{line: "early19"}},
			35: {{line: "w19"}},
		}
	case twoNodes.kinds:
		all = map[int][]term{
			16: {{line: "part16"}}, 17: {{line: "part17"}, {number: numberLength2Late}}, 18: {{line: "part18"}},
			19: {{line: "part19"}}, 20: {{line: "word+256"}}, 22: {{number: numberLength2}},
			30: {{number: numberLength2Early}}, 31: {{number: numberLength2}},
		}
	}
	return all[t]
}

// compress writes the rounds of a message. The state is in the registers of its roles.
func (v *vectors) compress(m message) {
	first := 0
	for m.kinds[first] == opened {
		first++
	}
	for t := first; t < 64; t++ {
		if t%16 == 0 {
			v.Note("Rounds from %d on.", t)
		}
		if t >= 16 && m.variesAt(t) {
			v.schedule(t, m)
		}
		v.addWord(t, m)
		v.round(t)
	}
}

// addWord adds the word and the constant of a round to h.
func (v *vectors) addWord(t int, m message) {
	h := v.role(7, t)
	switch {
	case m.variesAt(t):
		v.add(v.word(t), h)
		v.addNumber(t, h)
	case t > 15:
		v.add(line(fmt.Sprint("round", t)), h)
	case m.kinds[t] == length && m.bits == oneNode.bits:
		v.addNumber(numberLengthRound, h)
	case m.kinds[t] == length:
		v.addNumber(numberLength2Round, h)
	default:
		v.addNumber(t, h)
	}
}

// round writes a round; h has word and constant already.
func (v *vectors) round(t int) {
	roles := make([]any, 8)
	for word := range roles {
		roles[word] = v.role(word, t)
	}
	v.Use("round", roles...)
}

// macros defines what the rounds are made of.
func (v *vectors) macros() {
	v.Macro("round(a, b, c, d, e, f, g, h)", "round is a round whose word and constant h has already.", func() {
		v.choose("e", "f", "g", v.free(0))
		v.turned(sumE, "e", v.free(1), v.free(2), v.free(3))
		v.add(v.free(0), "h")
		v.add(v.free(1), "h")
		v.add("h", "d")
		v.turned(sumA, "a", v.free(1), v.free(2), v.free(3))
		v.majority("a", "b", "c", v.free(0), v.free(4))
		v.add(v.free(1), "h")
		v.add(v.free(0), "h")
	})
	v.Macro("early(from, to)", "early is what a word adds to the fifteenth after it.", func() {
		v.turned(early, "from", "to", v.free(1), v.free(2))
	})
	v.Macro("late(from, to)", "late is what a word adds to the second after it.", func() {
		v.turned(late, "from", "to", v.free(1), v.free(2))
	})
}
