package keys

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/messages"
)

// Export returns the public keys of P2MR of all descriptors, with their
// places as far as these are known.
func (p *PubKeys) Export() []messages.PubKey {
	var keys []messages.PubKey
	for _, m := range p.set.managers {
		if m.desc.OutputType() == descriptor.MerkleRoot {
			keys = append(keys, p.exportKeys(m)...)
		}
	}
	slices.SortFunc(keys, comparePubKeys)
	return slices.CompactFunc(keys, func(a, b messages.PubKey) bool { return comparePubKeys(a, b) == 0 })
}

// comparePubKeys orders keys, and then their places; what is not known comes
// first.
func comparePubKeys(a, b messages.PubKey) int {
	return cmp.Or(
		comparePQC(a.Key, b.Key),
		compareOptional(a.Account, b.Account, cmp.Compare[int64]),
		compareOptional(a.Change, b.Change, func(a, b bool) int { return cmp.Compare(flag(a), flag(b)) }),
		compareOptional(a.Index, b.Index, cmp.Compare[int64]),
	)
}

func compareOptional[T any](a, b *T, compare func(a, b T) int) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return compare(*a, *b)
}

// exportKeys returns the keys of a descriptor: those that were derived, else the
// key that it names, else those that are stored in the vault.
func (p *PubKeys) exportKeys(m *descriptorManager) []messages.PubKey {
	place := p.placeOf(m)
	var keys []messages.PubKey
	for at, key := range m.cache.slow {
		exported := place
		if m.desc.IsRanged() {
			index := int64(at.Index)
			exported.Index = &index
		}
		keys = append(keys, p.exported(key, exported))
	}
	if keys != nil {
		return keys
	}
	if key, ok := namedKey(m.desc); ok {
		return append(keys, p.exported(key, place))
	}
	for _, public := range p.vault.PQCKeys(m.id()) {
		keys = append(keys, p.exported(public, place))
	}
	return keys
}

// exported returns a key with its place: that of the pool, or the given one.
func (p *PubKeys) exported(key slhdsa.PublicKey, place messages.PubKey) messages.PubKey {
	place.Key = key
	if at, ok := p.pubKeys.places[key]; ok {
		place.Account, place.Change, place.Index = &at.account, &at.internal, &at.index
	}
	return place
}

// placeOf returns what a descriptor tells of the place of its keys.
func (p *PubKeys) placeOf(m *descriptorManager) messages.PubKey {
	place := pathPlace(m.desc)
	if active, internal := p.set.isActive(m); active {
		place.Change = &internal
	}
	if first := m.scripts[0]; place.Change == nil && !m.desc.IsRanged() && first != nil {
		change := !p.set.listed(first.bytes)
		place.Change = &change
	}
	return place
}

// pathPlace reads the place off the path of a standard descriptor:
// 87h, a type of coin, an account, 0 or 1 for change, an index or a wildcard.
func pathPlace(d *descriptor.Descriptor) (place messages.PubKey) {
	body, _, _ := strings.Cut(d.String(), "#")
	inner, ok := strings.CutPrefix(body, "mr(pk(pqc(")
	inner, closed := strings.CutSuffix(inner, ")))")
	steps := strings.Split(inner, "/")
	const key, purpose, coin, account, change, index = 0, 1, 2, 3, 4, 5
	if !ok || !closed || len(steps) != index+1 || steps[key] == "" {
		return place
	}
	bip, isBIP := hardenedNumber(steps[purpose])
	_, isCoin := hardenedNumber(steps[coin])
	number, isAccount := hardenedNumber(steps[account])
	if !isBIP || bip != 87 || !isCoin || !isAccount || steps[change] != "0" && steps[change] != "1" {
		return place
	}
	isChange := steps[change] == "1"
	place.Account, place.Change = &number, &isChange
	if fixed, err := strconv.ParseInt(steps[index], 10, 64); err == nil && fixed >= 0 {
		place.Index = &fixed
	}
	return place
}

func hardenedNumber(step string) (int64, bool) {
	number := strings.TrimRight(step, "h'")
	if len(number) != len(step)-1 {
		return 0, false
	}
	n, err := strconv.ParseInt(number, 10, 64)
	return n, err == nil
}

// namedKey returns the key of a descriptor that names one.
func namedKey(d *descriptor.Descriptor) (slhdsa.PublicKey, bool) {
	body, _, _ := strings.Cut(d.String(), "#")
	inner, ok := strings.CutPrefix(body, "mr(pk(")
	inner, closed := strings.CutSuffix(inner, "))")
	if !ok || !closed {
		return slhdsa.PublicKey{}, false
	}
	raw, err := hexKey(inner)
	return raw, err == nil
}

func hexKey(text string) (slhdsa.PublicKey, error) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return slhdsa.PublicKey{}, err
	}
	return slhdsa.ParsePublicKey(raw)
}

func comparePQC(a, b slhdsa.PublicKey) int { return bytes.Compare(a[:], b[:]) }
