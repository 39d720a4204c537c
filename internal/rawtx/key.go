package rawtx

import (
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/curve"
)

// Keys are the private keys that may sign, by the hash of their public keys.
type Keys map[[20]byte]*key

// key is a private key and the public key it is used with.
type key struct {
	private    *btcec.PrivateKey
	public     []byte
	compressed bool
}

// AddWIF adds a private key in wallet import format. It reports false for a
// text that is none, or one of another network.
func (k Keys) AddWIF(text string, net *descriptor.Network) bool {
	key, ok := descriptor.ParseWIF(text, net)
	defer clear(key.Scalar[:])
	return ok && k.AddScalar(&key.Scalar, key.Compressed)
}

// AddScalar adds a private key, big endian; compressed says how its public key is
// used. It reports false for a number that is no private key. The caller wipes
// the scalar.
func (k Keys) AddScalar(private *[32]byte, compressed bool) bool {
	var scalar secp256k1.ModNScalar
	defer scalar.Zero()
	if overflow := scalar.SetByteSlice(private[:]); overflow || scalar.IsZero() {
		return false
	}
	public := curve.PublicKey(private, compressed)
	k[hash160(public)] = &key{secp256k1.NewPrivateKey(&scalar), public, compressed}
	return true
}

// Zero overwrites the private keys, which cannot be used any more.
func (k Keys) Zero() {
	for _, known := range k {
		known.private.Zero()
	}
	clear(k)
}

// byXOnly returns the key for a public key of which only the x coordinate is
// known, as taproot has them. Only keys that are used compressed are found.
func (k Keys) byXOnly(xOnly []byte) *key {
	for _, prefix := range []byte{secp256k1.PubKeyFormatCompressedEven, secp256k1.PubKeyFormatCompressedOdd} {
		if found := k[hash160(append([]byte{prefix}, xOnly...))]; found != nil {
			return found
		}
	}
	return nil
}

// Scripts are scripts that outputs pay to by a hash, by their own hash.
type Scripts map[[20]byte][]byte

// Add adds a script.
func (s Scripts) Add(script []byte) { s[hash160(script)] = script }

func hash160(data []byte) [20]byte { return [20]byte(btcutil.Hash160(data)) }
