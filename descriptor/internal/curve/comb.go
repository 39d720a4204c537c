package curve

import (
	"math/bits"
	"slices"
	"sync"
)

const (
	// windowBits is the width of the digits of a scalar. The wider they are, the
	// fewer points are added, and the less of the table fits the caches.
	windowBits = 10

	// windows is the number of digits of a scalar below 2^255.
	windows = 26

	// maxDigit is the largest digit: they go from -maxDigit to maxDigit.
	maxDigit = 1 << (windowBits - 1)
)

// comb has the multiples of the generator by d·2^(10w) for the digits d from 1
// to maxDigit, window by window, 832 KiB. It is made when it is first needed,
// in about a millisecond.
var comb = sync.OnceValue(func() *[windows][maxDigit]Point {
	table := new([windows][maxDigit]Point)
	rows := make([][]Point, windows)
	for w := range rows {
		rows[w] = table[w][:]
	}
	fill(rows)
	return table
})

// fill writes to each row the multiples of a base, which in the first row is
// the generator and in the others twice the last of the row before. Their length
// is a power of two.
func fill(rows [][]Point) {
	var s sums
	base := generator
	for _, row := range rows {
		row[0] = base
		for n := 1; n < len(row); n *= 2 {
			next := row[n : 2*n]
			copy(next, row)
			s.add(next, slices.Repeat(row[n-1:n], n))
		}
		top := []Point{row[len(row)-1]}
		s.add(top, top)
		base = top[0]
	}
}

// order is that of the curve and halfOrder its half, the lowest limb first.
var (
	order     = [4]uint64{0xbfd25e8cd0364141, 0xbaaedce6af48a03b, 0xfffffffffffffffe, 0xffffffffffffffff}
	halfOrder = [4]uint64{0xdfe92f46681b20a0, 0x5d576e7357a4501d, 0xffffffffffffffff, 0x7fffffffffffffff}
)

// An Adder adds multiples of the generator to points. It is scratch memory,
// which grows with the largest number of points, for one goroutine at a time.
type Adder struct {
	sums    sums
	terms   []Point // of all points, digit by digit
	negated []bool
}

// AddBase adds to each of the points the generator times the scalar of the same
// place. The scalars must be below the order. A sum may be at infinity.
//
// A scalar is cut into digits, whose multiples of the generator are looked up;
// then the terms of all sums are added pair by pair, so that a handful of
// inversions serves for everything. How long it takes depends on the scalars.
func (a *Adder) AddBase(points []Point, scalars []Scalar) {
	table := comb()
	n := len(points)
	a.terms = slices.Grow(a.terms[:0], windows*n)[:windows*n]
	a.negated = slices.Grow(a.negated[:0], n)[:n]
	for i := range points {
		var digits [windows]int
		if a.negated[i] = cut(&digits, &scalars[i]); a.negated[i] {
			points[i].negate()
		}
		for w, digit := range digits {
			term := &a.terms[w*n+i]
			switch {
			case digit > 0:
				*term = table[w][digit-1]
			case digit < 0:
				*term = table[w][-digit-1]
				term.negate()
			default:
				*term = Point{}
			}
		}
	}
	for left := windows; left > 1; {
		half := left / 2
		a.sums.add(a.terms[:half*n], a.terms[(left-half)*n:left*n])
		left -= half
	}
	a.sums.add(points, a.terms[:n])
	for i := range points {
		if a.negated[i] {
			points[i].negate()
		}
	}
}

// cut writes the digits of a scalar, or of its negation if that is smaller.
func cut(digits *[windows]int, scalar *Scalar) (negated bool) {
	k := limbs(scalar)
	var borrow uint64
	for i := range k {
		_, borrow = bits.Sub64(halfOrder[i], k[i], borrow)
	}
	if negated = borrow == 1; negated {
		borrow = 0
		for i := range k {
			k[i], borrow = bits.Sub64(order[i], k[i], borrow)
		}
	}
	carry := 0
	for w := range digits {
		at, shift := w*windowBits/64, w*windowBits%64
		word := k[at] >> shift
		if at+1 < len(k) {
			word |= k[at+1] << (64 - shift)
		}
		digit := int(word&(1<<windowBits-1)) + carry
		if carry = 0; digit > maxDigit {
			digit -= 1 << windowBits
			carry = 1
		}
		digits[w] = digit
	}
	return negated
}
