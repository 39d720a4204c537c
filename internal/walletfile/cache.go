package walletfile

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// ParentCache is the record of the extended key whose children the wildcard of
// a key expression stands for, or of the key itself without a wildcard.
type ParentCache struct {
	Descriptor chainhash.Hash // id of the descriptor
	Expression uint32         // number of the key expression
	Xpub       ExtKey
}

// Key returns the key of the record.
func (p ParentCache) Key() []byte {
	return cacheKey("walletdescriptorcache", &p.Descriptor, p.Expression)
}

// Value returns the value of the record.
func (p ParentCache) Value() []byte { return appendBytes(nil, p.Xpub[:]) }

// DerivedCache is the record of the key of one index, which a hardened wildcard
// needs for every index of the range.
type DerivedCache struct {
	Descriptor chainhash.Hash // id of the descriptor
	Expression uint32         // number of the key expression
	Index      uint32
	Xpub       ExtKey
}

// Key returns the key of the record.
func (d DerivedCache) Key() []byte {
	return appendUint32(cacheKey("walletdescriptorcache", &d.Descriptor, d.Expression), d.Index)
}

// Value returns the value of the record.
func (d DerivedCache) Value() []byte { return appendBytes(nil, d.Xpub[:]) }

// LastHardenedCache is the record of the extended key after the last hardened
// step of a key expression.
type LastHardenedCache struct {
	Descriptor chainhash.Hash // id of the descriptor
	Expression uint32         // number of the key expression
	Xpub       ExtKey
}

// Key returns the key of the record.
func (l LastHardenedCache) Key() []byte {
	return cacheKey("walletdescriptorlhcache", &l.Descriptor, l.Expression)
}

// Value returns the value of the record.
func (l LastHardenedCache) Value() []byte { return appendBytes(nil, l.Xpub[:]) }

func cacheKey(name string, id *chainhash.Hash, expression uint32) []byte {
	return appendUint32(append(KeyPrefix(name), id[:]...), expression)
}

// parseCache reads a key with an index as derived, one without as parent.
func parseCache(key, value *cursor) Entry {
	id, expression := key.hash(), key.uint32()
	if key.err == nil && len(key.rest) >= 4 {
		return DerivedCache{Descriptor: id, Expression: expression, Index: key.uint32(), Xpub: value.extKey()}
	}
	return ParentCache{Descriptor: id, Expression: expression, Xpub: value.extKey()}
}

func parseLastHardened(key, value *cursor) Entry {
	return LastHardenedCache{Descriptor: key.hash(), Expression: key.uint32(), Xpub: value.extKey()}
}
