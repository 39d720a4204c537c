package descriptor

import (
	"cmp"
	"slices"

	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
)

// NormalizedString returns the text with public keys only and with checksum, in
// the form from which all scripts can be derived. Extended keys are given at
// the last hardened step, with their origin. Hardened steps are marked with h.
// As in Core, keys with a hardened wildcard, and keys within miniscript, stay
// what they are: see [NormalizedPolicies].
//
// Errors: [ErrNeedsPrivateKey] if neither the private key is there nor the
// cache knows the extended key; [ErrNotDerivable].
func (d *Descriptor) NormalizedString() (string, error) {
	return normalized(d, &normalizer{cache: d.cache})
}

// NormalizedPolicies returns the text as [Descriptor.NormalizedString] does, with keys within miniscript in the
// same form as all others. Core does so since version 31.
//
// Errors: those of NormalizedString.
func NormalizedPolicies(d *Descriptor) (string, error) {
	return normalized(d, &normalizer{cache: d.cache, policies: true})
}

func normalized(d *Descriptor, n *normalizer) (string, error) {
	body := d.root.appendText(nil, form{net: d.net, branch: d.branch, normal: n})
	if n.err != nil {
		return "", derivationError(n.err)
	}
	return AddChecksum(string(body)), nil
}

// normalizer looks for extended keys at hardened steps.
type normalizer struct {
	cache    Cache
	policies bool  // also within miniscript
	err      error // the first one
}

// normalize returns the key expression with the extended key at its last
// hardened step; ok is false if it is to be printed as it is.
func (k *key) normalize(f form) (normal *key, ok bool) {
	e, extended := k.keySource.(*extendedKey)
	if f.normal == nil || !extended || e.last == hardenedWildcard {
		return nil, false
	}
	path := e.path.of(f.branch)
	start := len(path)
	for start > 0 && path[start-1]&hdkey.Hardened == 0 {
		start--
	}
	if start == 0 {
		return nil, false
	}
	root, err := f.normal.lastHardened(k, e, path[:start])
	if err != nil {
		f.normal.err = cmp.Or(f.normal.err, err)
		return nil, false
	}
	origin := &keyOrigin{fingerprint: e.root.Fingerprint(), steps: path[:start]}
	if k.origin != nil {
		origin = &keyOrigin{k.origin.fingerprint, slices.Concat(k.origin.steps, path[:start])}
	}
	rest := &extendedKey{root: root, path: keyPath{steps: path[start:]}, last: e.last}
	return &key{keySource: rest, origin: origin}, true
}

func (n *normalizer) lastHardened(k *key, e *extendedKey, path []uint32) (hdkey.Key, error) {
	if n.cache != nil {
		if root, ok := parseCached(n.cache.LastHardened(k.expression)); ok {
			return root, nil
		}
	}
	return e.root.Derive(path...)
}
