package chaindb

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// A Change is one step of a chain. It is written whole or not at all.
type Change struct {
	Blocks []NewBlock
	Undo   []BlockUndo
	Rows   []Row
}

// A NewBlock is a block to be stored, as it came. A block that is already stored
// is not stored again, unless it was pruned.
type NewBlock struct {
	Hash chainhash.Hash
	Raw  []byte
}

// BlockUndo is the undo data of a block that is stored, or is by the same change, in
// Core's form.
type BlockUndo struct {
	Hash chainhash.Hash
	Data []byte
}

// A Row is an item of metadata in one of the root's buckets.
type Row struct {
	Bucket string // "": the root itself
	Key    []byte
	Value  []byte // nil: the item is removed
}

var errNoBucket = errors.New("no such bucket")

// Commit makes a change. It is with the operating system when Commit returns. After
// an error nothing of it was made, or a part that nobody finds.
func (db *DB) Commit(c *Change) error {
	t, err := db.begin(true)
	if err != nil {
		return err
	}
	defer t.close()
	for _, b := range c.Blocks {
		if err := t.addBlock(b); err != nil {
			return err
		}
	}
	for _, u := range c.Undo {
		if !t.hasUndo(&u.Hash, u.Data) {
			t.undo = append(t.undo, pendingUndo{u.Hash, u.Data})
		}
	}
	for _, r := range c.Rows {
		bucket, err := t.rootBucket(r.Bucket)
		if err != nil {
			return err
		}
		t.note(bucket.item(r.Key), r.Value)
	}
	return t.commit()
}

// addBlock notes a block to be stored, if it has to be.
func (t *tx) addBlock(b NewBlock) error {
	exists, err := t.HasBlock(&b.Hash)
	if err != nil {
		return err
	}
	again, err := t.isPruned(&b.Hash)
	if err != nil || exists && !again {
		return err
	}
	if t.blockIndex == nil {
		t.blockIndex = map[chainhash.Hash]int{}
	}
	t.blockIndex[b.Hash] = len(t.blocks)
	t.blocks = append(t.blocks, pendingBlock{b.Hash, b.Raw, again})
	return nil
}

func (t *tx) rootBucket(name string) (bucketID, error) {
	if name == "" {
		return 0, nil
	}
	id, ok := t.dir.child(0, []byte(name))
	if !ok {
		return 0, fmt.Errorf("%w: %s", errNoBucket, name)
	}
	return id, nil
}
