package descriptor

import (
	"github.com/btcsuite/btcd/btcutil"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/internal/curve"
)

// PrivateKey is a private key of secp256k1.
type PrivateKey struct {
	Scalar     [32]byte // big endian; others than 1 to the group order are ignored
	Compressed bool     // its public key is used in compressed form

	// Filed holds the bytes of the public key that the private key stands for.
	// Empty: its own.
	// Another is found in damaged wallets; Core shows the private key then,
	// too.
	Filed string
}

// secretKey is a private key that the text of a descriptor holds.
type secretKey struct {
	scalar     secp256k1.ModNScalar
	compressed bool // its public key is used in compressed form
}

// decodeWIF reads a private key in wallet import format. Unlike btcutil it
// refuses zero and numbers above the group order.
func decodeWIF(text string, net *Network) (*secretKey, bool) {
	payload, ok := decodeBase58Check(text)
	if !ok || len(payload) == 0 || !net.wif(payload[0]) {
		return nil, false
	}
	defer clear(payload)
	compressed := len(payload) == 34 && payload[33] == 1
	if !compressed && len(payload) != 33 {
		return nil, false
	}
	secret := &secretKey{compressed: compressed}
	overflow := secret.scalar.SetByteSlice(payload[1:33])
	if overflow || secret.scalar.IsZero() {
		return nil, false
	}
	return secret, true
}

// appendWIF appends the key in wallet import format.
func (s *secretKey) appendWIF(dst []byte, net *Network) []byte {
	scalar := s.scalar.Bytes()
	defer clear(scalar[:])
	var flag []byte
	if s.compressed {
		flag = []byte{1}
	}
	return appendBase58Check(dst, []byte{net.PrivateKeyID}, scalar[:], flag)
}

// public returns the public key in the form that is used.
func (s *secretKey) public() []byte {
	scalar := s.scalar.Bytes()
	defer clear(scalar[:])
	return curve.PublicKey(&scalar, s.compressed)
}

// keyring holds the private keys of a descriptor by the hash of their public
// keys. A private key anywhere in a descriptor serves all its expressions.
type keyring map[[20]byte]*secretKey

func (r keyring) add(public []byte, secret *secretKey) {
	r[[20]byte(btcutil.Hash160(public))] = secret
}

func (r keyring) addGiven(given PrivateKey) {
	secret := &secretKey{compressed: given.Compressed}
	overflow := secret.scalar.SetByteSlice(given.Scalar[:])
	if overflow || secret.scalar.IsZero() {
		return
	}
	public := []byte(given.Filed)
	if len(public) == 0 {
		public = secret.public()
	}
	r.add(public, secret)
}

func (r keyring) find(public []byte) *secretKey {
	if len(r) == 0 {
		return nil
	}
	return r[[20]byte(btcutil.Hash160(public))]
}

// findXOnly looks for either of the two keys with the same x coordinate.
func (r keyring) findXOnly(public []byte) *secretKey {
	for _, prefix := range []byte{secp256k1.PubKeyFormatCompressedEven, secp256k1.PubKeyFormatCompressedOdd} {
		if secret := r.find(append([]byte{prefix}, public[1:33]...)); secret != nil {
			return secret
		}
	}
	return nil
}
