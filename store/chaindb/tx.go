package chaindb

import (
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/iterator"
)

// tx implements [database.Tx] over a snapshot of the metadata and, when it is
// writable, the writes of its own that are pending. It is used by one goroutine
// at a time.
type tx struct {
	db       *DB
	snap     *leveldb.Snapshot
	dir      *directory
	writable bool
	managed  bool
	closed   bool
	open     []iterator.Iterator // of cursors, released at the end

	// Changes that a writable transaction is going to write.
	pending    map[string][]byte // metadata; a nil value deletes
	changes    int               // writes to pending, so that a cursor notices
	newDir     bool              // dir is a clone of its own
	blocks     []pendingBlock
	blockIndex map[chainhash.Hash]int // into blocks
	undo       []pendingUndo
}

var _ database.Tx = (*tx)(nil)

// begin starts a transaction; a writable one waits for its predecessor.
func (db *DB) begin(writable bool) (*tx, error) {
	if writable {
		db.writer.Lock()
	}
	t, err := db.newTx(writable)
	if err != nil && writable {
		db.writer.Unlock()
	}
	return t, err
}

// newTx makes a transaction; the caller of a writable one holds the writer lock.
func (db *DB) newTx(writable bool) (*tx, error) {
	if err := db.gate.enter(); err != nil {
		return nil, dbError(database.ErrDbNotOpen, "database is not open")
	}
	db.published.RLock()
	defer db.published.RUnlock()
	snap, err := db.ldb.GetSnapshot()
	if err != nil {
		db.gate.leave()
		return nil, database.Error{
			ErrorCode: database.ErrDriverSpecific, Description: "begin transaction", Err: fromLevelDB(err),
		}
	}
	return &tx{db: db, snap: snap, dir: db.dir, writable: writable}, nil
}

// Metadata implements [database.Tx].
func (t *tx) Metadata() database.Bucket { return &bucket{tx: t} }

// Commit implements [database.Tx].
func (t *tx) Commit() error {
	if t.managed {
		panic("chaindb: Commit of a managed transaction")
	}
	if t.closed {
		return dbError(database.ErrTxClosed, "transaction is closed")
	}
	defer t.close()
	if !t.writable {
		return dbError(database.ErrTxNotWritable, "commit of a read-only transaction")
	}
	return t.commit()
}

// Rollback implements [database.Tx].
func (t *tx) Rollback() error {
	if t.managed {
		panic("chaindb: Rollback of a managed transaction")
	}
	if t.closed {
		return dbError(database.ErrTxClosed, "transaction is closed")
	}
	t.close()
	return nil
}

// close ends the transaction. Uncommitted changes are forgotten.
func (t *tx) close() {
	t.closed = true
	for _, it := range t.open {
		it.Release()
	}
	t.snap.Release()
	if t.writable {
		t.db.writer.Unlock()
	}
	t.db.gate.leave()
}

// check is ErrTxClosed after the end of the transaction.
func (t *tx) check() error {
	if t.closed {
		return dbError(database.ErrTxClosed, "transaction is closed")
	}
	return nil
}

// checkWritable is [tx.check] and ErrTxNotWritable for a read-only one.
func (t *tx) checkWritable() error {
	if err := t.check(); err != nil {
		return err
	}
	if !t.writable {
		return dbError(database.ErrTxNotWritable, "transaction is read-only")
	}
	return nil
}

// get reads a record of the metadata as the transaction sees it; nil when there
// is none. pending tells that the transaction wrote it.
func (t *tx) get(key []byte) (value []byte, pending bool) {
	if value, ok := t.pending[string(key)]; ok {
		return value, true
	}
	value, err := t.snap.Get(key, nil)
	if err == nil {
		return value, false
	}
	if !errors.Is(err, leveldb.ErrNotFound) {
		t.db.mustRead(err)
	}
	return nil, false // goleveldb's value is not nil for a deleted key
}

// put notes a write of the metadata. It keeps value.
func (t *tx) put(key, value []byte) {
	if value == nil {
		value = []byte{}
	}
	t.note(key, value)
}

// remove notes a deletion from the metadata.
func (t *tx) remove(key []byte) { t.note(key, nil) }

func (t *tx) note(key, value []byte) {
	if t.pending == nil {
		t.pending = map[string][]byte{}
	}
	t.pending[string(key)] = value
	t.changes++
}

// ownDir returns the directory for changing.
func (t *tx) ownDir() *directory {
	if !t.newDir {
		t.dir, t.newDir = t.dir.clone(), true
	}
	return t.dir
}
