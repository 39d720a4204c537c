package descriptor

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha512"
	"slices"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
)

// EncodeXPub returns the text of an extended public key.
func EncodeXPub(key XPub, net *Network) string {
	return encodeBase58Check(net.orMain().HDPublicKeyID[:], key[:])
}

// EncodeXPrv returns the text of an extended key with its private key, for the caller
// to overwrite.
func EncodeXPrv(key XPub, scalar *[32]byte, net *Network) []byte {
	payload := append(make([]byte, 0, hdkey.PayloadSize), key[:hdkey.PayloadSize-keyLen]...)
	payload = append(append(payload, 0), scalar[:]...)
	defer clear(payload)
	return appendBase58Check(make([]byte, 0, maxBase58Len), net.orMain().HDPrivateKeyID[:], payload)
}

// DeriveKey is [DeriveXPrv] of the private key alone.
func DeriveKey(root *XPub, scalar *[32]byte, path []uint32) (PrivateKey, bool) {
	_, secret, ok := DeriveXPrv(root, scalar, path)
	return PrivateKey{Scalar: secret, Compressed: ok}, ok
}

// ParseXPub reads the text of an extended public key of the network.
func ParseXPub(text string, net *Network) (XPub, bool) {
	raw, ok := decodeBase58Check(text)
	if !ok || len(raw) != 4+hdkey.PayloadSize || !net.orMain().xpub([4]byte(raw)) {
		return XPub{}, false
	}
	key := XPub(raw[4:])
	_, ok = hdkey.ParsePublic(&key)
	return key, ok
}

// Master returns the root of the keys that are derived from a seed, and its
// private key. It is false for one seed in 2^127.
//
// Source: BIP32.
func Master(seed []byte) (root XPub, scalar [32]byte, ok bool) {
	mac := hmac.New(sha512.New, []byte("Bitcoin seed"))
	mac.Write(seed)
	sum := mac.Sum(nil)
	defer clear(sum)
	var payload [hdkey.PayloadSize]byte
	defer clear(payload[:])
	copy(payload[9:], sum[32:])
	copy(payload[hdkey.PayloadSize-32:], sum[:32])
	key, ok := hdkey.ParsePrivate(&payload)
	if !ok {
		return XPub{}, scalar, false
	}
	return key.PublicPayload(), [32]byte(sum[:32]), true
}

// ParseWIF reads a private key in wallet import format, for the caller to overwrite. It
// is false for a text that is none, or one of another network.
func ParseWIF(text string, net *Network) (PrivateKey, bool) {
	own := *net.orMain()
	own.Foreign = nil
	secret, ok := decodeWIF(text, &own)
	if !ok {
		return PrivateKey{}, false
	}
	defer secret.scalar.Zero()
	return PrivateKey{Scalar: secret.scalar.Bytes(), Compressed: secret.compressed}, true
}

// PublicKey returns the public key in the form that is used, 33 or 65 bytes. It
// is nil for a scalar that is no private key.
func (k *PrivateKey) PublicKey() []byte {
	secret := secretKey{compressed: k.Compressed}
	if overflow := secret.scalar.SetBytes(&k.Scalar); overflow != 0 || secret.scalar.IsZero() {
		return nil
	}
	return secret.public()
}

// ExtendedKeys returns the extended keys as they stand in the descriptor, in
// the order of the text and without participants of musig().
func (d *Descriptor) ExtendedKeys() []XPub {
	var keys []XPub
	for _, k := range d.keys {
		if e, ok := k.keySource.(*extendedKey); ok {
			keys = append(keys, e.root.PublicPayload())
		}
	}
	return keys
}

// PrivateKeys returns copies of the private keys of the descriptor: of constant keys, and the roots of extended keys.
// Each key is there once. The caller overwrites the copies.
func (d *Descriptor) PrivateKeys() []PrivateKey {
	n := 0
	for range d.expressions {
		n++
	}
	keys := make([]PrivateKey, 0, n) // nothing is left where it would have grown
	for k := range d.expressions {
		if key, ok := k.privateKey(); ok && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Prepare derives what the private keys of all indices come from: the keys at the ends of the paths, which takes as
// long as an index or longer. Nobody else may use the descriptor, or other branches of it, at the same time.
func (d *Descriptor) Prepare() {
	for k := range d.expressions {
		source, extended := k.keySource.(*extendedKey)
		if !extended || !source.root.Private() || source.ends[d.branch] != nil {
			continue
		}
		end, err := source.root.Derive(source.path.of(d.branch)...)
		if err != nil {
			continue // a later request for a key gets the error
		}
		if source.ends == nil {
			source.ends = make(map[int]*hdkey.Key)
		}
		source.ends[d.branch] = &end
	}
}

// Wipe overwrites the private keys of the descriptor and of the other branches of
// the same text. None of these keys can be used any more.
func (d *Descriptor) Wipe() {
	for k := range d.expressions {
		switch source := k.keySource.(type) {
		case *constantKey:
			if source.secret != nil {
				source.secret.scalar.Zero()
			}
		case *extendedKey:
			source.root.Wipe()
			for _, end := range source.ends {
				end.Wipe()
			}
		}
	}
}

// HasAllPrivateKeys reports whether the private keys are enough to sign for
// every key expression. For musig() they never are, as in Core.
func (d *Descriptor) HasAllPrivateKeys() bool {
	for _, k := range d.keys {
		if _, aggregate := k.keySource.(*musigKey); aggregate || !k.private() {
			return false
		}
	}
	return len(d.keys) > 0
}

// expressions visits all key expressions in their order: see [Cache].
func (d *Descriptor) expressions(visit func(*key) bool) {
	for _, k := range d.keys {
		if m, ok := k.keySource.(*musigKey); ok {
			for _, participant := range m.participants {
				if !visit(participant) {
					return
				}
			}
		}
		if !visit(k) {
			return
		}
	}
}

func (k *key) privateKey() (PrivateKey, bool) {
	var scalar secp256k1.ModNScalar
	compressed := true
	switch source := k.keySource.(type) {
	case *constantKey:
		if source.secret == nil {
			return PrivateKey{}, false
		}
		scalar, compressed = source.secret.scalar, source.secret.compressed
	case *extendedKey:
		if !source.root.Private() {
			return PrivateKey{}, false
		}
		scalar = source.root.Secret()
	default:
		return PrivateKey{}, false
	}
	return PrivateKey{Scalar: scalar.Bytes(), Compressed: compressed}, true
}

// CompareXPubs orders extended keys as Core does: by public key, then by chain
// code.
func CompareXPubs(a, b XPub) int {
	if c := bytes.Compare(a[hdkey.PayloadSize-keyLen:], b[hdkey.PayloadSize-keyLen:]); c != 0 {
		return c
	}
	const chainCode = 9
	return bytes.Compare(a[chainCode:chainCode+32], b[chainCode:chainCode+32])
}
