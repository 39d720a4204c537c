package walletdb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Restore puts a byte for byte copy of the file source at path. The copy is
// complete on disk and check has accepted it before it gets the name path; no
// file is replaced, and after a failure at any point no file is left that was
// not there. check gets the path of the copy, which is in the same directory,
// and must leave nothing open; see [Verify].
//
// Errors: *Error with ErrExists, those of check and of the file system.
func Restore(source, path string, check func(staged string) error) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return existsError(path, err)
	}
	err := install(path, func(staged string) error {
		if err := copyFile(source, staged); err != nil {
			return err
		}
		return check(staged)
	})
	if errors.Is(err, fs.ErrExist) {
		return existsError(path, err)
	}
	return err
}

// copyFile copies the bytes of a file into one that is there, to the disk.
func copyFile(source, target string) error {
	info, err := os.Stat(source) // before opening: a pipe would wait for a writer
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("copy %s: not a file", source)
	}
	from, err := os.Open(source)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(target, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		return errors.Join(err, to.Close())
	}
	return errors.Join(to.Sync(), to.Close())
}
