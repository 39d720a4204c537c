package asmap

import "math/bits"

// The instructions, as they are numbered. The operand of MATCH is the bits behind a leading
// one.
const (
	opReturn = iota
	opJump
	opMatch
	opDefault
)

// A coding is how a number is written: in classes of as many bits as widths says, each
// beginning where the one before ends, the first at least. Ones count the classes that are
// passed over, a zero ends them but for the last.
type coding struct {
	least  uint32
	widths []int
}

var (
	opCoding    = coding{0, []int{0, 0, 1}}
	asCoding    = coding{1, upTo(15, 24)}
	matchCoding = coding{2, upTo(1, 8)}
	jumpCoding  = coding{17, upTo(5, 30)}
)

func upTo(first, last int) (widths []int) {
	for w := first; w <= last; w++ {
		widths = append(widths, w)
	}
	return widths
}

// A program is a file from a bit on.
type program struct {
	file    []byte
	at, end int // bits
}

// bit reads a bit.
func (p *program) bit() (uint32, bool) {
	if p.at >= p.end {
		return 0, false
	}
	b := uint32(p.file[p.at/8]>>(p.at%8)) & 1
	p.at++
	return b, true
}

// number reads a number. It reports false where the program ends before it does.
func (p *program) number(c coding) (uint32, bool) {
	n := c.least
	for i, width := range c.widths {
		more, ok := uint32(0), true
		if i < len(c.widths)-1 {
			more, ok = p.bit()
		}
		if !ok {
			return 0, false
		}
		if more == 1 {
			n += 1 << width
			continue
		}
		rest := uint32(0)
		for range width {
			b, ok := p.bit()
			if !ok {
				return 0, false
			}
			rest = rest<<1 | b
		}
		return n + rest, true
	}
	return 0, false
}

// instruction reads an instruction with its operand.
func (p *program) instruction() (op, operand uint32, ok bool) {
	if op, ok = p.number(opCoding); !ok {
		return 0, 0, false
	}
	coding := asCoding
	switch op {
	case opJump:
		coding = jumpCoding
	case opMatch:
		coding = matchCoding
	}
	operand, ok = p.number(coding)
	return op, operand, ok
}

// A checker checks a program. It is a tree: a JUMP is followed by the branch for 0, which
// ends where the JUMP leads, and then by the one for 1.
type checker struct{ program }

// wholeMatch is how many bits all MATCHes but one match that follow each other.
const wholeMatch = 8

// branch checks the branch that begins here, with so many bits of the address left, and
// that ends before the given bit.
func (c *checker) branch(left, end int) bool {
	previous, partial := uint32(opJump), false
	for c.at < end {
		op, operand, ok := c.instruction()
		if !ok {
			return false
		}
		switch op {
		case opReturn:
			return previous != opDefault // would be one RETURN
		case opDefault:
			if previous == opDefault {
				return false
			}
		case opJump:
			to := c.at + int(operand)
			if left == 0 || to >= end || !c.branch(left-1, to) || c.at != to {
				return false
			}
			left--
		case opMatch:
			n := bits.Len32(operand) - 1
			partial = partial && previous == opMatch
			if n < wholeMatch && partial || n > left {
				return false
			}
			partial, left = n < wholeMatch, left-n
		}
		previous = op
	}
	return false // without a RETURN, or in the middle of an instruction
}

// padded reports whether nothing but zeros follows, up to the end of a byte.
func (c *checker) padded() bool {
	if c.end-c.at >= 8 {
		return false
	}
	for c.at < c.end {
		if b, _ := c.bit(); b != 0 {
			return false
		}
	}
	return true
}
