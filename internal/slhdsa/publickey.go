package slhdsa

import (
	"encoding/hex"
	"fmt"
)

// A PublicKey is the public seed of a key and the root of its hypertree. Any 32
// bytes are a public key; those that nobody made verify nothing.
type PublicKey [PublicKeySize]byte

// ParsePublicKey reads a public key, or returns [ErrKeySize].
func ParsePublicKey(raw []byte) (PublicKey, error) {
	if len(raw) != PublicKeySize {
		return PublicKey{}, fmt.Errorf("public key of %d bytes: %w", len(raw), ErrKeySize)
	}
	return PublicKey(raw), nil
}

// String returns the key in hex.
func (k PublicKey) String() string { return hex.EncodeToString(k[:]) }

func (k PublicKey) seed() node { return node(k[:nodeSize]) }
func (k PublicKey) root() node { return node(k[nodeSize:]) }

// Verify says whether the signature, which may be any bytes, is one of the
// message by the key. It takes about 14,000 compressions of SHA-256, at most
// 340,000 for one made to be slow.
func (k PublicKey) Verify(message, signature []byte) bool {
	return bounded.verify(&k, message, signature) == accepted
}

// A verdict says how a verification ended.
type verdict int

const (
	accepted verdict = iota
	wrongSize
	wrongLastIndex
	noCounter
	wrongRoot
)

// verify is Verify of an instance.
func (p params) verify(key *PublicKey, message, signature []byte) verdict {
	if len(signature) != p.signatureSize() {
		return wrongSize
	}
	salt := node(signature)
	full := newSalted(key, message).hash(&salt)
	if p.lastIndex(&full) != 0 {
		return wrongLastIndex
	}
	d := p.digestOf(&full)
	seed := key.seed()
	t := newTweak(&seed)
	m := p.forsKeyOf(t, &d, signature[nodeSize:])
	at := place{tree: d.tree, leaf: d.leaf}
	for layer := range p.layers {
		var err error
		if m, err = p.layerRootOf(t, at, &m, p.layerOf(signature, layer)); err != nil {
			return noCounter
		}
		at = p.above(at)
	}
	if m != key.root() {
		return wrongRoot
	}
	return accepted
}

// layerOf returns the part of a signature that is of a layer.
func (p params) layerOf(signature []byte, layer int) []byte {
	return signature[p.layersAt()+layer*p.layerSize():][:p.layerSize()]
}
