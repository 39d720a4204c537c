package rawtx

import (
	"encoding/binary"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// signECDSA signs a hash of 32 bytes. The result is in DER.
//
// Like Core's it is never longer than 71 bytes with the hash type: nonces of
// RFC6979 are tried, with a counter as additional data from the second on,
// until R has its highest bit clear. Half of them do.
func signECDSA(private *btcec.PrivateKey, hash []byte) []byte {
	secret := private.Key.Bytes()
	var extra []byte
	for counter := uint32(1); ; counter++ {
		nonce := secp256k1.NonceRFC6979(secret[:], hash, extra, nil, 0)
		if sig, low := signWithNonce(&private.Key, nonce, hash); low {
			return sig
		}
		extra = make([]byte, 32)
		binary.LittleEndian.PutUint32(extra, counter)
	}
}

// signWithNonce makes the signature of SEC1 4.1.3 with the smaller S (BIP146).
// It reports whether R is below 2^255. Neither R nor S is 0 but for nonces that
// nobody finds.
func signWithNonce(secret, nonce *secp256k1.ModNScalar, hash []byte) (sig []byte, low bool) {
	var point secp256k1.JacobianPoint
	secp256k1.ScalarBaseMultNonConst(nonce, &point)
	point.ToAffine()
	var r, s, e secp256k1.ModNScalar
	x := point.X.Bytes()
	r.SetByteSlice(x[:])
	e.SetByteSlice(hash)
	s.Mul2(secret, &r).Add(&e).Mul(new(secp256k1.ModNScalar).InverseValNonConst(nonce))
	if s.IsOverHalfOrder() {
		s.Negate()
	}
	first := r.Bytes()[0]
	return ecdsa.NewSignature(&r, &s).Serialize(), first < 0x80
}
