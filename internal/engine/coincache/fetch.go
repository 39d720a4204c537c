package coincache

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/seed61375155/trawl/internal/cores"
)

const (
	// readers is how many goroutines read from the store. They are more than there are
	// cores, because coins that were made long ago have to be waited for, and disks serve
	// many requests at once faster than one after the other.
	readers = 16

	// readShare is how many coins a goroutine reads at a time.
	readShare = 32
)

// Has reports whether the cache knows without the store what is under a key, be it that
// nothing is any more.
func (c *Cache) Has(key []byte) bool { return c.table.get(key).ok() }

// Fetch reads the coins under keys, those that the store has, into the cache, many at a
// time: [Cache.Get] reads one. It puts the keys in order, since neighbours lie in the same
// tables. A key may be among them twice. After an error none is added.
func (c *Cache) Fetch(keys [][]byte) error {
	slices.SortFunc(keys, bytes.Compare)
	values := make([][]byte, len(keys))
	err := cores.Wait(context.Background(), readers, len(keys), readShare, func(from, to int) (err error) {
		for i := from; i < to && err == nil; i++ {
			values[i], err = c.store.Coin(keys[i])
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("unspent output: %w", err)
	}
	for i, value := range values {
		if value != nil && !c.Has(keys[i]) {
			c.add(keys[i], 0, value)
		}
	}
	return nil
}
