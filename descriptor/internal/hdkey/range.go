package hdkey

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"hash"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// Range derives the public keys of consecutive children of one parent. It
// shares among them what does not depend on the child: the parent's point, the
// HMAC key, and one field inversion for a whole batch of points.
//
// A Range keeps scratch space, so every goroutine needs its own.
type Range struct {
	parent   Key
	point    secp256k1.JacobianPoint
	hardened bool
	mac      hash.Hash
	seed     [37]byte
	sums     []secp256k1.JacobianPoint
	products []secp256k1.FieldVal
	sum      [sha512.Size]byte
}

// NewRange prepares to derive children of parent, all hardened or none.
//
// Errors: [ErrNeedsPrivateKey], [ErrDepth].
func NewRange(parent *Key, hardened bool) (*Range, error) {
	r := &Range{parent: *parent, hardened: hardened}
	var flag uint32
	if hardened {
		flag = Hardened
	}
	if err := parent.canDerive(flag); err != nil {
		return nil, err
	}
	key, err := secp256k1.ParsePubKey(parent.PublicKey[:])
	if err != nil {
		return nil, ErrInvalidChild
	}
	key.AsJacobian(&r.point)
	r.mac = hmac.New(sha512.New, parent.ChainCode[:])
	parent.seed(&r.seed, hardened)
	return r, nil
}

// PublicKeys writes the compressed public keys of the children first,
// first+1, … into dst, 33 bytes each; the length of dst says how many.
// Child numbers are given without the [Hardened] bit and must stay below it.
//
// Errors: [ErrInvalidChild].
func (r *Range) PublicKeys(dst []byte, first uint32) error {
	n := len(dst) / 33
	if cap(r.sums) < n {
		r.sums = make([]secp256k1.JacobianPoint, n)
		r.products = make([]secp256k1.FieldVal, n)
	}
	sums, products := r.sums[:n], r.products[:n]
	for i := range sums {
		if err := r.childPoint(&sums[i], first+uint32(i)); err != nil {
			return err
		}
	}
	toAffine(sums, products)
	for i := range sums {
		putCompressed(dst[i*33:(i+1)*33], &sums[i].X, &sums[i].Y)
	}
	return nil
}

// childPoint computes parent + HMAC(child)·G in Jacobian coordinates.
func (r *Range) childPoint(sum *secp256k1.JacobianPoint, index uint32) error {
	if r.hardened {
		index |= Hardened
	}
	binary.BigEndian.PutUint32(r.seed[33:], index)
	r.mac.Reset()
	r.mac.Write(r.seed[:])
	left := r.mac.Sum(r.sum[:0])[:32]
	var tweak secp256k1.ModNScalar
	if overflow := tweak.SetByteSlice(left); overflow {
		return ErrInvalidChild
	}
	secp256k1.ScalarBaseMultNonConst(&tweak, sum)
	secp256k1.AddNonConst(sum, &r.point, sum)
	if sum.Z.IsZero() {
		return ErrInvalidChild
	}
	return nil
}

// toAffine brings all points to affine form with a single inversion
// (Montgomery's trick). No point may be the point at infinity; products is
// scratch space of the same length.
func toAffine(points []secp256k1.JacobianPoint, products []secp256k1.FieldVal) {
	if len(points) == 0 {
		return
	}
	var acc secp256k1.FieldVal
	acc.SetInt(1)
	for i := range points {
		products[i].Set(&acc) // product of all Z before i
		acc.Mul(&points[i].Z)
	}
	acc.Inverse()
	for i := len(points) - 1; i >= 0; i-- {
		var inv, inv2 secp256k1.FieldVal
		p := &points[i]
		inv.Mul2(&acc, &products[i])
		acc.Mul(&p.Z)
		inv2.SquareVal(&inv)
		p.X.Mul(&inv2).Normalize()
		p.Y.Mul(inv2.Mul(&inv)).Normalize()
		p.Z.SetInt(1)
	}
}
