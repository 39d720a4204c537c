package descriptor

import (
	"encoding/hex"
	"slices"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
)

// DerivedKey is a public key that a script is made of, and where it is from.
type DerivedKey struct {
	Expression int    // number of the key expression: see [Cache]
	PublicKey  []byte // 33 bytes, or 65 for an uncompressed one, or 32 for one of P2MR

	// Fingerprint is that of the key at which Path begins: of the key itself
	// if Path is empty. In Path, hardened child numbers have the highest bit.
	Fingerprint [4]byte
	Path        []uint32
}

// String returns the origin as in a key expression, and the public key.
func (k DerivedKey) String() string {
	text := append([]byte{'['}, hex.EncodeToString(k.Fingerprint[:])...)
	text = append(appendPath(text, k.Path, 'h'), ']')
	return string(hex.AppendEncode(text, k.PublicKey))
}

// KeysAt returns the keys of one index in the order of their expressions,
// those of participants of musig() included.
//
// Errors: [ErrNeedsPrivateKey], [ErrNotDerivable].
func (d *Descriptor) KeysAt(index uint32) ([]DerivedKey, error) {
	if index > MaxIndex {
		return nil, ErrNotDerivable
	}
	var keys []DerivedKey
	for _, k := range d.keys {
		var err error
		if keys, err = d.appendKeys(keys, k, index); err != nil {
			return nil, derivationError(err)
		}
	}
	return keys, nil
}

func (d *Descriptor) appendKeys(keys []DerivedKey, k *key, index uint32) ([]DerivedKey, error) {
	first := len(keys)
	if m, ok := k.keySource.(*musigKey); ok {
		for _, participant := range m.participants {
			var err error
			if keys, err = d.appendKeys(keys, participant, index); err != nil {
				return nil, err
			}
		}
	}
	open, err := k.openKeys(d.branch, d.cache)
	if err != nil {
		return nil, err
	}
	public, err := open.at(index)
	if err != nil {
		return nil, err
	}
	if k.pqc() {
		public = public[1:]
	}
	derived := DerivedKey{Expression: k.expression, PublicKey: public}
	derived.Fingerprint, derived.Path, err = k.originAt(d.branch, index, public, keys[first:])
	return append(keys, derived), err
}

// originAt returns where the public key of an index is from. participants are
// those of a musig().
func (k *key) originAt(
	branch int, index uint32, public []byte, participants []DerivedKey,
) (fingerprint [4]byte, path []uint32, err error) {
	fingerprint = [4]byte(btcutil.Hash160(public))
	switch source := k.keySource.(type) {
	case *extendedKey:
		fingerprint, path = source.originAt(branch, index)
	case *musigKey:
		if source.derives() {
			fingerprint, path, err = source.originAt(branch, index, participants)
		}
	}
	if k.origin != nil {
		fingerprint, path = k.origin.fingerprint, slices.Concat(k.origin.steps, path)
	}
	return fingerprint, path, err
}

func (e *extendedKey) originAt(branch int, index uint32) (fingerprint [4]byte, path []uint32) {
	path = slices.Clone(e.path.of(branch))
	switch e.last {
	case unhardenedWildcard:
		path = append(path, index)
	case hardenedWildcard:
		path = append(path, index|hdkey.Hardened)
	case noWildcard:
	}
	return e.root.Fingerprint(), path
}

// originAt is for keys that are derived from the aggregate key.
func (m *musigKey) originAt(
	branch int, index uint32, participants []DerivedKey,
) (fingerprint [4]byte, path []uint32, err error) {
	public := make([][]byte, len(participants))
	for i, p := range participants {
		public[i] = p.PublicKey
	}
	aggregate, err := aggregateKeys(public)
	if err != nil {
		return fingerprint, nil, err
	}
	fingerprint, path = m.synthetic(aggregate).originAt(branch, index)
	return fingerprint, path, nil
}
