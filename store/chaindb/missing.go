package chaindb

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/store/blockfile"
)

// ErrMissing reports, from [Open], that files with blocks that were durable are not
// there. To rebuild the chain without them would be to throw it away because a
// disk was not mounted.
var ErrMissing = errors.New("block files are missing")

// loadFile takes over how far a file is used. A file may be longer, when a write was
// not committed; a shorter one has lost blocks. Missing is whether there is none.
func (db *DB) loadFile(number int, ends fileEnds) (missing bool, err error) {
	if _, err := db.o.FS.Stat(blockfile.Blocks.Path(db.o.BlocksDir, number)); ends.blk > 0 &&
		errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	err = errors.Join(checkSize(db.blocks, number, ends.blk), checkSize(db.undo, number, ends.rev))
	if err != nil {
		return false, err
	}
	setEnds(db, number, ends)
	db.current = max(db.current, number)
	return false, nil
}

// refuseMissing returns [ErrMissing] for files that somebody took away. Files
// lost with the power, of which nothing was durable, are [ErrCorrupt].
func (db *DB) refuseMissing(files map[int]bool) error {
	fresh, err := db.unsynced()
	if err != nil {
		return err
	}
	it := db.ldb.NewIterator(util.BytesPrefix([]byte{prefixBlock}), nil)
	defer it.Release()
	for it.Next() {
		l, err := decodeLocation(it.Value())
		if err != nil {
			return err
		}
		if files[int(l.file)] && !fresh[chainhash.Hash(it.Key()[1:])] {
			return fmt.Errorf("%w: %s is not there, and was. Put it back, or mount the disk that it is on. "+
				"Otherwise restart with -reindex to build the chain anew from the files that are there",
				ErrMissing, blockfile.Blocks.Path(db.o.BlocksDir, int(l.file)))
		}
	}
	if err := it.Error(); err != nil {
		return err
	}
	return fmt.Errorf("%w: %d files with blocks are missing", ErrCorrupt, len(files))
}

// unsynced returns the blocks that were written after the last Sync.
func (db *DB) unsynced() (map[chainhash.Hash]bool, error) {
	blocks := map[chainhash.Hash]bool{}
	it := db.ldb.NewIterator(util.BytesPrefix([]byte{prefixCommit}), nil)
	defer it.Release()
	for it.Next() {
		for list := bytes.Clone(it.Value()); len(list) >= writtenSize; list = list[writtenSize:] {
			if list[0] == wroteBlock {
				blocks[chainhash.Hash(list[1:writtenSize])] = true
			}
		}
	}
	return blocks, it.Error()
}
