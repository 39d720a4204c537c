package walletdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/walletfile"
)

// schemaVersion is the user_version of a wallet file.
const schemaVersion = 0

// maxComplaints is the number of faults that integrity_check lists at most,
// which is SQLite's own default.
const maxComplaints = 100

// Limits bound what is read of a file. Zero: all of it is.
type Limits struct {
	Records int
	Bytes   int64 // of all keys and values
}

func (l Limits) exceeded(records int, size int64) bool {
	return l.Records > 0 && records > l.Records || l.Bytes > 0 && size > l.Bytes
}

// ErrTooLarge reports a file with more records than are read.
var ErrTooLarge = errors.New("wallet file has too many records")

// Verify checks a file to the last record without writing to it or creating
// anything beside it: form, schema, integrity, and that [walletfile.Load] can
// use the records. It returns what Load returns; the caller wipes the wallet's
// keys, and all copies of them that were made here are overwritten. Nobody may write
// to the file meanwhile. Memory grows with the size of the records.
//
// Errors: *Error if the file is at fault, those of Load if the records are, ErrTooLarge beyond the
// limits, the cause of ctx once that has ended.
func Verify(
	ctx context.Context, path string, opts Options, load walletfile.LoadOptions, limits Limits,
) (wallet *walletfile.Wallet, severity walletfile.Severity, err error) {
	defer func() {
		if err != nil && ctx.Err() != nil { // whatever an end in the middle looked like
			err = context.Cause(ctx)
		}
	}()
	opts.ReadOnly = true
	db, err := open(ctx, path, opts)
	if err != nil {
		return nil, walletfile.LoadFail, err
	}
	defer db.Close()
	records, err := db.records(limits)
	if err != nil {
		return nil, walletfile.LoadFail, err
	}
	defer wipe(records)
	return walletfile.Load(ctx, slices.Values(records), load)
}

// verify makes the checks of a file that is open. The application id has been
// looked at before.
func (db *DB) verify() error {
	if err := db.verifyVersion(); err != nil {
		return err
	}
	if err := db.verifyPages(); err != nil {
		return err
	}
	return db.verifySchema()
}

func (db *DB) verifyVersion() error {
	var version int32
	if err := db.conn.QueryRowContext(db.ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return &Error{
			Kind: ErrIntegrity, err: err,
			Text: "SQLiteDatabase: Failed to fetch sqlite wallet schema version: " + codeText(err),
		}
	}
	if version != schemaVersion {
		return &Error{Kind: ErrVersion, Text: fmt.Sprintf(
			"SQLiteDatabase: Unknown sqlite wallet schema version %d. Only version %d is supported", version,
			schemaVersion)}
	}
	return nil
}

// verifyPages lets SQLite check every page.
func (db *DB) verifyPages() error {
	complaints, err := db.texts(fmt.Sprintf("PRAGMA integrity_check(%d)", maxComplaints))
	complaints = slices.DeleteFunc(complaints, func(text string) bool { return text == "ok" })
	switch {
	case err != nil:
		return &Error{
			Kind: ErrIntegrity, err: err,
			Text: "SQLiteDatabase: Failed to execute statement to verify database: " + codeText(err),
		}
	case len(complaints) > 0:
		return &Error{Kind: ErrIntegrity, Text: "Failed to verify database\n" + strings.Join(complaints, "\n") + "\n"}
	}
	return nil
}

// verifySchema refuses files without the table, and those with anything else in
// them: views and triggers would run on our statements.
func (db *DB) verifySchema() error {
	names, err := db.texts("SELECT type || ' ' || name FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'")
	if err != nil {
		return schemaError(err)
	}
	if len(names) == 0 {
		return &Error{Kind: ErrSchema, Text: "SQLiteDatabase: The table of records is missing"}
	}
	if !slices.Equal(names, []string{"table main"}) {
		return &Error{Kind: ErrSchema, Text: "SQLiteDatabase: Unexpected entries in the database schema: " +
			strings.Join(names, ", ")}
	}
	columns, err := db.texts("SELECT name FROM pragma_table_info('main')")
	if err != nil || !slices.Equal(columns, []string{"key", "value"}) {
		return schemaError(err)
	}
	return nil
}

// schemaError is Core's error for a table that its statements do not fit.
func schemaError(err error) error {
	return &Error{Kind: ErrSchema, err: err, Text: "SQLiteDatabase: Failed to setup SQL statements: SQL logic error\n"}
}

// texts returns the first column of a query.
func (db *DB) texts(query string) ([]string, error) {
	rows, err := db.conn.QueryContext(db.ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		found = append(found, text)
	}
	return found, rows.Err()
}
