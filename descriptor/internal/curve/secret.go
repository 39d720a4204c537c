package curve

import "sync"

const (
	// secretBits is the width of the digits of a secret scalar.
	secretBits = 4

	// secretWindows is the number of those digits. The last is a carry.
	secretWindows = 256/secretBits + 1

	// maxSecretDigit is the largest absolute value of a digit.
	maxSecretDigit = 1 << (secretBits - 1)
)

// secretComb has the multiples of the generator by d·2^(4w) for d from 1 to 8.
var secretComb = sync.OnceValue(func() *[secretWindows][maxSecretDigit]Point {
	table := new([secretWindows][maxSecretDigit]Point)
	rows := make([][]Point, secretWindows)
	for w := range rows {
		rows[w] = table[w][:]
	}
	fill(rows)
	return table
})

// BaseMult returns the generator times a secret scalar, which must be below the
// order and not zero. The time that it takes does not depend on the scalar.
func BaseMult(scalar *Scalar) Point {
	table := secretComb()
	sum := projective{y: one}
	carry := uint64(0)
	for w := range table {
		digit := carry
		if w < 2*len(scalar) {
			digit += uint64(scalar[len(scalar)-1-w/2]>>(w%2*4)) & 0xf
		}
		carry = (digit + maxSecretDigit) >> secretBits
		digit -= carry << secretBits // -8 to 7
		minus := digit >> 63
		digit = (digit ^ -minus) + minus

		var term Point
		for d := range table[w] {
			term.or(&table[w][d], -equal(digit, uint64(d)+1))
		}
		var opposite element
		opposite.negate(&term.y)
		term.y.choose(&opposite, &term.y, minus)

		before := sum
		sum.add(&term)
		sum.choose(&before, &sum, equal(digit, 0))
	}
	return sum.affine()
}

// equal returns 1 if two small numbers are the same, else 0.
func equal(a, b uint64) uint64 { return ((a ^ b) - 1) >> 63 }

// or adds the bits of q to those of p where the mask has ones.
func (p *Point) or(q *Point, mask uint64) {
	for i := range p.x {
		p.x[i] |= q.x[i] & mask
		p.y[i] |= q.y[i] & mask
	}
}

// projective is the point (x/z, y/z), the one at infinity where z is 0.
type projective struct{ x, y, z element }

func (p *projective) choose(a, b *projective, bit uint64) {
	p.x.choose(&a.x, &b.x, bit)
	p.y.choose(&a.y, &b.y, bit)
	p.z.choose(&a.z, &b.z, bit)
}

func (p *projective) affine() (r Point) {
	var inverse element
	inverse.invert(&p.z)
	r.x.mul(&p.x, &inverse)
	r.y.mul(&p.y, &inverse)
	return r
}

// add adds a point that is not at infinity, by formulas that hold for every p:
// equal to q, opposite to it, or at infinity.
//
// Source: Renes, Costello, Batina, "Complete addition formulas for prime order
// elliptic curves", algorithm 8.
func (p *projective) add(q *Point) {
	b3 := element{21} // three times the constant of the curve
	var xx, yy, cross, yz, xz, bz, t, u element
	xx.mul(&p.x, &q.x)
	yy.mul(&p.y, &q.y)
	t.add(&q.x, &q.y)
	u.add(&p.x, &p.y)
	cross.mul(&t, &u)
	t.add(&xx, &yy)
	cross.sub(&cross, &t)
	yz.mul(&q.y, &p.z)
	yz.add(&yz, &p.y)
	xz.mul(&q.x, &p.z)
	xz.add(&xz, &p.x)
	xz.mul(&xz, &b3)
	t.add(&xx, &xx)
	xx.add(&xx, &t)
	bz.mul(&p.z, &b3)
	u.add(&yy, &bz)
	yy.sub(&yy, &bz)

	p.x.mul(&cross, &yy)
	t.mul(&yz, &xz)
	p.x.sub(&p.x, &t)
	p.y.mul(&xz, &xx)
	t.mul(&yy, &u)
	p.y.add(&p.y, &t)
	p.z.mul(&u, &yz)
	t.mul(&xx, &cross)
	p.z.add(&p.z, &t)
}
