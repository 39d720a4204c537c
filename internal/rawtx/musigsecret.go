package rawtx

import (
	"bytes"
	"encoding/binary"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcec/v2/schnorr/musig2"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/internal/curve"
)

// The secret steps of a participant (BIP327, NonceGen and Sign) take a time that depends neither on the private key
// nor on the nonces. The library's own steps do not: it multiplies the generator by secrets in variable time.

// secretNonce are the two secret numbers and the public key of a signing participant.
type secretNonce = [musig2.SecNonceSize]byte

// newNonce makes a nonce for a participant from 32 random bytes, for one message and one key of all participants. It
// overwrites the random bytes.
func newNonce(
	random *[32]byte, own *key, all *btcec.PublicKey, message *[32]byte,
) (secret secretNonce, public []byte) {
	mask := tagged("MuSig/aux", random[:])
	scalar := own.private.Key.Bytes()
	for i := range random {
		random[i] = scalar[i] ^ mask[i]
	}
	clear(scalar[:])
	clear(mask[:])
	defer clear(random[:])
	x := schnorr.SerializePubKey(all)
	for i := range byte(2) {
		seed := tagged("MuSig/nonce", random[:], []byte{keyBytes}, own.public, []byte{byte(len(x))}, x,
			binary.BigEndian.AppendUint64([]byte{1}, uint64(len(message))), message[:], make([]byte, 4), []byte{i})
		var nonce secp256k1.ModNScalar
		nonce.SetBytes(&seed) // never 0 for anything that somebody finds
		clear(seed[:])
		nonce.PutBytesUnchecked(secret[32*i:])
		scalar := nonce.Bytes()
		public = append(public, curve.PublicKey(&scalar, true)...)
		nonce.Zero()
		clear(scalar[:])
	}
	copy(secret[64:], own.public)
	return secret, public
}

// signPartial makes a partial signature with a secret nonce of the participant, for the nonces of all. nonce is the
// public half of its own. It returns nil if that is not its nonce, or the signature would be wrong.
func (s *musig) signPartial(secret *secretNonce, own *key, nonces [musig2.PubNonceSize]byte, nonce []byte) []byte {
	if !bytes.Equal(secret[64:], own.public) || len(nonce) != musig2.PubNonceSize {
		return nil
	}
	const sorted = false
	all, parity, _, err := musig2.AggregateKeys(s.keys, sorted, musig2.WithKeyTweaks(s.tweaks...))
	if err != nil {
		return nil
	}
	r, blinder := s.commitment(nonces)
	if r == nil {
		return nil
	}
	var first, second secp256k1.ModNScalar
	defer first.Zero()
	defer second.Zero()
	if first.SetByteSlice(secret[:32]) || second.SetByteSlice(secret[32:64]) || first.IsZero() || second.IsZero() {
		return nil
	}
	first.Add(second.Mul(blinder))
	if isOdd(r) {
		first.Negate()
	}
	private := own.private.Key
	defer private.Zero()
	private.Mul(parity)
	if isOdd(all.FinalKey) {
		private.Negate()
	}
	x := schnorr.SerializePubKey(all.FinalKey)
	challenge := tagged("BIP0340/challenge", schnorr.SerializePubKey(r), x, s.hash[:])
	var e secp256k1.ModNScalar
	e.SetBytes(&challenge)
	e.Mul(s.coefficient(own.public)).Mul(&private).Add(&first)
	partial := musig2.NewPartialSignature(&e, r)
	public, err := btcec.ParsePubKey(own.public)
	if err != nil || !partial.Verify(
		[musig2.PubNonceSize]byte(nonce), nonces, s.keys, public, s.hash, musig2.WithTweaks(s.tweaks...),
	) {
		return nil
	}
	sig := e.Bytes()
	return sig[:]
}

// isOdd reports whether the second coordinate of a public key is odd.
func isOdd(key *btcec.PublicKey) bool {
	return key.SerializeCompressed()[0] == secp256k1.PubKeyFormatCompressedOdd
}

// coefficient is what the key of a participant is multiplied by (BIP327, KeyAggCoeff).
func (s *musig) coefficient(participant []byte) *secp256k1.ModNScalar {
	for _, other := range s.raw {
		if bytes.Equal(other, s.raw[0]) {
			continue
		}
		if bytes.Equal(other, participant) {
			return new(secp256k1.ModNScalar).SetInt(1) // the second of different keys
		}
		break
	}
	list := tagged("KeyAgg list", s.raw...)
	hash := tagged("KeyAgg coefficient", list[:], participant)
	c := new(secp256k1.ModNScalar)
	c.SetBytes(&hash)
	return c
}
