package chaindb

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// Rebuild removes the metadata and the undo files of a database that is not
// open, so that [Open] makes new ones over the blocks that are there. It is
// also what -reindex does. Blocks are not touched.
func Rebuild(o Options) error {
	if o.FS == nil {
		o.FS = vfs.OS
	}
	if err := refuseForeign(o.Dir); err != nil {
		return err
	}
	if err := restoreReplaced(o.FS, o.BlocksDir); err != nil {
		return err
	}
	// Renamed first: half a leveldb folder must not be taken for a whole one.
	old := o.Dir + ".old"
	err := vfs.RemoveAll(o.FS, old)
	if err == nil {
		err = o.FS.Rename(o.Dir, old)
	}
	if err == nil || errors.Is(err, os.ErrNotExist) {
		err = vfs.RemoveAll(o.FS, old)
	}
	if err != nil {
		return fmt.Errorf("rebuild chain database: %w", err)
	}
	numbers, err := blockfile.Undo.Numbers(o.FS, o.BlocksDir)
	for _, n := range numbers {
		err = errors.Join(err, o.FS.Remove(blockfile.Undo.Path(o.BlocksDir, n)))
	}
	if err != nil {
		return fmt.Errorf("rebuild chain database: %w", err)
	}
	return nil
}

// Reloading tells whether the block files hold blocks that the metadata does
// not know: after [Rebuild], or over the files of another node. It stays so,
// over restarts, until [DB.ReloadDone].
func (db *DB) Reloading() bool {
	db.published.RLock()
	defer db.published.RUnlock()
	return db.reloading
}

// Reload iterates over all blocks of the block files in the order of the files,
// which need not be that of the chain, for the caller to feed to the chain
// again. A block that is accepted stays where it lies instead of being written
// a second time, also when the chain takes it later than it was read. An error
// ends the iteration.
func (db *DB) Reload() iter.Seq2[blockfile.Record, error] {
	return func(yield func(blockfile.Record, error) bool) {
		for record, err := range blockfile.ScanDir(db.o.FS, db.o.BlocksDir, db.o.Magic, blockfile.MaxBlockSize) {
			if err == nil {
				err = db.remember(record)
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// ReloadDone notes that every block was fed.
func (db *DB) ReloadDone() error {
	if err := db.gate.enter(); err != nil {
		return err
	}
	defer db.gate.leave()
	batch := new(leveldb.Batch)
	batch.Delete(reloadKey)
	db.writer.Lock()
	err := syncHeld(db)
	if err == nil {
		err = db.writeDurably(batch)
	}
	db.writer.Unlock()
	if err != nil {
		return fmt.Errorf("end of reload: %w", fromLevelDB(err))
	}
	db.found.clear()
	db.published.Lock()
	defer db.published.Unlock()
	db.reloading = false
	return nil
}

// loadReloading finds out, on opening, whether a reload is due. The first block
// is remembered at once: btcd stores the genesis block before any can be fed.
func (db *DB) loadReloading() error {
	switch _, err := db.ldb.Get(reloadKey, nil); {
	case errors.Is(err, leveldb.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	db.reloading = true
	for _, err := range db.Reload() {
		return err
	}
	return nil
}

// remember notes where a block lies that is not stored yet.
func (db *DB) remember(record blockfile.Record) error {
	hash := chainhash.DoubleHashH(record.Block[:len(location{}.header)])
	stored, err := db.ldb.Has(hashKey(prefixBlock, &hash), nil)
	if err == nil && !stored {
		db.found.put(hash, record.File, record.Offset)
	}
	return fromLevelDB(err)
}

// adopt looks whether the block was found in the files, byte by byte.
func (db *DB) adopt(hash *chainhash.Hash, block []byte) (file int, offset int64, ok bool) {
	file, offset, ok = db.found.take(hash)
	if !ok {
		return 0, 0, false
	}
	there, err := db.blocks.ReadRecord(file, offset, len(block), 0)
	return file, offset, err == nil && bytes.Equal(there, block)
}

// foundBlocks remembers where blocks lie that a reload has come upon and the
// chain has not yet stored. Fed in the order of the chain it stays small.
type foundBlocks struct {
	mu sync.Mutex
	at map[chainhash.Hash]foundAt
}

type foundAt struct {
	file   int
	offset int64
}

func (f *foundBlocks) put(hash chainhash.Hash, file int, offset int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at == nil {
		f.at = map[chainhash.Hash]foundAt{}
	}
	f.at[hash] = foundAt{file, offset}
}

// take returns what put remembered, and forgets it.
func (f *foundBlocks) take(hash *chainhash.Hash) (file int, offset int64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.at[*hash]
	delete(f.at, *hash)
	return at.file, at.offset, ok
}

func (f *foundBlocks) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = nil
}
