package wallets

import (
	"bytes"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx"
)

// publicKeyAt is where the payload of an extended key (BIP32) has its public key.
const publicKeyAt = 41

// addSigningKeys adds the private keys of one index of a descriptor, as far as it
// holds them. Nothing of them is left elsewhere.
func addSigningKeys(to rawtx.Keys, d *descriptor.Descriptor, index uint32) {
	wanted, err := d.KeysAt(index)
	if err != nil {
		return
	}
	private := d.PrivateKeys()
	defer clear(private)
	for i := range private {
		public := private[i].PublicKey()
		for _, k := range wanted {
			if sameX(k.PublicKey, public) {
				to.AddScalar(&private[i].Scalar, private[i].Compressed)
			}
		}
		for _, xpub := range d.ExtendedKeys() {
			if bytes.Equal(xpub[publicKeyAt:], public) {
				addDerivedKeys(to, &xpub, &private[i], wanted)
			}
		}
	}
}

// addDerivedKeys adds the keys that an extended key leads to.
func addDerivedKeys(
	to rawtx.Keys, xpub *descriptor.XPub, private *descriptor.PrivateKey, wanted []descriptor.DerivedKey,
) {
	for _, k := range wanted {
		// The path may begin above the root, with the steps of its origin.
		for skip := range len(k.Path) {
			if addDerived(to, xpub, private, k.Path[skip:], k.PublicKey) {
				break
			}
		}
	}
}

// addDerived adds the private key at the end of a path, if it belongs to a public
// key.
func addDerived(
	to rawtx.Keys, xpub *descriptor.XPub, private *descriptor.PrivateKey, path []uint32, public []byte,
) bool {
	key, ok := descriptor.DeriveKey(xpub, &private.Scalar, path)
	defer clear(key.Scalar[:])
	return ok && sameX(key.PublicKey(), public) && to.AddScalar(&key.Scalar, true)
}

// sameX reports whether two public keys have the same x coordinate. Taproot knows
// no more of a key, and a key with the other y has the same secret but for its sign.
func sameX(a, b []byte) bool { return len(a) == len(b) && bytes.Equal(a[1:], b[1:]) }
