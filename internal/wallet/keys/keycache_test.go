package keys

import (
	"errors"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

func TestKeyCache(t *testing.T) {
	c := &keyCache{}
	one, two := [32]byte{1}, [32]byte{2}
	for _, step := range []struct {
		index uint32
		key   [32]byte
		added bool
		err   error
	}{{0, one, true, nil}, {0, one, false, nil}, {0, two, false, errOtherKey}, {1, two, true, nil}} {
		added, err := c.mergeSlow(3, step.index, step.key)
		if added != step.added || !errors.Is(err, step.err) {
			t.Errorf("%+v: %v, %v", step, added, err)
		}
	}
	if key, ok := c.P2MR(3, 0); !ok || key != one {
		t.Errorf("key %v, %v", key, ok)
	}
	entry := descriptor.CacheEntry{Kind: descriptor.CacheLastHardened, Expression: 1, Key: descriptor.XPub{1}}
	if added, err := c.merge([]descriptor.CacheEntry{entry, entry}); len(added) != 1 || err != nil ||
		c.lastHardened != 1 {
		t.Errorf("%d added, %v", len(added), err)
	}
	entry.Key = descriptor.XPub{2}
	if _, err := c.merge([]descriptor.CacheEntry{entry}); !errors.Is(err, errOtherKey) {
		t.Errorf("another key: %v", err)
	}
	if key, ok := c.LastHardened(1); !ok || key != (descriptor.XPub{1}) {
		t.Error("the key of the cache is replaced")
	}
}
