package walletfile

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/internal/curve"
)

// PublicKey is a serialized public key of 33 or 65 bytes.
type PublicKey []byte

// valid reports whether the length is that of the first byte's form. The point
// is not looked at.
func (k PublicKey) valid() bool {
	if len(k) == 0 {
		return false
	}
	switch k[0] {
	case 2, 3:
		return len(k) == 33
	case 4, 6, 7:
		return len(k) == 65
	}
	return false
}

// Compressed reports whether the key has 33 bytes.
func (k PublicKey) Compressed() bool { return len(k) == 33 }

// hash is the double SHA256 of the key.
func (k PublicKey) hash() chainhash.Hash { return chainhash.DoubleHashH(k) }

// publicKeyOf computes the public key of a private one. It is nil when the
// secret is no private key.
func publicKeyOf(secret *Secret, compressed bool) PublicKey {
	var scalar secp256k1.ModNScalar
	b := secret.Bytes()
	if len(b) != 32 || scalar.SetByteSlice(b) || scalar.IsZero() {
		return nil
	}
	defer scalar.Zero()
	return curve.PublicKey((*curve.Scalar)(b), compressed)
}
