// Package curve multiplies the generator of secp256k1 and adds points, for many
// keys at a time.
//
// [AddBase] is for public data: it takes a time that depends on its numbers.
// [BaseMult] is for secrets: neither its branches nor the addresses that it
// reads depend on them.
//
// Source: SEC 2, for the curve y² = x³ + 7.
package curve

import "encoding/binary"

// Size is the size of a compressed public key.
const Size = 33

// Scalar is a number below the order of the curve, in big-endian order.
type Scalar = [32]byte

// Point is a point of the curve. The zero value is the point at infinity, which
// has no public key.
type Point struct {
	x, y element
}

// generator is G.
var generator = Point{
	element{0x59f2815b16f81798, 0x029bfcdb2dce28d9, 0x55a06295ce870b07, 0x79be667ef9dcbbac},
	element{0x9c47d08ffb10d4b8, 0xfd17b448a6855419, 0x5da4fbfc0e1108a8, 0x483ada7726a3c465},
}

// IsInfinity reports whether the point is the one at infinity.
func (p *Point) IsInfinity() bool { return p.x[0]|p.x[1]|p.x[2]|p.x[3] == 0 } // no point has an x of 0

func (p *Point) negate() { p.y.negate(&p.y) }

// SetCompressed reads a compressed public key. It reports whether it is one.
func (p *Point) SetCompressed(key *[Size]byte) bool {
	if key[0] != 2 && key[0] != 3 || !p.SetX((*[32]byte)(key[1:])) {
		return false
	}
	if key[0] == 3 {
		p.y.negate(&p.y)
		p.y.normalize()
	}
	return true
}

// SetX sets p to the point with the given x whose y is even. It reports whether
// there is one.
func (p *Point) SetX(x *[32]byte) bool {
	if !p.x.setBytes(x) {
		return false
	}
	var square element
	square.square(&p.x)
	square.mul(&square, &p.x)
	square.add(&square, &element{7})
	if !p.y.sqrt(&square) {
		return false
	}
	p.y.normalize()
	if p.y.isOdd() == 1 {
		p.y.negate(&p.y)
		p.y.normalize()
	}
	return true
}

// PutCompressed writes the compressed public key of a point that is not at
// infinity.
func (p *Point) PutCompressed(dst *[Size]byte) {
	x, y := p.x, p.y
	x.normalize()
	y.normalize()
	dst[0] = 2 + byte(y.isOdd())
	x.putBytes((*[32]byte)(dst[1:]))
}

// Uncompressed returns the uncompressed public key, of 65 bytes, of a point that
// is not at infinity.
func (p *Point) Uncompressed() []byte {
	x, y := p.x, p.y
	x.normalize()
	y.normalize()
	key := make([]byte, 65)
	key[0] = 4
	x.putBytes((*[32]byte)(key[1:]))
	y.putBytes((*[32]byte)(key[33:]))
	return key
}

// X returns the first coordinate of a point that is not at infinity.
func (p *Point) X() (x [32]byte) {
	e := p.x
	e.normalize()
	e.putBytes(&x)
	return x
}

// limbs are a number of 256 bits, the lowest limb first.
func limbs(s *Scalar) (k [4]uint64) {
	for i := range k {
		k[3-i] = binary.BigEndian.Uint64(s[i*8:])
	}
	return k
}
