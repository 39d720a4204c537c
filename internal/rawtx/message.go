package rawtx

import (
	"bytes"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// messageMagic stands before a message, so that what is signed is no transaction.
const messageMagic = "Bitcoin Signed Message:\n"

// The first byte of a signature that tells its key: which of four keys it is, and whether
// that is used compressed.
const (
	compactSize       = 65
	compactHeader     = 27
	compactCompressed = 4
)

func messageHash(message string) []byte {
	var text bytes.Buffer
	_ = wire.WriteVarString(&text, 0, messageMagic) // a buffer does not fail
	_ = wire.WriteVarString(&text, 0, message)
	return chainhash.DoubleHashB(text.Bytes())
}

// SignMessage signs a message with the key whose public key has a hash. The signature has
// 65 bytes, and tells the key. It is false without the key.
func (k Keys) SignMessage(publicHash [20]byte, message string) ([]byte, bool) {
	signer := k[publicHash]
	if signer == nil {
		return nil, false
	}
	hash := messageHash(message)
	secret := signer.private.Key.Bytes()
	defer clear(secret[:])
	nonce := secp256k1.NonceRFC6979(secret[:], hash, nil, nil, 0)
	defer nonce.Zero()
	der := signWithNonce(&signer.private.Key, nonce, hash, false)
	parsed, err := ecdsa.ParseDERSignature(der)
	if err != nil {
		return nil, false
	}
	r, s := parsed.R(), parsed.S()
	rBytes, sBytes := r.Bytes(), s.Bytes()
	signature := append(append([]byte{0}, rBytes[:]...), sBytes[:]...)
	for which := range byte(4) {
		signature[0] = compactHeader + which
		if signer.compressed {
			signature[0] += compactCompressed
		}
		if found, ok := messageKey(signature, hash); ok && hash160(found) == publicHash {
			return signature, true
		}
	}
	return nil, false
}

// VerifyMessage reports whether a signature of a message is by the key whose public key
// has a hash.
func VerifyMessage(publicHash [20]byte, signature []byte, message string) bool {
	public, ok := messageKey(signature, messageHash(message))
	return ok && hash160(public) == publicHash
}

// messageKey returns the public key that a signature tells.
func messageKey(signature, hash []byte) ([]byte, bool) {
	if len(signature) != compactSize {
		return nil, false
	}
	// Of the first byte three bits count, as in Core.
	const which = 3 | compactCompressed
	plain := append([]byte{compactHeader + (signature[0]-compactHeader)&which}, signature[1:]...)
	public, compressed, err := ecdsa.RecoverCompact(plain, hash)
	if err != nil {
		return nil, false
	}
	if compressed {
		return public.SerializeCompressed(), true
	}
	return public.SerializeUncompressed(), true
}
