package descriptor

import (
	"slices"

	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
)

// CacheKind says what a [CacheEntry] is asked for.
type CacheKind int

// The kinds of entries, in the order in which wallets write them.
const (
	CacheParent CacheKind = iota
	CacheDerived
	CacheLastHardened
)

// CacheEntry is what a [Cache] must know of one key expression.
type CacheEntry struct {
	Kind       CacheKind
	Expression int
	Index      uint32 // of CacheDerived
	Key        XPub
}

// CacheEntries returns what a [Cache] must know for the indices from first to
// last, both included: by kind, then in the order of the expressions, then by
// index. The parent is among it also where it can be derived, as in Core's
// wallets, which take all keys from their caches.
//
// Errors: [ErrNeedsPrivateKey], [ErrNotDerivable].
func (d *Descriptor) CacheEntries(first, last uint32) ([]CacheEntry, error) {
	var entries []CacheEntry
	for k := range d.expressions {
		e, err := k.derives(d.branch)
		if err == nil && e != nil {
			entries, err = e.appendCache(entries, d.branch, k.expression, first, last)
		}
		if err != nil {
			return nil, derivationError(err)
		}
	}
	slices.SortStableFunc(entries, func(a, b CacheEntry) int { return int(a.Kind) - int(b.Kind) })
	return entries, nil
}

// derives returns the extended key that the keys are derived from, if any.
func (k *key) derives(branch int) (*extendedKey, error) {
	switch source := k.keySource.(type) {
	case *extendedKey:
		return source, nil
	case *musigKey:
		if !source.derives() {
			return nil, nil
		}
		aggregate := musigKey{participants: source.participants}
		keys, err := aggregate.open(opening{branch: branch})
		if err != nil {
			return nil, err
		}
		return source.synthetic(keys.fixed), nil
	}
	return nil, nil
}

func (e *extendedKey) appendCache(
	entries []CacheEntry, branch, expression int, first, last uint32,
) ([]CacheEntry, error) {
	parent, lastHardened, err := e.follow(branch)
	if err != nil {
		return nil, err
	}
	if e.last == hardenedWildcard {
		return appendHardened(entries, &parent, expression, first, last)
	}
	entries = append(entries, CacheEntry{Kind: CacheParent, Expression: expression, Key: parent.PublicPayload()})
	if lastHardened != nil {
		key := lastHardened.PublicPayload()
		entries = append(entries, CacheEntry{Kind: CacheLastHardened, Expression: expression, Key: key})
	}
	return entries, nil
}

func appendHardened(
	entries []CacheEntry, parent *hdkey.Key, expression int, first, last uint32,
) ([]CacheEntry, error) {
	for index := first; index <= last; index++ {
		child, err := parent.Child(index | hdkey.Hardened)
		if err != nil {
			return nil, err
		}
		entry := CacheEntry{Kind: CacheDerived, Expression: expression, Index: index, Key: child.PublicPayload()}
		entries = append(entries, entry)
	}
	return entries, nil
}

// follow derives along the path; lastHardened is nil without a hardened step.
func (e *extendedKey) follow(branch int) (parent hdkey.Key, lastHardened *hdkey.Key, err error) {
	parent = e.root
	for _, step := range e.path.of(branch) {
		if parent, err = parent.Child(step); err != nil {
			return parent, nil, err
		}
		if step&hdkey.Hardened != 0 {
			hardened := parent
			lastHardened = &hardened
		}
	}
	return parent, lastHardened, nil
}
