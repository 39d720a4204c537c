package walletdb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/vfs"
)

// A wallet that is a file becomes a directory with a file in it. Both are swapped in
// one step where the system can do that. Where it cannot, there is a moment in which
// the old file has another name, and so has the new directory.

// besideOf is the name under which what is to take the place of a file is made.
func besideOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".migrating")
}

// ReplaceFile puts a directory with a wallet file in it, of the records that fill
// writes, in the place of a file that is there, which is lost. The rest of an
// interrupted attempt, under the directory's first name, is removed.
//
// Errors: *Error, those of fill and of the file system.
func ReplaceFile(path string, opts Options, fill func(*Batch) error) error {
	beside := besideOf(path)
	if err := removeWallet(beside); err != nil {
		return err
	}
	if err := os.Mkdir(beside, 0o700); err != nil {
		return err
	}
	db, err := Create(filepath.Join(beside, FileName), opts, fill)
	if err == nil {
		err = db.Close()
	}
	if err == nil {
		err = swap(beside, path)
	}
	if err != nil {
		return errors.Join(err, removeWallet(beside))
	}
	return errors.Join(os.Remove(beside), vfs.OS.SyncDir(filepath.Dir(path)))
}

// RestoreFile puts a copy of a file in the place of a directory with nothing but a
// wallet file in it: it undoes ReplaceFile.
func RestoreFile(source, path string, setAside func(from, to string)) error {
	beside := besideOf(path)
	if err := Copy(source, beside, false, setAside); err != nil {
		return err
	}
	if err := swap(beside, path); err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	return errors.Join(removeWallet(beside), vfs.OS.SyncDir(filepath.Dir(path)))
}

// Remove removes a wallet's file for good.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return vfs.OS.SyncDir(filepath.Dir(path))
}

// removeWallet removes a directory with nothing but a wallet's file in it, or a file.
func removeWallet(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return os.Remove(path)
	}
	removeStale(path, FileName)
	return errors.Join(removeOwn(filepath.Join(path, FileName)), os.Remove(path))
}

// swapByNames swaps two names in steps.
func swapByNames(fresh, old string) error {
	third := fresh + ".old"
	if err := os.Rename(old, third); err != nil {
		return err
	}
	if err := os.Rename(fresh, old); err != nil {
		return errors.Join(err, os.Rename(third, old))
	}
	return os.Rename(third, fresh)
}
