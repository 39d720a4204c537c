package walletdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"modernc.org/sqlite"
)

// Backup copies the wallet to path by SQLite's online backup: a wallet file
// like any other, complete on disk when Backup returns, without a journal.
//
// A new file takes its name only when it is complete. A file that is there must
// be an SQLite database that nobody uses; its content is replaced in one
// transaction, as Core does. The wallet's own file is refused.
//
// Errors: ErrClosed, ErrBackup.
func (db *DB) Backup(path string) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.usable(); err != nil {
		return err
	}
	if err := db.backup(path); err != nil {
		return fmt.Errorf("%w: %s to %s: %w", ErrBackup, db.path, path, err)
	}
	return nil
}

func (db *DB) backup(path string) error {
	there, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return install(path, db.onSetAside, db.copyInto)
	case err != nil:
		return err
	}
	ours, err := os.Stat(db.path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist): // it may be gone: a backup is all the more wanted then
		return err
	case err == nil && os.SameFile(ours, there):
		return errors.New("the destination is the wallet itself")
	case !there.Mode().IsRegular():
		return errors.New("the destination is not a file")
	}
	if err := checkBeside(path); err != nil {
		return err
	}
	if err := setOthersAside(path, db.onSetAside); err != nil {
		return err
	}
	return db.copyInto(path)
}

// onlineBackup is what the driver's connections offer.
type onlineBackup interface {
	NewBackup(uri string) (*sqlite.Backup, error)
}

// copyInto replaces the content of the database at path, which may be an empty
// file.
func (db *DB) copyInto(path string) error {
	uri, err := address(path, "?mode=rw")
	if err != nil {
		return err
	}
	return db.conn.Raw(func(driver any) error {
		source, ok := driver.(onlineBackup)
		if !ok {
			return errors.ErrUnsupported
		}
		backup, err := source.NewBackup(uri)
		if err != nil {
			return err
		}
		_, err = backup.Step(-1)
		return errors.Join(err, backup.Finish())
	})
}
