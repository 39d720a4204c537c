package keys

import (
	"github.com/seed61375155/trawl/descriptor"
)

// Spenders finds the descriptors that tell how scripts are spent, with their private keys as far as the
// wallet is unlocked. It is of use until the wallet changes.
type Spenders struct {
	set     *Set
	private map[*descriptorManager]*descriptor.Descriptor
}

// A Place is an index of a descriptor.
type Place struct {
	Descriptor *descriptor.Descriptor
	Index      uint32
}

// Spenders returns what finds descriptors. The caller wipes it.
func (s *Set) Spenders() *Spenders {
	return &Spenders{set: s, private: make(map[*descriptorManager]*descriptor.Descriptor)}
}

// Wipe overwrites the private keys. The descriptors that were found cannot be used any more.
func (x *Spenders) Wipe() {
	for _, d := range x.private {
		if d != nil {
			d.Wipe()
		}
	}
}

// Public returns the descriptor of an own script without private keys. It is false for other scripts.
func (x *Spenders) Public(pkScript []byte) (Place, bool) {
	ours := x.set.scripts[string(pkScript)]
	if ours == nil {
		return Place{}, false
	}
	by := ours.owners[0]
	return Place{by.manager.desc, uint32(by.index)}, true
}

// OfScript returns the descriptors of an own script, none of other scripts.
func (x *Spenders) OfScript(pkScript []byte) []Place {
	ours := x.set.scripts[string(pkScript)]
	if ours == nil {
		return nil
	}
	var places []Place
	for _, by := range ours.owners {
		if d := x.open(by.manager); d != nil {
			places = append(places, Place{d, uint32(by.index)})
		}
	}
	return places
}

// OfPath returns the possible places of a key that is said to come from a path. These are in all
// descriptors that can have the last step of the path as their index, and may know private keys.
func (x *Spenders) OfPath(path []uint32) []Place {
	const hardened = 1 << 31
	last := uint32(0)
	if len(path) > 0 {
		last = path[len(path)-1] &^ hardened
	}
	var places []Place
	for _, m := range x.set.managers {
		index := int32(last)
		if !m.desc.IsRanged() {
			index = 0
		}
		if m.scripts[index] == nil && m.desc.IsRanged() {
			continue
		}
		if d := x.open(m); d != nil && hasPrivateKeys(d) {
			places = append(places, Place{d, uint32(index)})
		}
	}
	return places
}

// hasPrivateKeys reports whether a descriptor knows private keys, be they of its text or of the wallet.
func hasPrivateKeys(d *descriptor.Descriptor) bool {
	own := d.PrivateKeys()
	defer clear(own)
	return len(own) > 0
}

// open returns a descriptor with its private keys, nil where it cannot be read.
func (x *Spenders) open(m *descriptorManager) *descriptor.Descriptor {
	d, known := x.private[m]
	if !known {
		d, _ = x.set.withPrivateKeys(m) // nil with an error
		if d != nil {
			d.Prepare()
		}
		x.private[m] = d
	}
	return d
}
