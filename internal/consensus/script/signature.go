package script

import (
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/internal/curve"
)

// VerifyECDSA reports whether a signature, without a hash type behind it, is that
// of a hash by a key of any form that consensus allows. Its form need not be
// strict, and either S is taken.
func VerifyECDSA(key, sig []byte, hash *[32]byte) bool {
	var r, s, e, u1, u2 secp256k1.ModNScalar
	var public curve.Point
	if !laxDER(sig, &r, &s) || r.IsZero() || s.IsZero() || !public.SetPublicKey(key) {
		return false
	}
	e.SetBytes(hash)
	s.InverseNonConst()
	u1.Mul2(&e, &s)
	u2.Mul2(&r, &s)
	sum := curve.Combine(&u1, &u2, &public)
	// R is the x coordinate reduced by the order, which is a little below p.
	x := r.Bytes()
	return sum.HasX(&x) || addOrder(&x) && sum.HasX(&x)
}

// order is that of the curve.
var order = func() [32]byte {
	one := new(secp256k1.ModNScalar).SetInt(1)
	b := one.Negate().Bytes()
	b[31]++
	return b
}()

// addOrder adds the order of the curve to a number, and reports whether the sum
// has no more than 256 bits.
func addOrder(n *[32]byte) bool {
	carry := 0
	for i := len(n) - 1; i >= 0; i-- {
		carry += int(n[i]) + int(order[i])
		n[i] = byte(carry)
		carry >>= 8
	}
	return carry == 0
}

// verifySchnorr checks a signature of 64 bytes by a key of which only the x
// coordinate is known (BIP340).
func verifySchnorr(key, sig, message []byte) bool {
	var public curve.Point
	var s, e secp256k1.ModNScalar
	if !public.SetX((*[32]byte)(key)) || s.SetByteSlice(sig[32:]) {
		return false
	}
	d := newDigest()
	defer d.release()
	d.bytes(tagChallenge[:])
	d.bytes(sig[:32])
	d.bytes(key)
	d.bytes(message)
	challenge := d.sum()
	e.SetBytes(&challenge)
	sum := curve.Combine(&s, e.Negate(), &public)
	if !sum.HasX((*[32]byte)(sig)) { // also where sig's x is above p
		return false
	}
	nonce := sum.Point()
	return !nonce.OddY()
}

// commits reports whether an output's key is the internal key tweaked by the hash
// of a tree of scripts, with the given parity of y (BIP341).
func commits(output, internal []byte, root *[32]byte, odd bool) bool {
	var sum [1]curve.Point
	if !sum[0].SetX((*[32]byte)(internal)) {
		return false
	}
	d := newDigest()
	defer d.release()
	d.bytes(tagTweak[:])
	d.bytes(internal)
	d.bytes(root[:])
	tweak := [1]curve.Scalar{d.sum()}
	if new(secp256k1.ModNScalar).SetBytes(&tweak[0]) != 0 {
		return false
	}
	var adder curve.Adder
	if adder.AddBase(sum[:], tweak[:]); sum[0].IsInfinity() {
		return false
	}
	x := sum[0].X()
	return string(x[:]) == string(output) && sum[0].OddY() == odd
}
