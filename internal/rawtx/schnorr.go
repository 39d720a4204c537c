package rawtx

import (
	"crypto/sha256"
	"crypto/subtle"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/internal/curve"
)

// signSchnorr signs a hash of 32 bytes (BIP340), with the zero bytes that Core uses
// as additional data of the nonce. The time that it takes depends neither on the
// secret nor on the nonce.
func signSchnorr(private *btcec.PrivateKey, hash []byte) []byte {
	secret := private.Key
	defer secret.Zero()
	scalar := secret.Bytes()
	defer clear(scalar[:])
	point := curve.BaseMult(&scalar)
	negateIf(&secret, point.OddY())
	public := point.X()

	masked := secret.Bytes()
	defer clear(masked[:])
	mask := tagged("BIP0340/aux", make([]byte, 32))
	for i := range masked {
		masked[i] ^= mask[i]
	}
	seed := tagged("BIP0340/nonce", masked[:], public[:], hash)
	defer clear(seed[:])
	var nonce, e secp256k1.ModNScalar
	defer nonce.Zero()
	nonce.SetBytes(&seed) // never 0 for anything that somebody finds
	scalar = nonce.Bytes()
	point = curve.BaseMult(&scalar)
	negateIf(&nonce, point.OddY())
	r := point.X()

	challenge := tagged("BIP0340/challenge", r[:], public[:], hash)
	e.SetBytes(&challenge)
	s := e.Mul(&secret).Add(&nonce).Bytes()
	return append(r[:], s[:]...)
}

// negateIf negates a secret in a time that does not tell whether it does.
func negateIf(n *secp256k1.ModNScalar, negate bool) {
	choice := 0
	if negate {
		choice = 1
	}
	var opposite secp256k1.ModNScalar
	defer opposite.Zero()
	a, b := n.Bytes(), opposite.NegateVal(n).Bytes()
	subtle.ConstantTimeCopy(choice, a[:], b[:])
	n.SetBytes(&a)
	clear(a[:])
	clear(b[:])
}

// tweak returns the private key of the output that commits to a key and to a tree
// of scripts with a root, nil for none (BIP341).
func tweak(private *btcec.PrivateKey, root []byte) *btcec.PrivateKey {
	secret := private.Key
	defer secret.Zero()
	scalar := secret.Bytes()
	defer clear(scalar[:])
	point := curve.BaseMult(&scalar)
	negateIf(&secret, point.OddY())
	public := point.X()
	hash := tagged("TapTweak", public[:], root)
	var by secp256k1.ModNScalar
	by.SetBytes(&hash)
	return secp256k1.NewPrivateKey(secret.Add(&by))
}

// tagged is the tagged hash of BIP340.
func tagged(tag string, parts ...[]byte) [32]byte {
	prefix := sha256.Sum256([]byte(tag))
	h := sha256.New()
	h.Write(prefix[:])
	h.Write(prefix[:])
	for _, part := range parts {
		h.Write(part)
	}
	return [32]byte(h.Sum(nil))
}
