package walletdb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Create makes a wallet file at path with the records that fill writes, and
// opens it. The directory must be there. The file takes its name when it is
// complete on disk: whatever happens, there is never a part of a wallet at
// path, and no file is replaced.
//
// Errors: *Error, among them ErrExists; those of fill.
func Create(path string, opts Options, fill func(*Batch) error) (*DB, error) {
	opts.ReadOnly = false
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil, existsError(path, err)
	}
	if err := checkDir(path); err != nil {
		return nil, err
	}
	err := install(path, opts.SetAside, func(temporary string) error {
		return createAt(temporary, opts, fill)
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, existsError(path, err)
	case err != nil:
		return nil, err
	}
	return Open(path, opts)
}

func existsError(path string, err error) error {
	return &Error{Kind: ErrExists, err: err, Text: fmt.Sprintf(
		"Failed to create database path '%s'. Database already exists.", dirOf(path))}
}

// createAt makes a wallet of an empty file and closes it.
func createAt(path string, opts Options, fill func(*Batch) error) error {
	db, err := connect(context.Background(), path, opts)
	if err != nil {
		return err
	}
	err = db.initialize(opts.Magic)
	if err == nil {
		err = db.Update(fill)
	}
	return errors.Join(err, db.Close())
}

// initialize makes the schema.
func (db *DB) initialize(magic [4]byte) error {
	err := db.exec(
		"BEGIN EXCLUSIVE TRANSACTION",
		"CREATE TABLE main(key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL)",
		fmt.Sprintf("PRAGMA application_id = %d", int32(binary.BigEndian.Uint32(magic[:]))),
		fmt.Sprintf("PRAGMA user_version = %d", schemaVersion),
		"COMMIT",
	)
	if err != nil {
		return &Error{Kind: ErrIO, err: err, Text: fmt.Sprintf(
			"SQLiteDatabase: Failed to create new database: %s\n", codeText(err),
		)}
	}
	return nil
}

// giveName moves a file without replacing another.
func giveName(temporary, path string) error {
	err := os.Link(temporary, path)
	switch {
	case err == nil:
		return os.Remove(temporary)
	case errors.Is(err, fs.ErrExist):
		return err
	}
	// Some file systems have no links.
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fs.ErrExist, err)
	}
	return os.Rename(temporary, path)
}
