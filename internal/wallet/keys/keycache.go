package keys

import (
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// errOtherKey reports a derived key that is not the one in the cache.
var errOtherKey = errors.New("key differs from the one in the cache")

// keyCache holds the extended keys by which a descriptor is expanded without
// private keys. It implements [descriptor.Cache]; nothing is added while a
// range is being expanded.
type keyCache struct {
	keys         map[cachePlace]descriptor.XPub
	lastHardened int                               // number of keys after a last hardened step
	slow         map[descriptor.P2MRPlace][32]byte // keys of P2MR
}

type cachePlace struct {
	kind       descriptor.CacheKind
	expression int
	index      uint32
}

// cacheOf takes over the cache of a loaded descriptor.
func cacheOf(d *walletfile.Descriptor) *keyCache {
	c := &keyCache{}
	for n, key := range d.Parents {
		c.set(descriptor.CacheEntry{Kind: descriptor.CacheParent, Expression: int(n), Key: descriptor.XPub(key)})
	}
	for n, keys := range d.Derived {
		for index, key := range keys {
			c.set(descriptor.CacheEntry{
				Kind: descriptor.CacheDerived, Expression: int(n), Index: index, Key: descriptor.XPub(key),
			})
		}
	}
	for n, key := range d.LastHardened {
		c.set(descriptor.CacheEntry{Kind: descriptor.CacheLastHardened, Expression: int(n), Key: descriptor.XPub(key)})
	}
	for _, key := range d.SlowKeys {
		_, _ = c.mergeSlow(int(key.Expression), key.Index, key.Public) // each place is there once
	}
	return c
}

// Parent implements [descriptor.Cache].
func (c *keyCache) Parent(expression int) (descriptor.XPub, bool) {
	key, ok := c.keys[cachePlace{kind: descriptor.CacheParent, expression: expression}]
	return key, ok
}

// Derived implements [descriptor.Cache].
func (c *keyCache) Derived(expression int, index uint32) (descriptor.XPub, bool) {
	key, ok := c.keys[cachePlace{kind: descriptor.CacheDerived, expression: expression, index: index}]
	return key, ok
}

// LastHardened implements [descriptor.Cache].
func (c *keyCache) LastHardened(expression int) (descriptor.XPub, bool) {
	key, ok := c.keys[cachePlace{kind: descriptor.CacheLastHardened, expression: expression}]
	return key, ok
}

// P2MR implements [descriptor.Cache].
func (c *keyCache) P2MR(expression int, index uint32) (key [32]byte, ok bool) {
	key, ok = c.slow[descriptor.P2MRPlace{Expression: expression, Index: index}]
	return key, ok
}

func placeOf(e descriptor.CacheEntry) cachePlace {
	return cachePlace{kind: e.Kind, expression: e.Expression, index: e.Index}
}

func (c *keyCache) set(e descriptor.CacheEntry) {
	if c.keys == nil {
		c.keys = make(map[cachePlace]descriptor.XPub)
	}
	c.keys[placeOf(e)] = e.Key
	if e.Kind == descriptor.CacheLastHardened {
		c.lastHardened++
	}
}

// entries returns what the cache has, but for keys of P2MR.
func (c *keyCache) entries() []descriptor.CacheEntry {
	all := make([]descriptor.CacheEntry, 0, len(c.keys))
	for at, key := range c.keys {
		all = append(all, descriptor.CacheEntry{Kind: at.kind, Expression: at.expression, Index: at.index, Key: key})
	}
	return all
}

// merge adds what is not there yet, and returns it.
func (c *keyCache) merge(entries []descriptor.CacheEntry) (added []descriptor.CacheEntry, err error) {
	for _, e := range entries {
		old, ok := c.keys[placeOf(e)]
		switch {
		case !ok:
			c.set(e)
			added = append(added, e)
		case old != e.Key:
			return added, errOtherKey
		}
	}
	return added, nil
}

// mergeSlow adds a key that pqc() has, and reports whether it was not there yet.
func (c *keyCache) mergeSlow(expression int, index uint32, key [32]byte) (added bool, err error) {
	at := descriptor.P2MRPlace{Expression: expression, Index: index}
	if old, ok := c.slow[at]; ok {
		if old != key {
			return false, errOtherKey
		}
		return false, nil
	}
	if c.slow == nil {
		c.slow = make(map[descriptor.P2MRPlace][32]byte)
	}
	c.slow[at] = key
	return true, nil
}

// derivable reports whether the keys of P2MR of an index are there.
func (c *keyCache) derivable(d *descriptor.Descriptor, index int32) bool {
	for _, at := range d.P2MRPlaces(uint32(index)) {
		if _, ok := c.slow[at]; !ok {
			return false
		}
	}
	return true
}

// cacheRecord returns the record of a key in the cache of a descriptor.
func cacheRecord(id chainhash.Hash, e descriptor.CacheEntry) walletfile.Entry {
	expression, key := uint32(e.Expression), walletfile.ExtKey(e.Key)
	switch e.Kind {
	case descriptor.CacheDerived:
		return walletfile.DerivedCache{Descriptor: id, Expression: expression, Index: e.Index, Xpub: key}
	case descriptor.CacheLastHardened:
		return walletfile.LastHardenedCache{Descriptor: id, Expression: expression, Xpub: key}
	default:
		return walletfile.ParentCache{Descriptor: id, Expression: expression, Xpub: key}
	}
}
