package walletfile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
)

// errCache reports a range that cannot be derived from the cache.
var errCache = errors.New("range is not in the cache")

// DerivationText returns a descriptor that can be expanded without private
// keys: its extended keys are replaced by those of the cache. It has the same
// script at index or, if every is true, the same scripts at every index. A text
// of one index is needed only after hardened wildcards.
//
// Errors: one if the cache has no key for the index.
func (d *Descriptor) DerivationText(net *descriptor.Network, index uint32) (text string, every bool, err error) {
	body, _, _ := strings.Cut(d.Parsed.String(), "#")
	var out strings.Builder
	done, every := 0, true
	for _, key := range outermost(keyExpressions(body)) {
		if key.pqc {
			public, ok := d.p2mrKey(key, index)
			if !ok {
				return "", false, fmt.Errorf("key expression %d at index %d: %w", key.number, index, errCache)
			}
			out.WriteString(body[done : key.start-len("pqc(")])
			out.WriteString(hex.EncodeToString(public[:]))
			done, every = key.end+len(")"), every && key.last == noWildcard
			continue
		}
		xpub, ok := d.Parents[key.number]
		ok = ok && key.last != hardenedWildcard
		wild := key.last == plainWildcard
		if !ok {
			xpub, ok = d.Derived[key.number][index]
			every, wild = every && key.last == noWildcard, false
		}
		if !ok {
			return "", false, fmt.Errorf("key expression %d at index %d: %w", key.number, index, errCache)
		}
		out.WriteString(body[done:key.start])
		out.WriteString(encodeXpub(&xpub, net))
		if wild {
			out.WriteString("/*")
		}
		done = key.end
	}
	out.WriteString(body[done:])
	return descriptor.AddChecksum(out.String()), every, nil
}

// checkRange checks that the cache has what the scripts of the range need. As
// in Core, no two indices may have the same script.
func (d *Descriptor) checkRange() error {
	if d.RangeStart >= d.RangeEnd {
		return nil
	}
	size := int64(d.RangeEnd) - int64(d.RangeStart)
	switch {
	case d.RangeStart < 0:
		return errCache
	case size > 1 && !d.Parsed.IsRanged():
		return errCache
	}
	body, _, _ := strings.Cut(d.Parsed.String(), "#")
	for _, key := range outermost(keyExpressions(body)) {
		if key.pqc && !d.p2mrIn(key) {
			return errCache
		}
		if _, ok := d.Parents[key.number]; ok && key.last != hardenedWildcard {
			continue
		}
		if d.derivedIn(key.number) < size {
			return errCache
		}
	}
	return nil
}

// p2mrKey returns the public key that a pqc() has at an index.
func (d *Descriptor) p2mrKey(key keyExpression, index uint32) (public [pqcPublicSize]byte, ok bool) {
	if key.last == noWildcard {
		index = 0
	}
	for _, cached := range d.SlowKeys {
		if cached.Expression == key.number && cached.Index == index {
			return cached.Public, true
		}
	}
	return public, false
}

// p2mrIn reports whether the public keys of a pqc() are in the cache for the
// range.
func (d *Descriptor) p2mrIn(key keyExpression) bool {
	if key.last == noWildcard {
		_, ok := d.p2mrKey(key, 0)
		return ok
	}
	seen := make(map[uint32]bool)
	for _, cached := range d.SlowKeys {
		inRange := int64(cached.Index) >= int64(d.RangeStart) && int64(cached.Index) < int64(d.RangeEnd)
		if cached.Expression == key.number && inRange {
			seen[cached.Index] = true
		}
	}
	return len(seen) == int(int64(d.RangeEnd)-int64(d.RangeStart))
}

// derivedIn counts the indices of the range that have a key in the cache.
func (d *Descriptor) derivedIn(expression uint32) (n int64) {
	for index := range d.Derived[expression] {
		if int64(index) >= int64(d.RangeStart) && int64(index) < int64(d.RangeEnd) {
			n++
		}
	}
	return n
}

// outermost returns the key expressions that take their keys from the cache,
// without the participants of a musig that does so itself.
func outermost(keys []keyExpression) []keyExpression {
	var kept []keyExpression
	for _, key := range keys {
		if !key.extended {
			continue
		}
		for len(kept) > 0 && kept[len(kept)-1].start > key.start {
			kept = kept[:len(kept)-1]
		}
		kept = append(kept, key)
	}
	return kept
}

// encodeXpub returns the text of an extended public key.
func encodeXpub(key *ExtKey, net *descriptor.Network) string {
	payload := append(net.HDPublicKeyID[:], key[:]...)
	return base58.Encode(append(payload, chainhash.DoubleHashB(payload)[:4]...))
}
