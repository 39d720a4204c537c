package curve

import (
	"math/big"
	"math/bits"
	"sync"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// Widths of the digits of scalars: only odd digits below 2^(width-1) and their
// opposites are added, with width-1 zeros behind each. The wider they are, the
// fewer points are added, and the more are computed before.
const (
	widthQ = 5
	widthG = 10

	oddQ = 1 << (widthQ - 2)
	oddG = 1 << (widthG - 2)

	// digitsOfHalf is the number of digits of half a scalar.
	digitsOfHalf = 131
)

// A Combination is a sum of multiples of two points. It takes an inversion to know
// its coordinates, and none to compare one of them.
type Combination struct{ sum jacobian }

// Combine returns a·G + b·q. q must not be at infinity. It is for public data: the
// time that it takes depends on its numbers.
//
// Both scalars are cut into halves of 128 bits: that of G has a table for each half
// (G and 2^128·G), and that of q is written as x + y·λ, where λ·q has the y of q
// and β times its x (Gallant, Lambert, Vanstone, "Faster point multiplication on
// elliptic curves with efficient endomorphisms"). Then one run of doublings serves
// for all four.
func Combine(a, b *secp256k1.ModNScalar, q *Point) (c Combination) {
	tables := ofG()
	var multiples [oddQ]Point
	var turned [oddQ]element
	var digits [4][digitsOfHalf]int16
	scale := chain(&multiples, q)
	for i := range turned {
		turned[i].mul(&multiples[i].x, &endomorphism.beta)
	}
	var square, cube element
	square.square(&scale)
	cube.mul(&square, &scale)

	scalar := a.Bytes()
	k := limbs(&scalar)
	cutOdd(&digits[0], [3]uint64{k[0], k[1]}, widthG, false)
	cutOdd(&digits[1], [3]uint64{k[2], k[3]}, widthG, false)
	split(b, &digits[2], &digits[3])

	sum := &c.sum
	for i := digitsOfHalf - 1; i >= 0; i-- {
		sum.double()
		for half := range 2 {
			if d := digits[half][i]; d != 0 {
				// To the curve on which the multiples of q are affine.
				term := tables[half][index(d)]
				term.x.mul(&term.x, &square)
				term.y.mul(&term.y, &cube)
				sum.addSigned(&term.x, &term.y, d < 0)
			}
		}
		if d := digits[2][i]; d != 0 {
			at := index(d)
			sum.addSigned(&multiples[at].x, &multiples[at].y, d < 0)
		}
		if d := digits[3][i]; d != 0 {
			at := index(d)
			sum.addSigned(&turned[at], &multiples[at].y, d < 0)
		}
	}
	sum.z.mul(&sum.z, &scale)
	return c
}

// index is the place of an odd digit's multiple.
func index(digit int16) int { return int(max(digit, -digit)) / 2 }

// IsInfinity reports whether the sum has no coordinates.
func (c *Combination) IsInfinity() bool { return c.sum.z.isZero() }

// HasX reports whether the sum has the x coordinate, which is below p.
func (c *Combination) HasX(x *[32]byte) bool {
	var want, square element
	if c.IsInfinity() || !want.setBytes(x) {
		return false
	}
	square.square(&c.sum.z)
	want.mul(&want, &square)
	want.sub(&want, &c.sum.x)
	return want.isZero()
}

// Point returns the sum.
func (c *Combination) Point() (p Point) {
	if c.IsInfinity() {
		return p
	}
	var inverse, power element
	inverse.invert(&c.sum.z)
	power.square(&inverse)
	p.x.mul(&c.sum.x, &power)
	power.mul(&power, &inverse)
	p.y.mul(&c.sum.y, &power)
	return p
}

// ofG has the odd multiples of G and of 2^128·G, 32 KiB. It is made when it is
// first needed.
var ofG = sync.OnceValue(func() *[2][oddG]Point {
	tables := new([2][oddG]Point)
	var adder Adder
	for half := range tables {
		for i := range tables[half] {
			var scalar Scalar
			odd := 2*i + 1
			at := len(scalar) - 1 - 16*half
			scalar[at], scalar[at-1] = byte(odd), byte(odd>>8)
			adder.AddBase(tables[half][i:i+1], []Scalar{scalar})
		}
	}
	return tables
})

// endomorphism has the constants of the curve's: β and λ are roots of one, in the
// field and for scalars, b1 and b2 are from short vectors (x, y) with x + y·λ = 0,
// and g1, g2 are b2 and -b1 divided by the order, times 2^384.
var endomorphism = func() (e struct {
	beta                element
	lambda, minusLambda secp256k1.ModNScalar
	minusB1, minusB2    secp256k1.ModNScalar
	g1, g2              [4]uint64
}) {
	number := func(text string) *big.Int {
		n, ok := new(big.Int).SetString(text, 16)
		if !ok {
			panic(text)
		}
		return n
	}
	order := number("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
	b1, b2 := number("-e4437ed6010e88286f547fa90abfe4c3"), number("3086d221a7d46bcde86c90e49284eb15")
	scalar := func(n *big.Int) (s secp256k1.ModNScalar) {
		var b [32]byte
		s.SetByteSlice(new(big.Int).Mod(n, order).FillBytes(b[:]))
		return s
	}
	scaled := func(n *big.Int) (k [4]uint64) {
		n = new(big.Int).Lsh(n, 384)
		n.Add(n, new(big.Int).Rsh(order, 1)).Div(n, order)
		var b Scalar
		n.FillBytes(b[:])
		return limbs(&b)
	}
	var beta [32]byte
	number("7ae96a2b657c07106e64479eac3434e99cf0497512f58995c1396c28719501ee").FillBytes(beta[:])
	e.beta.setBytes(&beta)
	e.lambda = scalar(number("5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72"))
	e.minusLambda.NegateVal(&e.lambda)
	e.minusB1, e.minusB2 = scalar(new(big.Int).Neg(b1)), scalar(new(big.Int).Neg(b2))
	e.g1, e.g2 = scaled(b2), scaled(new(big.Int).Neg(b1))
	return e
}()

// split writes the digits of x and y, both of some 128 bits, for which
// k = x + y·λ.
func split(k *secp256k1.ModNScalar, low, high *[digitsOfHalf]int16) {
	e := &endomorphism
	b := k.Bytes()
	n := limbs(&b)
	c1, c2 := quotient(&n, &e.g1), quotient(&n, &e.g2)
	var x, y secp256k1.ModNScalar
	y.Mul2(&c1, &e.minusB1).Add(new(secp256k1.ModNScalar).Mul2(&c2, &e.minusB2))
	x.Mul2(&y, &e.minusLambda).Add(k)
	cutScalar(low, &x)
	cutScalar(high, &y)
}

// quotient returns k·g / 2^384, rounded.
func quotient(k, g *[4]uint64) (q secp256k1.ModNScalar) {
	var product [8]uint64
	for i, a := range k {
		carry := uint64(0)
		for j, b := range g {
			high, low := bits.Mul64(a, b)
			var c uint64
			low, c = bits.Add64(low, carry, 0)
			high += c
			product[i+j], c = bits.Add64(product[i+j], low, 0)
			carry = high + c
		}
		product[i+4] = carry
	}
	low, c := bits.Add64(product[6], product[5]>>63, 0)
	high := product[7] + c
	var b [32]byte
	for i := range 8 {
		b[31-i], b[23-i] = byte(low>>(8*i)), byte(high>>(8*i))
	}
	q.SetBytes(&b)
	return q
}

// cutScalar writes the digits of a scalar that is, or whose opposite is, of some
// 128 bits.
func cutScalar(digits *[digitsOfHalf]int16, n *secp256k1.ModNScalar) {
	short, negative := *n, n.IsOverHalfOrder()
	if negative {
		short.Negate()
	}
	b := short.Bytes()
	k := limbs(&b)
	cutOdd(digits, [3]uint64{k[0], k[1], k[2]}, widthQ, negative)
}

// cutOdd writes the digits of a number below 2^130, or of its opposite, the lowest
// first: odd or 0.
func cutOdd(digits *[digitsOfHalf]int16, k [3]uint64, width int, negative bool) {
	carry := uint64(0)
	for i := 0; i < digitsOfHalf; {
		if k[i>>6]>>(i&63)&1 == carry {
			i++
			continue
		}
		window := k[i>>6] >> (i & 63)
		if i&63 != 0 && i>>6+1 < len(k) {
			window |= k[i>>6+1] << (64 - i&63)
		}
		n := min(width, digitsOfHalf-i)
		value := window&(1<<n-1) + carry
		carry = value >> (width - 1) & 1
		digit := int16(value) - int16(carry<<width)
		if negative {
			digit = -digit
		}
		digits[i] = digit
		i += n
	}
}
