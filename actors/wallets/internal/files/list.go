package files

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

const legacyWarning = "This wallet is a legacy wallet and will need to be migrated with migratewallet before it can " +
	"be loaded"

// itemFailed is the text of the log for an unreadable entry: the error and the
// path.
const itemFailed = "Error while scanning wallet dir item: %v [%s]."

// List returns the wallets below a directory, as Core's listwalletdir finds
// them. Unreadable entries are passed over.
func List(dir string, magic [4]byte, log *slog.Logger) []messages.WalletDirEntry {
	var found []messages.WalletDirEntry
	note := func(name, path string) {
		switch format, err := walletdb.FormatOf(path, magic); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			corelog.Printf(log, slog.LevelWarn, itemFailed, err, path)
		case format == walletdb.SQLite:
			found = append(found, messages.WalletDirEntry{Name: name})
		case format == walletdb.Berkeley:
			found = append(found, messages.WalletDirEntry{Name: name, Warnings: []string{legacyWarning}})
		}
	}
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			note := itemFailed
			if path == dir {
				note = "Error scanning directory entries under: %v [%s]"
			}
			corelog.Printf(log, slog.LevelWarn, note, err, path)
			return fs.SkipDir
		}
		name, relErr := filepath.Rel(dir, path)
		if relErr != nil || path == dir {
			return nil //nolint:nilerr // what has no relative path is no wallet's
		}
		if isDir(path, entry) {
			note(name, filepath.Join(path, walletdb.FileName))
			return nil
		}
		if filepath.Dir(path) != filepath.Clean(dir) || !entry.Type().IsRegular() || filepath.Ext(path) == ".bak" {
			return nil
		}
		if entry.Name() == walletdb.FileName {
			note("", path)
		} else if format, err := walletdb.FormatOf(path, magic); err == nil && format == walletdb.Berkeley {
			note(name, path)
		}
		return nil
	})
	return found
}

// isDir reports whether an entry is a directory, or a link to one.
func isDir(path string, entry fs.DirEntry) bool {
	if entry.IsDir() {
		return true
	}
	if entry.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
