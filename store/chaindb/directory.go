package chaindb

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/syndtr/goleveldb/leveldb/util"
)

// journalName is the root bucket in which btcd keeps its spend journal.
const journalName = "spendjournal"

// A directory is the tree of buckets, kept in memory because every access to
// the metadata goes through it and btcd has five. It is never changed once
// published: a transaction that makes or deletes buckets works on a clone.
type directory struct {
	children map[bucketID]map[string]bucketID
	last     bucketID // highest number in use
}

// loadDirectory reads the tree of buckets.
func loadDirectory(r reader) (*directory, error) {
	d := &directory{children: map[bucketID]map[string]bucketID{}}
	it := r.NewIterator(util.BytesPrefix([]byte{prefixDirectory}), nil)
	defer it.Release()
	for it.Next() {
		if len(it.Key()) < 6 || len(it.Value()) != 4 {
			return nil, fmt.Errorf("%w: bucket record %x", ErrCorrupt, it.Key())
		}
		parent := bucketID(binary.BigEndian.Uint32(it.Key()[1:]))
		d.add(parent, string(it.Key()[5:]), bucketID(binary.BigEndian.Uint32(it.Value())))
	}
	return d, fromLevelDB(it.Error())
}

// directoryKey returns the key of a bucket's record.
func directoryKey(parent bucketID, name string) []byte {
	key := binary.BigEndian.AppendUint32([]byte{prefixDirectory}, uint32(parent))
	return append(key, name...)
}

func (d *directory) clone() *directory {
	c := &directory{children: make(map[bucketID]map[string]bucketID, len(d.children)), last: d.last}
	for id, names := range d.children {
		c.children[id] = maps.Clone(names)
	}
	return c
}

func (d *directory) add(parent bucketID, name string, id bucketID) {
	if d.children[parent] == nil {
		d.children[parent] = map[string]bucketID{}
	}
	d.children[parent][name] = id
	d.last = max(d.last, id)
}

func (d *directory) remove(parent bucketID, name string) { delete(d.children[parent], name) }

// child looks a bucket up by its name in its parent.
func (d *directory) child(parent bucketID, name []byte) (bucketID, bool) {
	id, ok := d.children[parent][string(name)]
	return id, ok
}

// names lists the buckets in a bucket, sorted.
func (d *directory) names(parent bucketID) []string {
	return slices.SortedFunc(maps.Keys(d.children[parent]), strings.Compare)
}

// isJournal tells whether the bucket is btcd's spend journal.
func (d *directory) isJournal(id bucketID) bool {
	journal, ok := d.children[0][journalName]
	return ok && journal == id
}
