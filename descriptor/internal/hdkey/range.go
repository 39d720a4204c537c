package hdkey

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"hash"
	"slices"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/internal/curve"
)

// Range derives the public keys of consecutive children of one parent. It
// shares among them what does not depend on the child: the parent's point, the
// HMAC key, and the inversions for a whole batch of points.
//
// A Range keeps scratch space, so every goroutine needs its own.
type Range struct {
	parent   Key
	point    curve.Point
	hardened bool
	mac      hash.Hash
	seed     [37]byte
	sum      [sha512.Size]byte
	adder    curve.Adder
	points   []curve.Point
	tweaks   []curve.Scalar
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
	if !r.point.SetCompressed(&parent.PublicKey) {
		return nil, ErrInvalidChild
	}
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
	n := len(dst) / curve.Size
	var err error
	if r.hardened {
		err = r.secretPoints(n, first)
	} else {
		err = r.publicPoints(n, first)
	}
	if err != nil {
		return err
	}
	for i := range r.points {
		if r.points[i].IsInfinity() {
			return ErrInvalidChild
		}
		r.points[i].PutCompressed((*[curve.Size]byte)(dst[i*curve.Size:]))
	}
	return nil
}

// publicPoints sets the points to those of n children whose keys follow from the
// parent's public key.
func (r *Range) publicPoints(n int, first uint32) error {
	r.points = slices.Grow(r.points[:0], n)[:n]
	r.tweaks = slices.Grow(r.tweaks[:0], n)[:n]
	for i := range r.points {
		tweak, err := r.tweak(first + uint32(i))
		if err != nil {
			return err
		}
		r.points[i], r.tweaks[i] = r.point, tweak.Bytes()
	}
	r.adder.AddBase(r.points, r.tweaks)
	return nil
}

// secretPoints sets the points to those of n hardened children.
func (r *Range) secretPoints(n int, first uint32) error {
	r.points = slices.Grow(r.points[:0], n)[:n]
	for i := range r.points {
		secret, err := r.tweak(first + uint32(i) | Hardened)
		if err != nil {
			return err
		}
		if secret.Add(&r.parent.secret).IsZero() {
			return ErrInvalidChild
		}
		scalar := secret.Bytes()
		r.points[i] = curve.BaseMult(&scalar)
		clear(scalar[:])
	}
	return nil
}

// tweak returns what a child's private key has more than its parent's.
func (r *Range) tweak(index uint32) (tweak secp256k1.ModNScalar, err error) {
	binary.BigEndian.PutUint32(r.seed[33:], index)
	r.mac.Reset()
	r.mac.Write(r.seed[:])
	if overflow := tweak.SetByteSlice(r.mac.Sum(r.sum[:0])[:32]); overflow {
		return tweak, ErrInvalidChild
	}
	return tweak, nil
}
