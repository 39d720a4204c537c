package filters

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// maxRun is the longest unary quotient whose element is sure to lie within one
// window. A load of 8 bytes starting at the element's first byte holds 57 bits
// of the element, of which the closing zero and the remainder take minBits.
const maxRun = 57 - minBits

// Decode returns the elements of a serialized filter in ascending order, each
// below len(elements)*[M]. The error wraps [ErrBadFilter].
func Decode(filter []byte) (elements []uint64, err error) {
	n, code, err := split(filter)
	if err != nil {
		return nil, err
	}
	l := lane{code: code, values: make([]uint64, n)}
	if l.finish(); l.err != nil {
		return nil, l.err
	}
	return l.values, nil
}

// lane is the state of decoding one filter.
type lane struct {
	index  int      // of the filter in its batch
	key    sipKey   // of its block
	code   []byte   // the Golomb-coded set, without N
	values []uint64 // decoded elements; len(values) is N, the first done are set
	done   int
	pos    uint64 // bits of code consumed
	last   uint64 // the last decoded element, 0 before the first
	err    error
	hit    bool // set by decoder.search
}

// limit is what every element must be less than: N*M. It cannot overflow: N is
// less than 2^32.
func (l *lane) limit() uint64 { return uint64(len(l.values)) * M }

// contains reports whether v is one of the lane's ascending values, at least
// one. As hashes they are spread evenly, about M apart, so v can only be some
// sqrt(N)/2 places from where it should be.
func (l *lane) contains(v uint64) bool {
	values := l.values
	i := min(int(v/M), len(values)-1)
	for i > 0 && values[i] > v {
		i--
	}
	for i < len(values)-1 && values[i] < v {
		i++
	}
	return values[i] == v
}

// readable is how many bytes from the start of the code may be read: some after
// its end too, which are as good as any others.
func (l *lane) readable() int { return readable(l.code) }

func readable(code []byte) int { return min(cap(code), len(code)+readAhead) }

// finish decodes the elements that are left and checks the end. It is the
// plain way, which every filter can go from any state.
func (l *lane) finish() {
	size := uint64(len(l.code)) * 8
	for i := l.done; i < len(l.values); i++ {
		if l.step(); l.pos > size {
			l.err = fmt.Errorf("%w: ends in element %d of %d", ErrBadFilter, i, len(l.values))
			return
		}
		l.values[i] = l.last
	}
	l.done = len(l.values)
	l.err = l.ended(uint64(l.done))
}

// step decodes the element at pos, whatever is there.
func (l *lane) step() {
	w := window(l.code, l.pos)
	run := ones(w)
	if run > maxRun {
		run = longRun(l.code, l.pos)
		w = window(l.code, l.pos+run)
	} else {
		w <<= run
	}
	// The top bit of w is the closing zero, then comes the remainder.
	l.pos += run + minBits
	l.last += run<<P + w>>(64-minBits)
}

// ended checks the end of a filter of n elements, after its last element.
func (l *lane) ended(n uint64) error {
	if left := uint64(len(l.code)) - (l.pos+7)/8; left > 0 {
		return fmt.Errorf("%w: %d bytes left over", ErrBadFilter, left)
	}
	if n > 0 && l.last >= n*M {
		return fmt.Errorf("%w: element out of range", ErrBadFilter)
	}
	return nil
}

// longRun counts the one bits from bit pos on.
func longRun(code []byte, pos uint64) uint64 {
	start := pos
	for {
		run := ones(window(code, pos))
		inWindow := 64 - pos&7
		pos += run
		if run < inWindow {
			return pos - start
		}
	}
}

// window returns the bits from bit pos on, the first as the highest: 57 bits
// or more, and zeros after the end of code.
func window(code []byte, pos uint64) uint64 {
	at := min(pos>>3, uint64(len(code)))
	if rest := code[at:]; len(rest) >= 8 {
		return binary.BigEndian.Uint64(rest) << (pos & 7)
	}
	var last [8]byte
	copy(last[:], code[at:])
	return binary.BigEndian.Uint64(last[:]) << (pos & 7)
}

// ones counts the one bits at the top of w.
func ones(w uint64) uint64 { return uint64(bits.LeadingZeros64(^w)) }
