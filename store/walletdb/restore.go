package walletdb

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Restore puts a copy of the backup source at path, byte for byte. If the backup is of a
// file that was in use, with a hot journal or a log beside it, SQLite makes the copy
// whole. The source is only read. Before the copy gets the name path it is complete on
// disk and check has accepted it. No file is replaced, and a failure at any point leaves
// no new file. The function check gets the copy, which is in the same directory, and
// must leave nothing open; see [Verify].
//
// Errors: *Error, among them ErrExists and ErrJournal; those of check and of the file
// system, the cause of ctx.
func Restore(ctx context.Context, source, path string, opts Options, check func(*Staged) error) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return existsError(path, err)
	}
	err := install(path, opts.SetAside, func(temporary string) error {
		staged, err := stage(ctx, source, temporary, opts)
		if err != nil {
			return err
		}
		return check(staged)
	})
	if errors.Is(err, fs.ErrExist) {
		return existsError(path, err)
	}
	return err
}
