package walletdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// OpenDir is [Open] for the wallet file in a directory. As in Core, a directory without a wallet is refused like a
// directory with an unreadable wallet. A legacy wallet may be a file in the place of the directory.
//
// Errors: *Error.
func OpenDir(dir string, opts Options) (*DB, error) {
	path, legacy := LegacyIn(dir)
	if legacy && path == dir {
		return nil, legacyError(dir)
	}
	db, err := Open(filepath.Join(dir, FileName), opts)
	if _, noDir := os.Stat(dir); errors.Is(err, ErrNotFound) && noDir == nil {
		return nil, formatError(dir, err)
	}
	return db, err
}

// LegacyIn returns where the file of a legacy wallet would be, in a directory or in its place, and whether it is one.
func LegacyIn(dir string) (path string, legacy bool) {
	path = dir
	if info, err := os.Stat(dir); err != nil || info.IsDir() {
		path = filepath.Join(dir, FileName)
	}
	format, err := FormatOf(path, [4]byte{})
	return path, err == nil && format == Berkeley
}

func legacyError(dir string) error {
	return &Error{Kind: ErrLegacy, Text: fmt.Sprintf(
		"Failed to open database path '%s'. The wallet appears to be a Legacy wallet, please use the wallet "+
			"migration tool (migratewallet RPC or the GUI option).", dir)}
}

func formatError(dir string, err error) error {
	return &Error{Kind: ErrFormat, err: err, Text: fmt.Sprintf(
		"Failed to load database path '%s'. Data is not in recognized format.", dir)}
}
