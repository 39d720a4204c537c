package chaindb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// Sync makes everything committed so far durable against a loss of power. It
// waits for the running read-write transaction. Without news it costs nothing.
func (db *DB) Sync() error {
	if err := db.gate.enter(); err != nil {
		return err
	}
	defer db.gate.leave()
	return db.sync()
}

// sync is Sync inside the gate.
func (db *DB) sync() error {
	db.writer.Lock()
	defer db.writer.Unlock()
	if db.seq == db.synced {
		return nil
	}
	// The files come first: metadata must not name what is not there.
	if err := errors.Join(db.blocks.Sync(), db.undo.Sync(), db.syncJournals()); err != nil {
		return fmt.Errorf("sync chain database: %w", err)
	}
	batch := new(leveldb.Batch)
	for n := db.synced + 1; n <= db.seq; n++ {
		batch.Delete(numberKey(prefixCommit, n))
	}
	batch.Put(syncedKey, binary.BigEndian.AppendUint64(nil, db.seq))
	if err := db.ldb.Write(batch, &opt.WriteOptions{Sync: true}); err != nil {
		return fmt.Errorf("sync chain database: %w", fromLevelDB(db.seen(err)))
	}
	db.synced = db.seq
	return syncPath(db.o.Dir)
}

// syncJournals makes leveldb's journals durable. goleveldb syncs the newest
// one only, and an older one is in use until its content is in a table.
func (db *DB) syncJournals() error {
	journals, err := fs.Glob(os.DirFS(db.o.Dir), "*.log")
	if err != nil {
		return err
	}
	for _, name := range journals {
		if err := syncPath(filepath.Join(db.o.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) { // in a table by now
			return err
		}
	}
	return nil
}

// syncPath makes a file or the entries of a directory durable.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
