package chaindb

import (
	"errors"
	"fmt"
	"os"

	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// ErrLeftover reports, from [Open], files of an interrupted [DB.Strip] that do not fit what the metadata says.
// Nothing of them was changed.
var ErrLeftover = errors.New("block files and the index disagree")

// leftovers are those of a database that is opened.
type leftovers struct{ *DB }

// indexedBlocks are the blocks in a file according to the metadata.
type indexedBlocks struct{ some, whole bool } // whether there are any, and any with witnesses

// order brings the files in order that an interrupted Strip has left: the metadata says which of the
// two files of a number is the right one.
func (db leftovers) order() error {
	left, err := blockfile.Blocks.Leftovers(db.o.FS, db.o.BlocksDir)
	if err != nil || len(left) == 0 {
		return err
	}
	indexed, err := db.indexedBlocks(left)
	if err != nil {
		return err
	}
	for _, l := range left {
		if err := db.settle(l, indexed[l.Number]); err != nil {
			return err
		}
	}
	return nil
}

func (db leftovers) settle(l *blockfile.Leftover, is *indexedBlocks) error {
	file, replaced, _ := l.Names()
	stripped := is.some && !is.whole
	switch {
	case l.Replaced && !is.some:
		return fmt.Errorf("%w: Found witness compaction backup file %s without indexed block data",
			ErrLeftover, replaced)
	case !stripped:
		db.o.Log.Info("block file is as it was before its witnesses were to be removed", "file", file)
		return l.Back(db.o.FS)
	case l.Replaced && l.Coming:
		return fmt.Errorf("%w: Found conflicting witness compaction temp and backup files for %05d",
			ErrLeftover, l.Number)
	case l.Replaced:
		if _, err := db.o.FS.Stat(file); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%w: Witness-pruned metadata for file %05d is missing canonical blk file %s",
				ErrLeftover, l.Number, file)
		} else if err != nil {
			return err
		}
	}
	db.o.Log.Info("removal of witnesses from a block file is completed", "file", file)
	return l.Settle(db.o.FS)
}

// indexedBlocks looks up what the metadata says of some files.
func (db leftovers) indexedBlocks(of []*blockfile.Leftover) (map[int]*indexedBlocks, error) {
	found := map[int]*indexedBlocks{}
	for _, l := range of {
		found[l.Number] = &indexedBlocks{}
	}
	it := db.ldb.NewIterator(util.BytesPrefix([]byte{prefixBlock}), nil)
	defer it.Release()
	for it.Next() {
		l, err := decodeLocation(it.Value())
		if err != nil {
			return nil, err
		}
		is := found[int(l.file)]
		if is == nil || is.whole {
			continue
		}
		hash := l.hash()
		stripped, err := db.ldb.Has(hashKey(prefixStripped, &hash), nil)
		if err != nil {
			return nil, err
		}
		is.some, is.whole = true, !stripped
	}
	return found, it.Error()
}

// restoreReplaced puts files that were to be replaced back into their places, since they have the most data.
// It runs before the metadata, which names their blocks, is rebuilt.
func restoreReplaced(disk vfs.FS, dir string) error {
	left, err := blockfile.Blocks.Leftovers(disk, dir)
	if err != nil {
		return err
	}
	for _, l := range left {
		file, _, _ := l.Names()
		restore := l.Back
		_, err := disk.Stat(file)
		if errors.Is(err, os.ErrNotExist) {
			if err = nil; !l.Replaced {
				restore = l.Settle // nothing else has its blocks
			}
		}
		if err == nil {
			err = restore(disk)
		}
		if err != nil {
			return fmt.Errorf("bring block files in order: %w", err)
		}
	}
	return nil
}
