package walletdb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/vfs"
)

// rewriteMark is the name of the mark, beside the wallet's file, that says that
// the file is to be rewritten.
const rewriteMark = "." + FileName + ".rewrite"

// Replace is [DB.Update] for changes that take secrets out of the wallet, such as
// its encryption. When it returns without error, no deleted or replaced bytes are
// in any file of the wallet. If the process ends earlier, the next opening of the
// file completes the removal.
//
// Errors: those of Update and Rewrite. With one of Rewrite the changes are on disk.
func (db *DB) Replace(change func(*Batch) error) error {
	mark := db.mark()
	if err := makeMark(mark); err != nil {
		return fmt.Errorf("%w: %w", ErrIO, err)
	}
	if err := db.Update(change); err != nil {
		return errors.Join(err, os.Remove(mark))
	}
	if err := db.Rewrite(); err != nil {
		return err
	}
	return removeMark(mark)
}

// Rewrite rewrites the whole file, so that nothing of deleted records stays
// in it: not even what moved from page to page before. As with Update, a crash
// leaves the old content or the new.
//
// Errors: ErrClosed, ErrIO.
func (db *DB) Rewrite() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.usable(); err != nil {
		return err
	}
	return db.rewrite()
}

func (db *DB) rewrite() error {
	// The checkpoint empties the log of a file in that mode, and does nothing else.
	if err := db.exec("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return fmt.Errorf("rewrite %s: %w", db.path, ioError(err))
	}
	return nil
}

// removeTraces removes what processes before this one left of secrets: in an ended
// journal, in files that never became wallets, and in the wallet's own file if its
// rewriting was cut short. The file is locked. Traces that cannot be removed now,
// on a full disk, are removed when the wallet is opened again.
func (db *DB) removeTraces() {
	removeStale(filepath.Dir(db.path), filepath.Base(db.path))
	emptyJournal(db.path + "-journal")
	mark := db.mark()
	if _, err := os.Lstat(mark); err == nil && db.rewrite() == nil {
		_ = removeMark(mark)
	}
}

func (db *DB) mark() string { return filepath.Join(filepath.Dir(db.path), rewriteMark) }

func makeMark(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return vfs.OS.SyncDir(filepath.Dir(path))
}

func removeMark(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrIO, err)
	}
	return nil
}

// emptyJournal cuts off the content of a journal that has ended: its head is
// zeros then. SQLite keeps such files, in the mode in which it has one user.
func emptyJournal(path string) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer file.Close()
	var head [8]byte
	if _, err := io.ReadFull(file, head[:]); err != nil || head != [8]byte{} {
		return
	}
	if file.Truncate(0) == nil {
		_ = file.Sync()
	}
}
