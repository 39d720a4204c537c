package chaindb

import (
	"encoding/binary"

	"github.com/btcsuite/btcd/database"
)

// bucket implements [database.Bucket]. The root is the bucket 0.
type bucket struct {
	tx *tx
	id bucketID
}

var _ database.Bucket = (*bucket)(nil)

// Writable implements [database.Bucket].
func (b *bucket) Writable() bool { return b.tx.writable }

// Bucket implements [database.Bucket].
func (b *bucket) Bucket(key []byte) database.Bucket {
	if b.tx.closed {
		return nil
	}
	if id, ok := b.tx.dir.child(b.id, key); ok {
		return &bucket{b.tx, id}
	}
	return nil
}

// CreateBucket implements [database.Bucket].
func (b *bucket) CreateBucket(key []byte) (database.Bucket, error) {
	if err := b.tx.checkWritable(); err != nil {
		return nil, err
	}
	if len(key) == 0 {
		return nil, dbError(database.ErrBucketNameRequired, "a bucket needs a name")
	}
	if _, ok := b.tx.dir.child(b.id, key); ok {
		return nil, dbError(database.ErrBucketExists, "bucket %q exists", key)
	}
	if value, _ := b.tx.get(b.id.item(key)); value != nil {
		return nil, dbError(database.ErrIncompatibleValue, "%q is a key", key)
	}
	dir := b.tx.ownDir()
	id := dir.last + 1
	dir.add(b.id, string(key), id)
	b.tx.put(directoryKey(b.id, string(key)), binary.BigEndian.AppendUint32(nil, uint32(id)))
	return &bucket{b.tx, id}, nil
}

// CreateBucketIfNotExists implements [database.Bucket].
func (b *bucket) CreateBucketIfNotExists(key []byte) (database.Bucket, error) {
	if err := b.tx.checkWritable(); err != nil {
		return nil, err
	}
	if child := b.Bucket(key); child != nil {
		return child, nil
	}
	return b.CreateBucket(key)
}

// DeleteBucket implements [database.Bucket].
func (b *bucket) DeleteBucket(key []byte) error {
	if err := b.tx.checkWritable(); err != nil {
		return err
	}
	id, ok := b.tx.dir.child(b.id, key)
	if !ok {
		return dbError(database.ErrBucketNotFound, "no bucket %q", key)
	}
	b.tx.dropBucket(b.id, string(key), id)
	return nil
}

// dropBucket deletes a bucket with all that is in it.
func (t *tx) dropBucket(parent bucketID, name string, id bucketID) {
	for _, child := range t.dir.names(id) {
		inner, _ := t.dir.child(id, []byte(child))
		t.dropBucket(id, child, inner)
	}
	c := (&bucket{t, id}).cursor()
	for ok := c.First(); ok; ok = c.Next() {
		t.remove(c.key)
	}
	t.ownDir().remove(parent, name)
	t.remove(directoryKey(parent, name))
}

// ForEach implements [database.Bucket].
func (b *bucket) ForEach(fn func(k, v []byte) error) error {
	if err := b.tx.check(); err != nil {
		return err
	}
	c := b.cursor()
	for ok := c.First(); ok; ok = c.Next() {
		if c.nested() {
			continue
		}
		if err := fn(c.Key(), c.Value()); err != nil {
			return err
		}
	}
	return nil
}

// ForEachBucket implements [database.Bucket].
func (b *bucket) ForEachBucket(fn func(k []byte) error) error {
	if err := b.tx.check(); err != nil {
		return err
	}
	for _, name := range b.tx.dir.names(b.id) {
		if err := fn([]byte(name)); err != nil {
			return err
		}
	}
	return nil
}

// Cursor implements [database.Bucket].
func (b *bucket) Cursor() database.Cursor { return b.cursor() }

// Put implements [database.Bucket].
func (b *bucket) Put(key, value []byte) error {
	if err := b.checkItem(key); err != nil {
		return err
	}
	if b.tx.dir.isJournal(b.id) {
		if err := b.tx.putJournal(key, value); err != nil {
			return err
		}
	}
	b.tx.put(b.id.item(key), value)
	return nil
}

// Get implements [database.Bucket].
func (b *bucket) Get(key []byte) []byte {
	if b.tx.closed || len(key) == 0 {
		return nil
	}
	value, pending := b.tx.get(b.id.item(key))
	if value != nil && !pending && b.tx.dir.isJournal(b.id) {
		return b.tx.journalEntry(key)
	}
	return value
}

// Delete implements [database.Bucket].
func (b *bucket) Delete(key []byte) error {
	if err := b.checkItem(key); err != nil {
		return err
	}
	b.tx.remove(b.id.item(key))
	return nil
}

// checkItem tells whether a key may be written.
func (b *bucket) checkItem(key []byte) error {
	if err := b.tx.checkWritable(); err != nil {
		return err
	}
	if len(key) == 0 {
		return dbError(database.ErrKeyRequired, "a value needs a key")
	}
	if _, ok := b.tx.dir.child(b.id, key); ok {
		return dbError(database.ErrIncompatibleValue, "%q is a bucket", key)
	}
	return nil
}
