package walletdb

import (
	"context"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// Setting returns the value of a setting of the connection.
func (db *DB) Setting(name string) (value string, err error) {
	err = db.conn.QueryRowContext(context.Background(), "PRAGMA "+name).Scan(&value)
	return value, err
}

// Within is Records of a file with no more than the limits say.
func (db *DB) Within(l Limits) ([]walletfile.Record, error) { return db.records(l) }

// Share is what says that files are being made in a directory.
var Share = share

// EmptyJournal is what opening does to the journal beside a file.
var EmptyJournal = emptyJournal

// GiveName is how a new file gets its name.
var GiveName = giveName

// Sever ends the connection without a word to the DB.
func (db *DB) Sever() error { return db.conn.Close() }

// Checks are what Open looks at, one after the other.
func (db *DB) Checks() []func() error {
	return []func() error{db.verify, db.verifyVersion, db.verifyPages, db.verifySchema}
}

// Initialize makes the schema.
func (db *DB) Initialize() error { return db.initialize([4]byte{}) }

// Lock is what connect does with a connection.
func (db *DB) Lock() error { return db.lock(Options{}) }

// Exec runs statements, in the transaction that runs.
func (db *DB) Exec(statements ...string) error { return db.exec(statements...) }

var SwapByNames = swapByNames

// Place gives a complete file its name.
func Place(disk vfs.FS, temporary, path string, onSetAside func(from, to string)) error {
	return place(disk, temporary, path, disk.Rename, onSetAside)
}
