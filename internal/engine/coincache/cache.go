// Package coincache holds unspent outputs in memory over the stored outputs, in
// their stored form. Changes are collected, can be taken back, and are written in
// one step.
//
// A Cache has one user at a time.
package coincache

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/store/blockfile"
)

// A Store has the unspent outputs up to a block.
type Store interface {
	// Coin returns the value that is stored under a key, nil when there is none. It is
	// safe for concurrent use.
	Coin(key []byte) ([]byte, error)

	// WriteCoins makes changes and the block up to which they lead durable in one
	// step: all or nothing. A nil value deletes.
	WriteCoins(tip *chainhash.Hash, size int, changes func(put func(key, value []byte) error) error) error
}

// A Cache is the unspent outputs as they are after changes that are not written.
type Cache struct {
	store   Store
	table   *table
	limit   int
	dirt    int    // bytes of records that are to be written
	dirties int    // how many there are
	journal []byte // what the changes replaced, see note
}

// New returns a cache that is to be flushed when it is [Cache.Full], at about limit
// bytes.
func New(store Store, limit int64) *Cache {
	return &Cache{store: store, table: newTable(minSlots), limit: int(limit)}
}

// SetLimit has the cache be full at about so many bytes from now on.
func (c *Cache) SetLimit(limit int64) { c.limit = int(limit) }

// Get returns the coin under a key, nil where there is none. It is valid until the
// cache is changed.
func (c *Cache) Get(key []byte) ([]byte, error) {
	if r := c.table.get(key); r.ok() {
		if r.flags()&spent != 0 {
			return nil, nil
		}
		return r.value(), nil
	}
	value, err := c.store.Coin(key)
	if err != nil {
		return nil, fmt.Errorf("unspent output: %w", err)
	}
	return value, nil
}

// Spend takes a coin away that is there.
func (c *Cache) Spend(key []byte) {
	r := c.table.get(key)
	c.note(key, r)
	flags := byte(dirty | spent)
	if r.ok() {
		isFresh := r.flags()&fresh != 0
		c.drop(r)
		if isFresh {
			return
		}
	}
	c.add(key, flags, nil)
}

// Put adds a coin, in the place of another if there is one. isNew promises that
// nothing is stored under its key, unless the cache knows better.
func (c *Cache) Put(key, value []byte, isNew bool) {
	r := c.table.get(key)
	c.note(key, r)
	flags := byte(dirty)
	if r.ok() {
		flags |= r.flags() & fresh
		c.drop(r)
	} else if isNew {
		flags |= fresh
	}
	c.add(key, flags, value)
}

// idSize is how many bytes of a key are the transaction's id.
const idSize = chainhash.HashSize

// coinRoom is about what a record takes beyond its bytes.
const coinRoom = 16

func (c *Cache) add(key []byte, flags byte, value []byte) {
	c.table.put(key, flags, value)
	if flags&dirty != 0 {
		c.dirt += len(key) + len(value) + coinRoom
		c.dirties++
	}
}

func (c *Cache) drop(r record) {
	if r.flags()&dirty != 0 {
		c.dirt -= len(r.key()) + r.valueLen() + coinRoom
		c.dirties--
	}
	c.table.remove(r)
}

// A note is the length of the key and the key; 0 where there was no record, else 1,
// its flags and its value; and the length of all that.
const noteTail = 4

func (c *Cache) note(key []byte, r record) {
	start := len(c.journal)
	c.journal = append(append(c.journal, byte(len(key))), key...)
	if r.ok() {
		c.journal = append(append(c.journal, 1, r.flags()), r.value()...)
	} else {
		c.journal = append(c.journal, 0)
	}
	c.journal = binary.LittleEndian.AppendUint32(c.journal, uint32(len(c.journal)-start))
}

// A Mark is a moment that the cache can be taken back to.
type Mark int

// Mark returns the present moment. It is valid until Forget.
func (c *Cache) Mark() Mark { return Mark(len(c.journal)) }

// Rollback takes all changes since a mark back.
func (c *Cache) Rollback(to Mark) {
	for len(c.journal) > int(to) {
		end := len(c.journal) - noteTail
		start := end - int(binary.LittleEndian.Uint32(c.journal[end:]))
		entry := c.journal[start:end]
		key, old := entry[1:1+entry[0]], entry[1+entry[0]:]
		if r := c.table.get(key); r.ok() {
			c.drop(r)
		}
		if old[0] != 0 {
			c.add(key, old[1], old[2:])
		}
		c.journal = c.journal[:start]
	}
}

