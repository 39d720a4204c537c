package walletdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
)

// address is SQLite's URI of a file. Names may hold any character.
func address(path, parameters string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	escaped := &url.URL{Path: filepath.ToSlash(absolute)}
	return "file:" + escaped.EscapedPath() + parameters, nil
}

// connect opens a file and locks it, unless for reading only. No page is
// checked yet. SQLite applies the files beside it; see prepare.
func connect(ctx context.Context, path string, opts Options) (*DB, error) {
	parameters := "?mode=ro&immutable=1"
	if !opts.ReadOnly {
		parameters = "?mode=rw"
	}
	uri, err := address(path, parameters)
	if err != nil {
		return nil, openError(err)
	}
	pool, err := sql.Open("sqlite", uri)
	if err != nil {
		return nil, openError(err)
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(openError(err), pool.Close())
	}
	db := &DB{path: path, onSetAside: opts.SetAside, pool: pool, conn: conn, ctx: ctx}
	if err := db.lock(opts); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// checkDir refuses a file beside which no others can be made: SQLite needs a journal.
func checkDir(path string) error {
	if mayMakeFiles(dirOf(path)) {
		return nil
	}
	return &Error{Kind: ErrIO, Text: fmt.Sprintf(
		"SQLiteDatabase: Failed to open database in directory '%s': directory is not writable", dirOf(path))}
}

func openError(err error) error {
	return &Error{
		Kind: ErrIO, err: err, Text: fmt.Sprintf("SQLiteDatabase: Failed to open database: %s\n", codeText(err)),
	}
}

// lock takes the file for this connection until it is closed. After an error nothing is to
// be done but that.
func (db *DB) lock(opts Options) error {
	synchronous := "FULL"
	if opts.UnsafeSync {
		synchronous = "OFF"
	}
	settings := []string{
		"PRAGMA busy_timeout = 0", // another user keeps the file for long
		"PRAGMA trusted_schema = OFF",
		"PRAGMA locking_mode = exclusive",
		// A deleted record may be a private key: it is overwritten, stays in no
		// journal after its transaction and goes to no temporary file.
		"PRAGMA secure_delete = ON",
		"PRAGMA journal_size_limit = 0",
		"PRAGMA temp_store = MEMORY",
	}
	if err := db.exec(settings...); err != nil {
		return &Error{Kind: ErrIO, err: err, Text: fmt.Sprintf(
			"SQLiteDatabase: Unable to change database locking mode to exclusive: %s\n", codeText(err))}
	}
	// The lock outlives the transaction because of the locking mode. A file
	// that is opened for reading only is read here, not locked.
	if err := db.exec("BEGIN EXCLUSIVE TRANSACTION", "SELECT count(*) FROM sqlite_master"); err != nil {
		return lockError(err, opts)
	}
	settings = []string{
		"COMMIT", "PRAGMA fullfsync = true", "PRAGMA synchronous = " + synchronous,
		"PRAGMA cache_size = -65536", // KiB at most: checking a file visits its pages many times
	}
	if err := db.exec(settings...); err != nil {
		return &Error{Kind: ErrIO, err: err, Text: fmt.Sprintf(
			"SQLiteDatabase: Unable to end exclusive lock transaction: %s\n", codeText(err))}
	}
	return nil
}

func lockError(err error, opts Options) error {
	return &Error{Kind: ErrLocked, err: err, Text: fmt.Sprintf(
		"SQLiteDatabase: Unable to obtain an exclusive lock on the database, is it being used by another instance of "+
			"%s?\n", opts.client())}
}

// exec runs statements one after the other, up to the first that fails.
func (db *DB) exec(statements ...string) error {
	for _, statement := range statements {
		if _, err := db.conn.ExecContext(db.ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
