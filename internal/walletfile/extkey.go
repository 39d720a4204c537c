package walletfile

import (
	"encoding/binary"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// extKeySize is the length of a BIP32 payload without its version.
const extKeySize = 74

// ExtKey is an extended public key: the payload of BIP32 without its version.
// The first byte is the depth; fingerprint, child number (big endian), chain
// code and public key follow.
type ExtKey [extKeySize]byte

// PublicKey returns the compressed public key.
func (k *ExtKey) PublicKey() []byte { return k[extKeySize-33:] }

// Depth returns the number of steps from the root.
func (k *ExtKey) Depth() uint8 { return k[0] }

// Child returns the child number, of which the top bit means hardened.
func (k *ExtKey) Child() uint32 { return binary.BigEndian.Uint32(k[5:9]) }

// valid reports whether the public key is a point of the curve, and whether a
// root has neither parent nor number.
func (k *ExtKey) valid() bool {
	if k.Depth() == 0 && binary.BigEndian.Uint64(k[1:9]) != 0 {
		return false
	}
	_, err := secp256k1.ParsePubKey(k.PublicKey())
	return err == nil
}

// extKey reads an extended key with its length.
func (c *cursor) extKey() (k ExtKey) {
	packed := c.bytes()
	if c.err != nil {
		return k
	}
	if len(packed) != extKeySize {
		c.fail(errExtKey)
		return k
	}
	k = ExtKey(packed)
	if !k.valid() {
		c.fail(errExtKey)
	}
	return k
}
