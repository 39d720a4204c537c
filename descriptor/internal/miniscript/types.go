package miniscript

import "strings"

// properties is the type of an expression: a set of letters with at most one
// base type. The empty set is the type of expressions that cannot be compiled.
//
// Base types:
//
//	B  leaves one element: not zero when satisfied, zero when dissatisfied
//	V  leaves nothing; it cannot be dissatisfied, the script fails instead
//	K  leaves a key, for which a signature is still to be checked
//	W  like B, but takes its input from below the topmost element
//
// What a satisfaction takes and leaves:
//
//	z  takes no element from the stack
//	o  takes exactly one element
//	n  its topmost element need never be zero
//	d  can be dissatisfied without a signature
//	u  leaves exactly 1 when satisfied
//	x  ends with an opcode that has no verifying form
//
// What strangers can do to the witness:
//
//	e  has a single dissatisfaction, which they cannot change
//	f  cannot be dissatisfied without a signature
//	s  cannot be satisfied without a signature
//	m  has a satisfaction that they cannot change
//
// Lock times within:
//
//	g  relative, in seconds    h  relative, in blocks
//	i  absolute, in seconds    j  absolute, in blocks
//	k  no satisfaction needs seconds and blocks of the same kind
type properties uint32

const letters = "BVKWzonduxefsmghijk"

// letterBit maps a letter to its bit.
var letterBit = func() (bits [128]properties) {
	for i, letter := range letters {
		bits[letter] = 1 << i
	}
	return bits
}()

// props returns the set with the given letters.
func props(set string) (p properties) {
	for i := range len(set) {
		p |= letterBit[set[i]]
	}
	return p
}

// has reports whether all the given letters are in the set.
func (p properties) has(set string) bool {
	want := props(set)
	return p&want == want
}

// only returns the part of the set with the given letters.
func (p properties) only(set string) properties { return p & props(set) }

// when returns the set if the condition holds, or else the empty one.
func (p properties) when(condition bool) properties {
	if condition {
		return p
	}
	return 0
}

// String returns the letters of the set.
func (p properties) String() string {
	var set strings.Builder
	for _, letter := range letters {
		if p&letterBit[letter] != 0 {
			set.WriteRune(letter)
		}
	}
	return set.String()
}
