package walletfile

import "github.com/seed61375155/trawl/descriptor"

// Cached returns the descriptor with what the file has to derive its scripts without private
// keys. It stays valid as long as the caches are not changed.
func (d *Descriptor) Cached() *descriptor.Descriptor {
	c := &cached{d, make(map[slowKey][pqcPublicSize]byte, len(d.SlowKeys))}
	for _, key := range d.SlowKeys {
		c.slow[slowKey{key.Expression, key.Index}] = key.Public
	}
	return d.Parsed.WithCache(c)
}

// cached implements [descriptor.Cache].
type cached struct {
	*Descriptor

	slow map[slowKey][pqcPublicSize]byte
}

type slowKey struct{ expression, index uint32 }

// Parent implements [descriptor.Cache].
func (c *cached) Parent(expression int) (descriptor.XPub, bool) {
	key, ok := c.Parents[uint32(expression)]
	return descriptor.XPub(key), ok
}

// Derived implements [descriptor.Cache].
func (c *cached) Derived(expression int, index uint32) (descriptor.XPub, bool) {
	key, ok := c.Descriptor.Derived[uint32(expression)][index]
	return descriptor.XPub(key), ok
}

// LastHardened implements [descriptor.Cache].
func (c *cached) LastHardened(expression int) (descriptor.XPub, bool) {
	key, ok := c.Descriptor.LastHardened[uint32(expression)]
	return descriptor.XPub(key), ok
}

// P2MR implements [descriptor.Cache].
func (c *cached) P2MR(expression int, index uint32) (key [32]byte, ok bool) {
	key, ok = c.slow[slowKey{uint32(expression), index}]
	return key, ok
}
