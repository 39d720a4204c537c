package chaindb

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"github.com/btcsuite/btcd/database"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// cursor implements [database.Cursor]: the items of a bucket and the buckets in
// it, in the order of their keys. It merges the snapshot with the names of the
// buckets and the keys that the transaction wrote.
type cursor struct {
	bucket  *bucket
	it      iterator.Iterator
	changes int    // of the transaction when it was made
	key     []byte // with the bucket's prefix; nil when not at an item
	value   []byte
}

var _ database.Cursor = (*cursor)(nil)

// cursor returns a cursor that is at no item yet.
func (b *bucket) cursor() *cursor { return &cursor{bucket: b} }

// rewind makes the iterator ready to be positioned. It is made anew when the
// transaction wrote something, which the old one does not see.
func (c *cursor) rewind() iterator.Iterator {
	t := c.bucket.tx
	if t.closed {
		return iterator.NewEmptyIterator(nil)
	}
	if c.it != nil && c.changes == t.changes {
		return c.it
	}
	prefix := c.bucket.id.itemPrefix()
	c.it, c.changes = t.snap.NewIterator(util.BytesPrefix(prefix), nil), t.changes
	if keys := t.ownKeys(c.bucket.id, string(prefix)); len(keys) > 0 {
		sources := []iterator.Iterator{c.it, iterator.NewArrayIterator(keys)}
		c.it = iterator.NewMergedIterator(sources, comparer.DefaultComparer, true)
	}
	t.open = append(t.open, c.it)
	return c.it
}

// ownKeys lists, sorted, the keys of a bucket that are not all in the snapshot:
// those of its buckets and those that the transaction wrote.
func (t *tx) ownKeys(id bucketID, prefix string) keyList {
	var keys keyList
	for _, name := range t.dir.names(id) {
		keys = append(keys, prefix+name)
	}
	for key := range t.pending {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys) // a deleted key may have become a bucket
}

// Bucket implements [database.Cursor].
func (c *cursor) Bucket() database.Bucket {
	if c.bucket.tx.closed {
		return nil
	}
	return c.bucket
}

// First implements [database.Cursor].
func (c *cursor) First() bool { return c.settle(c.rewind().First(), nil, c.forward) }

// Last implements [database.Cursor].
func (c *cursor) Last() bool { return c.settle(c.rewind().Last(), nil, c.backward) }

// Seek implements [database.Cursor].
func (c *cursor) Seek(seek []byte) bool {
	return c.settle(c.rewind().Seek(c.bucket.id.item(seek)), nil, c.forward)
}

// Next implements [database.Cursor].
func (c *cursor) Next() bool { return c.step(c.forward) }

// Prev implements [database.Cursor].
func (c *cursor) Prev() bool { return c.step(c.backward) }

func (c *cursor) forward() bool  { return c.it.Next() }
func (c *cursor) backward() bool { return c.it.Prev() }

// step leaves the item that the cursor is at.
func (c *cursor) step(step func() bool) bool {
	if c.key == nil || c.bucket.tx.closed {
		return false
	}
	return c.settle(step(), c.key, step)
}

// settle stops at the first item, in the direction of step, that is visible. An
// item that was overwritten comes twice, from the snapshot and as a key of the
// transaction, and counts once: left is the key before. A deleted one does not
// count.
func (c *cursor) settle(ok bool, left []byte, step func() bool) bool {
	c.key, c.value = nil, nil
	for ; ok; ok = step() {
		key := c.it.Key()
		if bytes.Equal(key, left) {
			continue
		}
		value, visible := c.read(key)
		if !visible {
			continue
		}
		c.key, c.value = bytes.Clone(key), value
		return true
	}
	if c.it != nil {
		c.bucket.tx.db.mustRead(c.it.Error())
	}
	return false
}

// read returns what the transaction sees at the key that the iterator is at.
func (c *cursor) read(key []byte) (value []byte, visible bool) {
	t, name := c.bucket.tx, key[itemPrefixSize:]
	if _, ok := t.dir.child(c.bucket.id, name); ok {
		return nil, true
	}
	if value, ok := t.pending[string(key)]; ok {
		return value, value != nil
	}
	if t.dir.isJournal(c.bucket.id) {
		return t.journalEntry(name), true
	}
	return bytes.Clone(c.it.Value()), true
}

// nested tells whether the cursor is at a bucket.
func (c *cursor) nested() bool {
	_, ok := c.bucket.tx.dir.child(c.bucket.id, c.key[itemPrefixSize:])
	return ok
}

// Key implements [database.Cursor].
func (c *cursor) Key() []byte {
	if c.key == nil || c.bucket.tx.closed {
		return nil
	}
	return c.key[itemPrefixSize:]
}

// Value implements [database.Cursor].
func (c *cursor) Value() []byte {
	if c.bucket.tx.closed {
		return nil
	}
	return c.value
}

// Delete implements [database.Cursor].
func (c *cursor) Delete() error {
	t := c.bucket.tx
	if err := t.checkWritable(); err != nil {
		return err
	}
	if c.key == nil || c.nested() {
		return dbError(database.ErrIncompatibleValue, "the cursor is not at a key and value")
	}
	t.remove(c.key)
	return nil
}

// keyList is a sorted list of keys, without values, to iterate over.
type keyList []string

// Len implements [iterator.Array].
func (l keyList) Len() int { return len(l) }

// Search implements [iterator.Array].
func (l keyList) Search(key []byte) int { return sort.SearchStrings(l, string(key)) }

// Index implements [iterator.Array].
func (l keyList) Index(i int) (key, value []byte) { return []byte(l[i]), nil }
