package walletfile

import (
	"encoding/hex"
	"slices"
)

// The constant parts of the encoding of private keys (ECPrivateKey of SEC 1,
// C.4, with the parameters of secp256k1 written out).
var (
	derBegin     = mustHex("3081d30201010420")
	derBeginLong = mustHex("308201130201010420")
	derField     = mustHex("022100fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f")
	derOrder     = mustHex("022100fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141020101")
	derPoint     = mustHex("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
	derPointY    = mustHex("483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8")
	derCurve     = slices.Concat(mustHex("020101302c06072a8648ce3d0101"), derField, mustHex("300604010004010704"))
	derMiddle    = slices.Concat(
		mustHex("a08185308182"), derCurve, mustHex("2102"), derPoint, derOrder, mustHex("a124032200"),
	)
	derMiddleLong = slices.Concat(
		mustHex("a081a53081a2"), derCurve, mustHex("4104"), derPoint, derPointY, derOrder, mustHex("a144034200"),
	)
)

func mustHex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// encodePrivateKey returns the private key in the form that Core stores: 214
// bytes for one with a compressed public key, 279 for others.
func encodePrivateKey(secret *Secret, compressed bool) []byte {
	begin, middle := derBegin, derMiddle
	if !compressed {
		begin, middle = derBeginLong, derMiddleLong
	}
	return slices.Concat(begin, secret.Bytes(), middle, publicKeyOf(secret, compressed))
}

// decodePrivateKey reads a stored private key as Core does: it looks for the
// key and passes over the parameters that follow it.
func decodePrivateKey(der []byte) (*Secret, error) {
	c := cursor{rest: der}
	if c.uint8() != 0x30 {
		return nil, errPrivateKey
	}
	var size int
	switch c.uint8() {
	case 0x81:
		size = int(c.uint8())
	case 0x82:
		size = int(c.uint8())<<8 | int(c.uint8())
	default:
		return nil, errPrivateKey
	}
	if len(c.rest) < size || !slices.Equal(c.take(3), []byte{2, 1, 1}) || c.uint8() != 4 {
		return nil, errPrivateKey
	}
	number := c.bytes()
	if c.err != nil || len(number) > 32 {
		return nil, errPrivateKey
	}
	var key [32]byte
	defer clear(key[:])
	copy(key[32-len(number):], number)
	secret := NewSecret(key[:])
	if publicKeyOf(secret, true) == nil {
		secret.Zero()
		return nil, errPrivateKey
	}
	return secret, nil
}
