package descriptor

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
	"github.com/seed61375155/trawl/internal/p2mr"
)

// pqc reports whether the key stands within pqc().
func (k *key) pqc() bool {
	e, ok := k.keySource.(*extendedKey)
	return ok && e.pqc
}

// openPQC prepares to take the keys of P2MR from the cache, or to make them from
// the private keys at the end of the path, which takes milliseconds each.
func (e *extendedKey) openPQC(o opening) (publicKeys, error) {
	s := &pqcStream{opening: o}
	parent, err := e.root.Derive(e.path.of(o.branch)...)
	switch {
	case err == nil && parent.Private():
		s.source, s.last = &parent, e.last
	case err != nil && !errors.Is(err, ErrNeedsPrivateKey):
		return publicKeys{}, err
	case o.cache == nil:
		return publicKeys{}, ErrNeedsPrivateKey
	}
	if e.last != noWildcard {
		return publicKeys{stream: func() (keyStream, error) { return s, nil }}, nil
	}
	public := make([]byte, keyLen)
	return publicKeys{fixed: public}, s.PublicKeys(public, 0)
}

// pqcStream makes keys of P2MR, each behind a byte that takes the place of the
// first byte of other keys.
type pqcStream struct {
	opening

	source *hdkey.Key // at the end of the path; nil: the private key is not known
	last   wildcard
}

// PublicKeys implements keyStream.
func (s *pqcStream) PublicKeys(dst []byte, first uint32) error {
	for i := range len(dst) / keyLen {
		public, err := s.public(first + uint32(i))
		if err != nil {
			return err
		}
		dst[i*keyLen] = 0
		copy(dst[i*keyLen+1:], public[:])
	}
	return nil
}

func (s *pqcStream) public(index uint32) ([p2mrKeyLen]byte, error) {
	if s.cache != nil {
		if public, ok := s.cache.P2MR(s.expression, index); ok {
			return public, nil
		}
	}
	if s.source == nil {
		return [p2mrKeyLen]byte{}, ErrNeedsPrivateKey
	}
	from, err := p2mrSource(s.source, s.last, index)
	if err != nil {
		return [p2mrKeyLen]byte{}, err
	}
	defer from.Zero()
	key, err := from.Key()
	if err != nil {
		return [p2mrKeyLen]byte{}, err
	}
	defer key.Zero()
	return key.Public(), nil
}

// p2mrSource returns what the key of one index is made from.
func p2mrSource(parent *hdkey.Key, last wildcard, index uint32) (p2mr.Source, error) {
	child := *parent
	var err error
	switch last {
	case unhardenedWildcard:
		child, err = parent.Child(index)
	case hardenedWildcard:
		child, err = parent.Child(index | hdkey.Hardened)
	case noWildcard:
		index = 0
	}
	if err != nil {
		return p2mr.Source{}, err
	}
	scalar := child.Secret()
	return p2mr.Source{Scalar: scalar.Bytes(), Index: index}, nil
}

// A P2MRPlace is where a key of P2MR is in a [Cache].
type P2MRPlace struct {
	Expression int
	Index      uint32 // 0 without a wildcard
}

// P2MRPlaces returns the places of the keys of P2MR that the scripts of an index
// are made of.
func (d *Descriptor) P2MRPlaces(index uint32) []P2MRPlace {
	var places []P2MRPlace
	for k := range d.expressions {
		switch {
		case !k.pqc():
		case k.ranged():
			places = append(places, P2MRPlace{k.expression, index})
		default:
			places = append(places, P2MRPlace{k.expression, 0})
		}
	}
	return places
}

// A P2MRKey is a private key of P2MR that is derived from an extended key.
type P2MRKey struct {
	Expression int    // number of the key expression: see [Cache]
	Index      uint32 // 0 without a wildcard
	Public     [p2mrKeyLen]byte
	Secret     []byte // 64 bytes, the last 32 of which are Public; the caller's to wipe
}

// P2MRKeys makes the keys of P2MR of the indices from first to last, both
// included, on all processors: in the order of the expressions, then by index.
// Descriptors that are not ranged have those of index 0 only. It takes
// milliseconds for each key, and returns none if the context ends first.
//
// Errors: [ErrNeedsPrivateKey], [ErrNotDerivable], that of the context.
func (d *Descriptor) P2MRKeys(ctx context.Context, first, last uint32) ([]P2MRKey, error) {
	var keys []P2MRKey
	var sources []p2mr.Source
	defer func() { clear(sources) }()
	for k := range d.expressions {
		if !k.pqc() {
			continue
		}
		e := k.keySource.(*extendedKey) //nolint:forcetypeassert // see pqc
		parent, err := e.root.Derive(e.path.of(d.branch)...)
		if err == nil && !parent.Private() {
			err = ErrNeedsPrivateKey
		}
		if err != nil {
			return nil, derivationError(err)
		}
		from, to := first, last
		if e.last == noWildcard {
			from, to = 0, 0
		}
		for index := uint64(from); index <= uint64(to); index++ {
			source, err := p2mrSource(&parent, e.last, uint32(index))
			if err != nil {
				return nil, derivationError(err)
			}
			sources = append(sources, source)
			keys = append(keys, P2MRKey{Expression: k.expression, Index: uint32(index)})
		}
	}
	private, err := p2mr.DeriveKeys(ctx, sources)
	if err != nil {
		return nil, err
	}
	for i, key := range private {
		keys[i].Public, keys[i].Secret = key.Public(), key.Bytes()
		key.Zero()
	}
	return keys, nil
}