// maxJournal is how much memory of the journal is kept.
const maxJournal = 4 << 20

// Forget makes the changes so far final.
func (c *Cache) Forget() {
	if c.journal = c.journal[:0]; cap(c.journal) > maxJournal {
		c.journal = nil
	}
}

// Full reports whether the cache takes as much memory as it may, what a flush needs
// included.
func (c *Cache) Full() bool { return c.table.size()+c.dirties*orderSize+cap(c.journal) > c.limit }

// Overfull reports whether the cache takes more than twice as much memory as it may.
func (c *Cache) Overfull() bool { return c.table.size()+c.dirties*orderSize+cap(c.journal) > 2*c.limit }

// Size returns how much memory the cache takes, in bytes, and how many records it holds.
func (c *Cache) Size() (bytes, records int) { return c.table.size(), c.table.live }

// Limit returns how many bytes of memory the cache may take.
func (c *Cache) Limit() int64 { return int64(c.limit) }

// Pending returns about how many bytes of changes are to be written.
func (c *Cache) Pending() int { return c.dirt }

// keepShare is what part of the limit coins take that are kept by a flush: the
// newest, which are spent soonest.
const keepShare = 0.3

// Flush writes the changes, which lead to the block tip at height. They must be
// final. After an error nothing was written, and the cache is as it was.
func (c *Cache) Flush(tip *chainhash.Hash, height int32) error {
	isDirty := func(r record) bool { return r.flags()&dirty != 0 }
	err := c.store.WriteCoins(tip, c.dirt, func(put func(key, value []byte) error) error {
		return c.table.sorted(isDirty, func(r record) error {
			if r.flags()&spent != 0 {
				return put(r.key(), nil)
			}
			return put(r.key(), r.value())
		})
	})
	if err != nil {
		return fmt.Errorf("write unspent outputs: %w", err)
	}
	full := c.Full()
	c.dirt, c.dirties = 0, 0
	if full {
		c.keepNewest(height, int(float64(c.limit)*keepShare))
		return nil
	}
	var gone [][]byte
	c.table.each(func(_ uint32, r record) {
		if r.flags()&spent != 0 {
			gone = append(gone, append([]byte(nil), r.key()...))
		}
		r.setFlags(r.flags() & spent)
	})
	for _, key := range gone {
		c.table.remove(c.table.get(key))
	}
	return nil
}

// restSize is about how many bytes of coins are kept at rest.
const restSize = 8 << 20

// Rest writes the changes as Flush does, and gives back all memory but that of the
// newest coins.
func (c *Cache) Rest(tip *chainhash.Hash, height int32) error {
	if c.dirties > 0 {
		if err := c.Flush(tip, height); err != nil {
			return err
		}
	}
	if c.table.size() > 2*restSize {
		c.keepNewest(height, min(restSize, int(float64(c.limit)*keepShare)))
	}
	return nil
}

// keepNewest drops all but the newest coins that fit into room bytes, and gives the rest
// of the memory back. All coins are clean.
func (c *Cache) keepNewest(height int32, room int) {
	const ages = 4096
	var byAge [ages]int // bytes by age in blocks
	age := func(r record) int {
		u, err := blockfile.ParseUnspent(r.value())
		if err != nil {
			return ages - 1 // a read of the coin reports the error
		}
		return min(max(int(height-u.Height), 0), ages-1)
	}
	c.table.each(func(_ uint32, r record) {
		if r.flags()&spent == 0 {
			byAge[age(r)] += r.size() + coinRoom
		}
	})
	oldest := -1
	for room -= byAge[0]; room >= 0 && oldest < ages-2; room -= byAge[oldest+1] {
		oldest++
	}
	kept := 0
	wanted := func(r record) bool { return r.flags()&spent == 0 && age(r) <= oldest }
	c.table.each(func(_ uint32, r record) {
		if wanted(r) {
			kept++
		}
	})
	next := newTable(max(minSlots, uint(bits.Len(uint(kept*2)))))
	c.table.drain(func(r record) {
		if wanted(r) {
			next.put(r.key(), 0, r.value())
		}
	})
	c.table = next
}

// Close gives the memory back. Changes that are not written are lost.
func (c *Cache) Close() {
	c.table.close()
	c.journal = nil
}
