package chaindb

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// Sync makes everything committed so far durable against a loss of power. It
// waits for the running read-write transaction. Without changes it costs nothing.
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
	return syncHeld(db)
}

// syncHeld is sync while writer is held.
func syncHeld(db *DB) error {
	if err := db.writable(); err != nil {
		return err
	}
	if db.seq == db.synced {
		return nil
	}
	// The files come first: metadata must not name missing blocks. The journals are
	// synced by name: goleveldb syncs its newest journal only, and an older journal
	// is in use until its records are in a table.
	err := errors.Join(db.blocks.Sync(), db.undo.Sync(), db.folder.SyncJournals())
	if err != nil {
		return fmt.Errorf("sync chain database: %w", db.fail(err))
	}
	batch := new(leveldb.Batch)
	for n := db.synced + 1; n <= db.seq; n++ {
		batch.Delete(numberKey(prefixCommit, n))
	}
	batch.Put(syncedKey, binary.BigEndian.AppendUint64(nil, db.seq))
	if err := db.writeDurably(batch); err != nil {
		return fmt.Errorf("sync chain database: %w", fromLevelDB(db.seen(err)))
	}
	db.synced = db.seq
	return nil
}

// writable reports why nothing can be written. writer is held.
func (db *DB) writable() error {
	if db.failed != nil {
		return fmt.Errorf("%w: %w", ErrFailed, db.failed)
	}
	return nil
}

// fail notes an error of a write or a sync, and returns it. Later writes might
// be lost. A repeated sync may succeed although the system has dropped data that
// never reached the disk. writer is held.
func (db *DB) fail(err error) error {
	if err != nil && db.failed == nil {
		db.failed = err
	}
	return err
}

// writeDurably writes a batch that survives a loss of power. writer is held, or
// nobody else has the database yet.
func (db *DB) writeDurably(batch *leveldb.Batch) error {
	err := db.ldb.Write(batch, &opt.WriteOptions{Sync: true})
	if err == nil {
		err = db.folder.SyncDir() // the write may have begun a journal
	}
	return db.fail(err)
}
