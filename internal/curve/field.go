package curve

import (
	"encoding/binary"
	"math/bits"
)

// element is an element of the field of p = 2^256 - 2^32 - 977, four limbs of 64
// bits, the lowest first. It may be p or more, but for the results of normalize.
// None of its methods branches on a value or has an address depend on one.
type element [4]uint64

// excess is 2^256 mod p.
const excess = 1<<32 + 977

var (
	one = element{1}

	// prime is p.
	prime = element{^uint64(excess - 1), ^uint64(0), ^uint64(0), ^uint64(0)}
)

// setBytes reads 32 bytes in big-endian order. It reports whether they are below p.
func (z *element) setBytes(b *[32]byte) bool {
	for i := range z {
		z[3-i] = binary.BigEndian.Uint64(b[i*8:])
	}
	reduced := *z
	reduced.normalize()
	return reduced == *z
}

// putBytes writes a normalized element as 32 bytes in big-endian order.
func (z *element) putBytes(dst *[32]byte) {
	for i := range z {
		binary.BigEndian.PutUint64(dst[i*8:], z[3-i])
	}
}

// normalize brings the element below p.
func (z *element) normalize() {
	// z is below 2p: it is p or more if adding 2^256 - p overflows.
	t0, c := bits.Add64(z[0], excess, 0)
	t1, c := bits.Add64(z[1], 0, c)
	t2, c := bits.Add64(z[2], 0, c)
	t3, c := bits.Add64(z[3], 0, c)
	z.choose(&element{t0, t1, t2, t3}, z, c)
}

// choose sets z to a if bit is 1, and to b if it is 0.
func (z *element) choose(a, b *element, bit uint64) {
	mask := -bit
	for i := range z {
		z[i] = a[i]&mask | b[i]&^mask
	}
}

// isZero reports whether the element is a multiple of p.
func (z *element) isZero() bool {
	return z[0]|z[1]|z[2]|z[3] == 0 || *z == prime
}

// isOdd returns the lowest bit of a normalized element.
func (z *element) isOdd() uint64 { return z[0] & 1 }

// add sets z to a + b.
func (z *element) add(a, b *element) {
	t0, c := bits.Add64(a[0], b[0], 0)
	t1, c := bits.Add64(a[1], b[1], c)
	t2, c := bits.Add64(a[2], b[2], c)
	t3, c := bits.Add64(a[3], b[3], c)
	// Twice, because the first may overflow again; then the rest is small.
	t0, c = bits.Add64(t0, excess&-c, 0)
	t1, c = bits.Add64(t1, 0, c)
	t2, c = bits.Add64(t2, 0, c)
	t3, c = bits.Add64(t3, 0, c)
	z[0], z[1], z[2], z[3] = t0+excess&-c, t1, t2, t3
}

// sub sets z to a - b.
func (z *element) sub(a, b *element) {
	t0, c := bits.Sub64(a[0], b[0], 0)
	t1, c := bits.Sub64(a[1], b[1], c)
	t2, c := bits.Sub64(a[2], b[2], c)
	t3, c := bits.Sub64(a[3], b[3], c)
	t0, c = bits.Sub64(t0, excess&-c, 0)
	t1, c = bits.Sub64(t1, 0, c)
	t2, c = bits.Sub64(t2, 0, c)
	t3, c = bits.Sub64(t3, 0, c)
	z[0], z[1], z[2], z[3] = t0-excess&-c, t1, t2, t3
}

// negate sets z to -a.
func (z *element) negate(a *element) { z.sub(&element{}, a) }

// mul sets z to a · b.
func (z *element) mul(a, b *element) {
	var r0, r1, r2, r3, r4, r5, r6, r7, c uint64

	h0, l0 := bits.Mul64(a[0], b[0])
	h1, l1 := bits.Mul64(a[0], b[1])
	h2, l2 := bits.Mul64(a[0], b[2])
	h3, l3 := bits.Mul64(a[0], b[3])
	r0 = l0
	r1, c = bits.Add64(l1, h0, 0)
	r2, c = bits.Add64(l2, h1, c)
	r3, c = bits.Add64(l3, h2, c)
	r4 = h3 + c

	h0, l0 = bits.Mul64(a[1], b[0])
	h1, l1 = bits.Mul64(a[1], b[1])
	h2, l2 = bits.Mul64(a[1], b[2])
	h3, l3 = bits.Mul64(a[1], b[3])
	l1, c = bits.Add64(l1, h0, 0)
	l2, c = bits.Add64(l2, h1, c)
	l3, c = bits.Add64(l3, h2, c)
	h3 += c
	r1, c = bits.Add64(r1, l0, 0)
	r2, c = bits.Add64(r2, l1, c)
	r3, c = bits.Add64(r3, l2, c)
	r4, c = bits.Add64(r4, l3, c)
	r5 = h3 + c

	h0, l0 = bits.Mul64(a[2], b[0])
	h1, l1 = bits.Mul64(a[2], b[1])
	h2, l2 = bits.Mul64(a[2], b[2])
	h3, l3 = bits.Mul64(a[2], b[3])
	l1, c = bits.Add64(l1, h0, 0)
	l2, c = bits.Add64(l2, h1, c)
	l3, c = bits.Add64(l3, h2, c)
	h3 += c
	r2, c = bits.Add64(r2, l0, 0)
	r3, c = bits.Add64(r3, l1, c)
	r4, c = bits.Add64(r4, l2, c)
	r5, c = bits.Add64(r5, l3, c)
	r6 = h3 + c

	h0, l0 = bits.Mul64(a[3], b[0])
	h1, l1 = bits.Mul64(a[3], b[1])
	h2, l2 = bits.Mul64(a[3], b[2])
	h3, l3 = bits.Mul64(a[3], b[3])
	l1, c = bits.Add64(l1, h0, 0)
	l2, c = bits.Add64(l2, h1, c)
	l3, c = bits.Add64(l3, h2, c)
	h3 += c
	r3, c = bits.Add64(r3, l0, 0)
	r4, c = bits.Add64(r4, l1, c)
	r5, c = bits.Add64(r5, l2, c)
	r6, c = bits.Add64(r6, l3, c)
	r7 = h3 + c

	z.reduce(r0, r1, r2, r3, r4, r5, r6, r7)
}

