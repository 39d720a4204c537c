package descriptor

// CacheOf returns a cache of keys that [Descriptor.P2MRKeys] has made, and of no others:
// a descriptor that has it does not make them again. Their private halves are not kept.
func CacheOf(keys []P2MRKey) Cache {
	made := madeKeys{}
	for i := range keys {
		made[P2MRPlace{keys[i].Expression, keys[i].Index}] = keys[i].Public
	}
	return made
}

type madeKeys map[P2MRPlace][p2mrKeyLen]byte

func (madeKeys) Parent(int) (key XPub, ok bool)          { return key, false }
func (madeKeys) Derived(int, uint32) (key XPub, ok bool) { return key, false }
func (madeKeys) LastHardened(int) (key XPub, ok bool)    { return key, false }

func (m madeKeys) P2MR(expression int, index uint32) ([p2mrKeyLen]byte, bool) {
	public, ok := m[P2MRPlace{expression, index}]
	return public, ok
}
