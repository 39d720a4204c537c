package descriptor

import "github.com/seed61375155/trawl/descriptor/internal/hdkey"

// XPub is a serialized extended public key without its version: depth, parent
// fingerprint, child number, chain code, public key (BIP32).
type XPub = [hdkey.PayloadSize]byte

// Cache knows extended public keys behind hardened steps, which were derived
// while the private keys were there. It is asked only for keys that cannot be
// derived. It must be safe for concurrent use.
//
// Key expressions are counted from 0 in the order of the text; participants
// come before their musig(), which counts too. Core counts the same way.
type Cache interface {
	// Parent returns the key at the end of the path, before the wildcard.
	Parent(expression int) (XPub, bool)

	// Derived returns the key of one index. Without wildcard that is 0.
	Derived(expression int, index uint32) (XPub, bool)

	// LastHardened returns the key at the last hardened step of the path.
	LastHardened(expression int) (XPub, bool)

	// P2MR returns the key of P2MR that pqc() has at an index. Without wildcard
	// that is 0.
	P2MR(expression int, index uint32) ([32]byte, bool)
}

// WithCache returns the descriptor with a cache.
func (d *Descriptor) WithCache(cache Cache) *Descriptor {
	cached := *d
	cached.cache = cache
	return &cached
}

// openCache prepares to take the keys from the cache.
func (e *extendedKey) openCache(o opening) (publicKeys, error) {
	if e.last == hardenedWildcard {
		return publicKeys{stream: func() (keyStream, error) { return (*cacheStream)(&o), nil }}, nil
	}
	parent, ok := parseCached(o.cache.Parent(o.expression))
	if e.last == noWildcard && !ok {
		parent, ok = parseCached(o.cache.Derived(o.expression, 0))
	}
	switch {
	case !ok:
		return publicKeys{}, ErrNeedsPrivateKey
	case e.last == noWildcard:
		return publicKeys{fixed: parent.PublicKey[:]}, nil
	default:
		return streamOf(&parent, false), nil
	}
}

func parseCached(payload XPub, ok bool) (hdkey.Key, bool) {
	if !ok {
		return hdkey.Key{}, false
	}
	return hdkey.ParsePublic(&payload)
}

// cacheStream takes the keys below a hardened wildcard from the cache.
type cacheStream opening

// PublicKeys implements keyStream.
func (s *cacheStream) PublicKeys(dst []byte, first uint32) error {
	for i := range len(dst) / keyLen {
		key, ok := parseCached(s.cache.Derived(s.expression, first+uint32(i)))
		if !ok {
			return ErrNeedsPrivateKey
		}
		copy(dst[i*keyLen:], key.PublicKey[:])
	}
	return nil
}
