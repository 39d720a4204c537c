package wallets

import (
	"bytes"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/btcutil/hdkeychain"

	"github.com/seed61375155/trawl/descriptor"
)

// Places in the payload of an extended key (BIP32), in bytes.
const (
	depthAt     = 0
	parentAt    = 1
	childAt     = 5
	chainCodeAt = 9
	publicKeyAt = 41
)

// signingKeys returns the private keys of one index of a descriptor in wallet
// import format, as far as it holds them.
func signingKeys(d *descriptor.Descriptor, index uint32, net *descriptor.Network) []string {
	wanted, err := d.KeysAt(index)
	if err != nil {
		return nil
	}
	var found []string
	for _, private := range d.PrivateKeys() {
		public := private.PublicKey()
		for _, k := range wanted {
			if sameX(k.PublicKey, public) {
				found = append(found, wif(private.Scalar[:], private.Compressed, net))
			}
		}
		for _, xpub := range d.ExtendedKeys() {
			if bytes.Equal(xpub[publicKeyAt:], public) {
				found = append(found, derivedKeys(&xpub, &private, wanted, net)...)
			}
		}
		clear(private.Scalar[:])
	}
	return found
}

// derivedKeys returns the keys that an extended key leads to.
func derivedKeys(xpub *descriptor.XPub, private *descriptor.PrivateKey, wanted []descriptor.DerivedKey, net *descriptor.Network) []string {
	root := hdkeychain.NewExtendedKey(nil, private.Scalar[:], xpub[chainCodeAt:publicKeyAt],
		xpub[parentAt:childAt], xpub[depthAt], 0, true)
	var found []string
	for _, k := range wanted {
		// The path may begin above the root, with the steps of its origin.
		for skip := range len(k.Path) {
			if scalar := derive(root, k.Path[skip:], k.PublicKey); scalar != nil {
				found = append(found, wif(scalar, true, net))
				break
			}
		}
	}
	return found
}

// derive returns the private key at the end of a path, nil if it does not belong
// to a public key.
func derive(key *hdkeychain.ExtendedKey, path []uint32, public []byte) []byte {
	for _, step := range path {
		child, err := key.Derive(step)
		if err != nil {
			return nil
		}
		key = child
	}
	private, err := key.ECPrivKey()
	if err != nil || !sameX(private.PubKey().SerializeCompressed(), public) {
		return nil
	}
	return private.Serialize()
}

// sameX reports whether two public keys have the same x coordinate. Taproot knows
// no more of a key, and a key with the other y has the same secret but for its sign.
func sameX(a, b []byte) bool { return len(a) == len(b) && bytes.Equal(a[1:], b[1:]) }

// wif returns a private key in wallet import format.
func wif(scalar []byte, compressed bool, net *descriptor.Network) string {
	payload := bytes.Clone(scalar)
	defer clear(payload)
	if compressed {
		payload = append(payload, 1)
	}
	return base58.CheckEncode(payload, net.PrivateKeyID)
}