// square sets z to a².
func (z *element) square(a *element) {
	var c uint64

	// The products of different limbs, each once.
	r2, r1 := bits.Mul64(a[0], a[1])
	h02, l02 := bits.Mul64(a[0], a[2])
	h03, l03 := bits.Mul64(a[0], a[3])
	h12, l12 := bits.Mul64(a[1], a[2])
	h13, l13 := bits.Mul64(a[1], a[3])
	r6, r5 := bits.Mul64(a[2], a[3])
	r2, c = bits.Add64(r2, l02, 0)
	r3, c := bits.Add64(l03, h02, c)
	r4, c := bits.Add64(l13, h03, c)
	r5, c = bits.Add64(r5, h13, c)
	r6 += c
	r3, c = bits.Add64(r3, l12, 0)
	r4, c = bits.Add64(r4, h12, c)
	r5, c = bits.Add64(r5, 0, c)
	r6 += c

	// Twice those, and the squares of the limbs.
	r1, c = bits.Add64(r1, r1, 0)
	r2, c = bits.Add64(r2, r2, c)
	r3, c = bits.Add64(r3, r3, c)
	r4, c = bits.Add64(r4, r4, c)
	r5, c = bits.Add64(r5, r5, c)
	r6, r7 := bits.Add64(r6, r6, c)
	h0, r0 := bits.Mul64(a[0], a[0])
	h1, l1 := bits.Mul64(a[1], a[1])
	h2, l2 := bits.Mul64(a[2], a[2])
	h3, l3 := bits.Mul64(a[3], a[3])
	r1, c = bits.Add64(r1, h0, 0)
	r2, c = bits.Add64(r2, l1, c)
	r3, c = bits.Add64(r3, h1, c)
	r4, c = bits.Add64(r4, l2, c)
	r5, c = bits.Add64(r5, h2, c)
	r6, c = bits.Add64(r6, l3, c)
	r7 += h3 + c

	z.reduce(r0, r1, r2, r3, r4, r5, r6, r7)
}

// reduce sets z to a number of eight limbs.
func (z *element) reduce(r0, r1, r2, r3, r4, r5, r6, r7 uint64) {
	var c uint64
	h0, l0 := bits.Mul64(r4, excess)
	h1, l1 := bits.Mul64(r5, excess)
	h2, l2 := bits.Mul64(r6, excess)
	h3, l3 := bits.Mul64(r7, excess)
	l1, c = bits.Add64(l1, h0, 0)
	l2, c = bits.Add64(l2, h1, c)
	l3, c = bits.Add64(l3, h2, c)
	h3 += c
	r0, c = bits.Add64(r0, l0, 0)
	r1, c = bits.Add64(r1, l1, c)
	r2, c = bits.Add64(r2, l2, c)
	r3, c = bits.Add64(r3, l3, c)
	h0, l0 = bits.Mul64(h3+c, excess) // of 34 bits
	r0, c = bits.Add64(r0, l0, 0)
	r1, c = bits.Add64(r1, h0, c)
	r2, c = bits.Add64(r2, 0, c)
	r3, c = bits.Add64(r3, 0, c)
	r0, c = bits.Add64(r0, excess&-c, 0)
	z[0], z[1], z[2], z[3] = r0, r1+c, r2, r3
}

// squares sets z to a to the power of 2^n.
func (z *element) squares(a *element, n int) {
	*z = *a
	for range n {
		z.square(z)
	}
}

// ladder returns a to the power of 2^k - 1 for the runs of ones that p-2 and
// (p+1)/4 are made of: 2, 22 and 223.
func (z *element) ladder() (x2, x22, x223 element) {
	var t, x3, x6, x9, x11, x44, x88, x176, x220 element
	join := func(high, low *element, n int) (joined element) {
		t.squares(high, n)
		joined.mul(&t, low)
		return joined
	}
	x2 = join(z, z, 1)
	x3 = join(&x2, z, 1)
	x6 = join(&x3, &x3, 3)
	x9 = join(&x6, &x3, 3)
	x11 = join(&x9, &x2, 2)
	x22 = join(&x11, &x11, 11)
	x44 = join(&x22, &x22, 22)
	x88 = join(&x44, &x44, 44)
	x176 = join(&x88, &x88, 88)
	x220 = join(&x176, &x44, 44)
	x223 = join(&x220, &x3, 3)
	return x2, x22, x223
}

// invert sets z to 1/a, and to 0 if a is 0.
func (z *element) invert(a *element) {
	x := *a
	x2, x22, x223 := x.ladder()
	var t element
	t.squares(&x223, 23)
	t.mul(&t, &x22)
	t.squares(&t, 5)
	t.mul(&t, &x)
	t.squares(&t, 3)
	t.mul(&t, &x2)
	t.squares(&t, 2)
	z.mul(&t, &x)
}

// sqrt sets z to a square root of a. It reports whether there is one.
func (z *element) sqrt(a *element) bool {
	x := *a
	x2, x22, x223 := x.ladder()
	var t, check element
	t.squares(&x223, 23)
	t.mul(&t, &x22)
	t.squares(&t, 6)
	t.mul(&t, &x2)
	t.squares(&t, 2)
	check.square(&t)
	check.sub(&check, &x)
	*z = t
	return check.isZero()
}
