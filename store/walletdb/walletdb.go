// Package walletdb keeps the records of a wallet in a wallet.dat of Bitcoin
// Core: an SQLite database with the network's magic as application id and one
// table of keys and values.
//
// A file that is open belongs to this process alone, and [DB.Update] returns
// after the disk has its changes: all of them or, after a crash, none. The
// package knows bytes; what they mean is walletfile's. Only [Verify] joins the
// two.
//
// A new file gets its name only when it is complete on the disk and SQLite would play
// no file beside it into the new file. For this, journals, logs and indexes of other
// databases are renamed first. A file beside which SQLite would touch foreign files
// is not opened. Where a file beside a whole wallet would have SQLite damage it, which is
// tried on a copy, that file is renamed too.
//
// It deletes no file that it did not make itself. SQLite's own files beside an
// open wallet come and go with it: wallet.dat-journal, and -wal if the file is
// in that mode. Opening a wallet rolls back a journal that a crash left.
//
// Deleted records are overwritten, and no journal keeps them after the
// transaction. Once a wallet is encrypted, no file has unencrypted private keys.
//
// Source: Bitcoin Core v30, wallet/sqlite.cpp and wallet/db.cpp.
package walletdb

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed61375155/trawl/internal/walletfile"
)

// FileName is the name of the wallet file in the directory of its wallet.
const FileName = "wallet.dat"

// DefaultClient is the name of the program in the texts of errors.
const DefaultClient = "Bitcoin Core"

// Options say how a wallet file is opened.
type Options struct {
	// Magic is the network's message start, which the file must bear.
	Magic [4]byte

	// Client is the name of the program in texts; DefaultClient if empty.
	Client string

	// ReadOnly opens the file without locks and without looking for a
	// journal, for files that nobody writes. Nothing beside it is created.
	ReadOnly bool

	// UnsafeSync does not wait for the disk (-unsafesqlitesync).
	UnsafeSync bool

	// SetAside is called with the old and the new name of each file that was set
	// aside. Such a file lay where SQLite would have taken it for a new file's
	// journal or log. Nil: nothing.
	SetAside func(from, to string)
}

func (o *Options) client() string {
	if o.Client == "" {
		return DefaultClient
	}
	return o.Client
}

// DB is an open wallet file. Its methods are safe for concurrent use; they wait
// for each other.
type DB struct {
	path       string
	self       os.FileInfo // of the file that is open; nil: not known
	onSetAside func(from, to string)

	mu   sync.Mutex
	pool *sql.DB
	conn *sql.Conn       // the only one; nil when closed
	ctx  context.Context //nolint:containedctx // ends what reads a file that is only looked at
	dead error           // set by a failure that leaves the connection in doubt
}

// Open opens the wallet file at path and makes Core's checks of the file. They
// are its form, the lock, the version of the schema, the integrity of all
// pages, and that the file has a single table only. The records are not looked
// at.
//
// Errors: *Error.
func Open(path string, opts Options) (*DB, error) {
	return open(context.Background(), path, opts)
}

// open opens a file whose reading ends with ctx.
func open(ctx context.Context, path string, opts Options) (*DB, error) {
	if err := checkFormat(path, opts.Magic); err != nil {
		return nil, err
	}
	if opts.ReadOnly {
		if err := checkWritable(path, opts); err != nil {
			return nil, err
		}
	} else if err := prepare(ctx, path, opts); err != nil {
		return nil, err
	}
	db, err := connect(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	if err := db.verify(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if !opts.ReadOnly {
		db.removeTraces()
	}
	if db.self, err = os.Stat(path); err != nil {
		return nil, errors.Join(&Error{Kind: ErrIO, err: err, Text: fmt.Sprintf(
			"SQLiteDatabase: Failed to open database: %v\n", err,
		)}, db.Close())
	}
	return db, nil
}

// Path returns the path of the file as it was given.
func (db *DB) Path() string { return db.path }

// Close ends the use of the file, with no change lost. Closing again does
// nothing.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.conn == nil {
		return nil
	}
	err := errors.Join(db.conn.Close(), db.pool.Close())
	db.conn = nil
	if err != nil {
		return fmt.Errorf("close wallet %s: %w", db.path, err)
	}
	return nil
}

// usable returns the reason if the connection cannot be used, else nil. The caller holds mu.
func (db *DB) usable() error {
	if db.conn == nil {
		return ErrClosed
	}
	return db.dead
}

// atPlace reports ErrMoved when the path does not lead to the open file any more.
// SQLite looks only when it opens its journal.
func (db *DB) atPlace() error {
	if db.self == nil {
		return nil
	}
	there, err := os.Stat(db.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(db.self, there):
		return fmt.Errorf("%w: %w", ErrIO, ErrMoved)
	}
	return nil
}

// Records returns all records by ascending bytes of their keys.
//
// Errors: ErrClosed, ErrIO.
func (db *DB) Records() ([]walletfile.Record, error) {
	return db.records(Limits{})
}

// records returns all records, of which there may be no more than the limits say. Records that are
// not returned are overwritten.
func (db *DB) records(limits Limits) (records []walletfile.Record, err error) {
	size := int64(0)
	err = db.Each(func(r walletfile.Record) error {
		size += int64(len(r.Key) + len(r.Value))
		if limits.exceeded(len(records)+1, size) {
			return ErrTooLarge
		}
		records = append(records, walletfile.Record{Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value)})
		return nil
	})
	if err != nil {
		wipe(records)
		return nil, err
	}
	slices.SortFunc(records, func(a, b walletfile.Record) int { return bytes.Compare(a.Key, b.Key) })
	return records, nil
}

// Each calls visit with all records, in the order of the table, which is that in which they were written last. Their
// memory is overwritten after each call. An error of visit ends the reading and is returned as it is.
//
// Errors: ErrClosed, ErrIO, those of visit.
func (db *DB) Each(visit func(walletfile.Record) error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.usable(); err != nil {
		return err
	}
	// Rows of foreign files may hold numbers and texts for bytes.
	const query = "SELECT CAST(key AS BLOB), CAST(value AS BLOB) FROM main"
	rows, err := db.conn.QueryContext(db.ctx, query)
	if err != nil {
		return fmt.Errorf("%w: records of %s: %w", ErrIO, db.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var key, value sql.RawBytes // the driver's memory, which is not used again
		if err := rows.Scan(&key, &value); err != nil {
			return fmt.Errorf("%w: records of %s: %w", ErrIO, db.path, err)
		}
		err := visit(walletfile.Record{Key: key, Value: value})
		clear(value)
		if err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%w: records of %s: %w", ErrIO, db.path, err)
	}
	return nil
}

// wipe overwrites the values of records, which may be private keys.
func wipe(records []walletfile.Record) {
	for _, r := range records {
		clear(r.Value)
	}
}

// dirOf is the directory that Core names in its texts.
func dirOf(path string) string { return filepath.Dir(path) }
