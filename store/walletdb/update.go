package walletdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seed61375155/trawl/internal/walletfile"
)

// Batch is a transaction on a wallet file. It is valid until the function of
// [DB.Update] returns and is used by that goroutine alone.
type Batch struct{ db *DB }

// Update runs change in one transaction. When it returns without error, all
// changes are on disk; with an error none is, and a crash leaves all or none.
// An error of change is returned as it is. change must not use the DB itself.
//
// Errors: ErrClosed, ErrIO, ErrMoved, those of change.
func (db *DB) Update(change func(*Batch) error) (err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.usable(); err != nil {
		return err
	}
	if err := db.atPlace(); err != nil {
		return err
	}
	if err := db.exec("BEGIN IMMEDIATE TRANSACTION"); err != nil {
		return ioError(err)
	}
	committed := false
	defer func() { // also if change panics
		if !committed {
			err = errors.Join(err, db.rollback())
		}
	}()
	if err := change(&Batch{db}); err != nil {
		return err
	}
	if err := db.exec("COMMIT"); err != nil {
		return ioError(err)
	}
	committed = true
	return nil
}

// rollback undoes the transaction. If that fails the connection must not be
// used any more: what it would commit next is not known.
func (db *DB) rollback() error {
	if err := db.exec("ROLLBACK"); err != nil && db.inTransaction() {
		db.dead = fmt.Errorf("%w: %w", ErrIO, err)
		return db.dead
	}
	return nil
}

// inTransaction reports whether a transaction may be open. SQLite ends one on
// its own after some failures, such as a full disk.
func (db *DB) inTransaction() bool {
	return db.exec("BEGIN", "ROLLBACK") != nil
}

// Put writes a record, in the place of an older one if there is one.
func (b *Batch) Put(r walletfile.Record) error {
	return b.exec("INSERT OR REPLACE INTO main VALUES(?, ?)", notNil(r.Key), notNil(r.Value))
}

// PutEntry writes a typed record like Put.
func (b *Batch) PutEntry(e walletfile.Entry) error { return b.Put(walletfile.RecordOf(e)) }

// Delete removes a record. It is no error if there is none.
func (b *Batch) Delete(key []byte) error {
	return b.exec("DELETE FROM main WHERE key = ?", notNil(key))
}

// DeletePrefix removes all records whose key begins with prefix.
func (b *Batch) DeletePrefix(prefix []byte) error {
	return b.exec("DELETE FROM main WHERE instr(key, ?) = 1", notNil(prefix))
}

// Get returns the value of a record as this batch has left it. It is false if
// there is none.
func (b *Batch) Get(key []byte) ([]byte, bool, error) { return b.db.get(key) }

func (b *Batch) exec(statement string, blobs ...any) error {
	if _, err := b.db.conn.ExecContext(context.Background(), statement, blobs...); err != nil {
		return fmt.Errorf("write to %s: %w", b.db.path, ioError(err))
	}
	return nil
}

// Get returns the value of a record. It is false if there is none.
//
// Errors: ErrClosed, ErrIO.
func (db *DB) Get(key []byte) ([]byte, bool, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.usable(); err != nil {
		return nil, false, err
	}
	return db.get(key)
}

func (db *DB) get(key []byte) (value []byte, found bool, err error) {
	const query = "SELECT CAST(value AS BLOB) FROM main WHERE key = ?"
	err = db.conn.QueryRowContext(context.Background(), query, notNil(key)).Scan(&value)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("%w: read from %s: %w", ErrIO, db.path, err)
	}
	return value, true, nil
}

// notNil keeps SQLite from taking an empty key or value for NULL.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
