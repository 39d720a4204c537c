package rawtx

import (
	"encoding/binary"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/internal/curve"
)

// signECDSA signs a hash of 32 bytes. The result is in DER.
//
// Like Core's it is never longer than 71 bytes with the hash type, since the
// highest bit of R is clear. Nonces of RFC6979 are tried until it is, with a
// counter as additional data from the second on. Half of the nonces fit.
func signECDSA(private *btcec.PrivateKey, hash []byte) []byte {
	secret := private.Key.Bytes()
	defer clear(secret[:])
	var extra []byte
	for counter := uint32(1); ; counter++ {
		nonce := secp256k1.NonceRFC6979(secret[:], hash, extra, nil, 0)
		sig := signWithNonce(&private.Key, nonce, hash, true)
		nonce.Zero()
		if sig != nil {
			return sig
		}
		extra = make([]byte, 32)
		binary.LittleEndian.PutUint32(extra, counter)
	}
}

// signWithNonce makes the signature of SEC1 4.1.3 with the smaller S (BIP146).
// With low it is nil where R is not below 2^255. Neither R nor S is 0 but for nonces that
// nobody finds. The time that it takes depends neither on the secret nor on the
// nonce, of which a few bits of many signatures would betray the secret.
func signWithNonce(secret, nonce *secp256k1.ModNScalar, hash []byte, low bool) []byte {
	scalar := nonce.Bytes()
	defer clear(scalar[:])
	point := curve.BaseMult(&scalar)
	var r, s, e, inverse secp256k1.ModNScalar
	defer inverse.Zero()
	x := point.X()
	r.SetByteSlice(x[:])
	if low && r.Bytes()[0] >= 0x80 {
		return nil // nobody sees anything of this nonce
	}
	e.SetByteSlice(hash)
	invert(&inverse, nonce)
	s.Mul2(secret, &r).Add(&e).Mul(&inverse)
	return ecdsa.NewSignature(&r, &s).Serialize() // with the lower S
}

// minusTwo is the order of the curve less 2, the highest digit of 4 bits first.
var minusTwo = func() (digits [64]byte) {
	two := new(secp256k1.ModNScalar).SetInt(2)
	for i, b := range two.Negate().Bytes() {
		digits[2*i], digits[2*i+1] = b>>4, b&0xf
	}
	return digits
}()

// invert sets z to 1/a, by Fermat: it is a to the power of the order less 2. Which
// products are computed does not depend on a.
func invert(z, a *secp256k1.ModNScalar) {
	var powers [16]secp256k1.ModNScalar
	powers[0].SetInt(1)
	for i := 1; i < len(powers); i++ {
		powers[i].Mul2(&powers[i-1], a)
	}
	z.SetInt(1)
	for _, digit := range minusTwo {
		z.Square().Square().Square().Square().Mul(&powers[digit])
	}
	for i := range powers {
		powers[i].Zero()
	}
}
