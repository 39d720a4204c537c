package script

import (
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

// VerifyECDSA reports whether a signature, without a hash type behind it, is that
// of a hash by a key of any form that consensus allows. Its form need not be
// strict, and either S is taken.
func VerifyECDSA(key, sig []byte, hash *[32]byte) bool {
	var r, s secp256k1.ModNScalar
	if len(key) != keySize(key) {
		return false
	}
	if !laxDER(sig, &r, &s) {
		return false
	}
	public, err := secp256k1.ParsePubKey(key)
	if err != nil {
		return false
	}
	return ecdsa.NewSignature(&r, &s).Verify(hash[:], public)
}

// verifySchnorr checks a signature of 64 bytes by a key of which only the x
// coordinate is known (BIP340).
func verifySchnorr(key, sig []byte, hash *[32]byte) bool {
	var public, base, sum secp256k1.JacobianPoint
	var r secp256k1.FieldVal
	var s, e secp256k1.ModNScalar
	if !liftX(key, &public) || r.SetByteSlice(sig[:32]) || s.SetByteSlice(sig[32:]) {
		return false
	}
	d := newDigest()
	defer d.release()
	d.bytes(tagChallenge[:])
	d.bytes(sig[:32])
	d.bytes(key)
	d.bytes(hash[:])
	challenge := d.sum()
	e.SetBytes(&challenge)
	e.Negate()
	secp256k1.ScalarBaseMultNonConst(&s, &base)
	secp256k1.ScalarMultNonConst(&e, &public, &sum)
	secp256k1.AddNonConst(&base, &sum, &sum)
	if sum.X.IsZero() && sum.Y.IsZero() || sum.Z.IsZero() {
		return false
	}
	sum.ToAffine()
	return !sum.Y.IsOdd() && sum.X.Equals(&r)
}

// liftX finds the point with an x coordinate whose y is even.
func liftX(x []byte, p *secp256k1.JacobianPoint) bool {
	if p.X.SetByteSlice(x) || !secp256k1.DecompressY(&p.X, false, &p.Y) {
		return false
	}
	p.Y.Normalize()
	p.Z.SetInt(1)
	return true
}

// commits reports whether an output's key is the internal key tweaked by the hash
// of a tree of scripts, with the given parity of y (BIP341).
func commits(output, internal []byte, root *[32]byte, odd bool) bool {
	var p, q secp256k1.JacobianPoint
	var tweak secp256k1.ModNScalar
	if !liftX(internal, &p) {
		return false
	}
	d := newDigest()
	defer d.release()
	d.bytes(tagTweak[:])
	d.bytes(internal)
	d.bytes(root[:])
	hash := d.sum()
	if tweak.SetBytes(&hash) != 0 {
		return false
	}
	secp256k1.ScalarBaseMultNonConst(&tweak, &q)
	secp256k1.AddNonConst(&p, &q, &q)
	if q.X.IsZero() && q.Y.IsZero() || q.Z.IsZero() {
		return false
	}
	q.ToAffine()
	x := q.X.Bytes()
	return string(x[:]) == string(output) && q.Y.IsOdd() == odd
}
