package walletdb

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"modernc.org/sqlite"

	"github.com/seed61375155/trawl/internal/vfs"
)

// A journal or log of another database may look like the file's own. Whether SQLite would
// damage the file with such a journal is tried on a copy.

// prepare makes sure that SQLite would spoil nothing when it opens a file for writing.
//
// Errors: *Error.
func prepare(ctx context.Context, path string, opts Options) error {
	if err := checkDir(path); err != nil {
		return err
	}
	if err := checkBeside(path); err != nil {
		return err
	}
	if err := setOthersAside(path, opts.SetAside); err != nil {
		return openError(err)
	}
	if err := setSpoilersAside(ctx, path, opts); err != nil {
		return openError(err)
	}
	return nil
}

// setSpoilersAside renames a journal or a log with which SQLite would make a damaged file of
// a whole wallet. A file that another process uses is left as it is.
func setSpoilersAside(ctx context.Context, path string, opts Options) error {
	b, err := findBackup(path)
	if err != nil || len(b.hot) == 0 || inUse(b.path) || checkWhole(ctx, b.path, opts) != nil {
		return nil //nolint:nilerr // SQLite tells what is wrong
	}
	dir, hot := filepath.Dir(b.path), b.hot
	err = withTemporary(dir, FileName, func(temporary string) (err error) {
		defer func() { err = errors.Join(err, removeOwn(temporary)) }()
		_, err = b.play(ctx, temporary, opts)
		return err
	})
	switch {
	case errors.Is(err, errWritten):
		return nil
	case err != nil:
		return err
	case len(b.hot) == len(hot) || b.checkSame() != nil || inUse(b.path):
		return nil
	}
	for _, suffix := range hot {
		if slices.Contains(b.hot, suffix) {
			continue
		}
		if _, err := setAside(vfs.OS, b.path, opts.SetAside, suffix); err != nil {
			return err
		}
	}
	return vfs.OS.SyncDir(dir)
}

// play copies a backup and has SQLite apply the files beside it to the copy. If that damages
// a file that is whole by itself, one of them is another file's, or all are: these are left
// out. The sum is of all files that were there.
//
// Errors: *Error, those of the file system, the cause of ctx.
func (b *backup) play(ctx context.Context, target string, opts Options) (sum string, err error) {
	sum, err = b.copyAll(ctx, target)
	if err != nil || len(b.hot) == 0 {
		return sum, err
	}
	damaged, err := b.recoverCopy(ctx, target, opts)
	if !damaged || checkWhole(ctx, b.path, opts) != nil {
		return sum, err
	}
	b.others = true
	choices := [][]string{nil}
	if len(b.hot) > 1 { // the journal is tried last, since the log has changes that were acknowledged
		choices = [][]string{b.hot[1:], b.hot[:1], nil}
	}
	for _, b.hot = range choices {
		if err := removeBeside(target); err != nil {
			return "", err
		}
		if _, err := b.copyAll(ctx, target); err != nil || len(b.hot) == 0 {
			return sum, errors.Join(err, b.checkSame())
		}
		if damaged, err := b.recoverCopy(ctx, target, opts); !damaged {
			return sum, err
		}
	}
	return sum, nil
}

// recoverCopy has SQLite apply the files beside a copy to the copy, and reports whether what
// comes of it is damaged. Without an error the copy is as SQLite left it, damaged or not.
func (b *backup) recoverCopy(ctx context.Context, target string, opts Options) (damaged bool, err error) {
	if err := b.checkSame(); err != nil {
		return false, err
	}
	if err := recoverFile(ctx, target, opts); err != nil {
		return isDamage(err), err
	}
	return isDamage(checkWhole(ctx, target, opts)), nil
}

// checkWhole makes the checks of a wallet file by itself, whatever is beside it.
func checkWhole(ctx context.Context, path string, opts Options) error {
	opts.ReadOnly = true
	db, err := open(ctx, path, opts)
	if err != nil {
		return err
	}
	return db.Close()
}

// SQLite's codes of what a file holds; others are of the disk, of locks or of memory.
const (
	codeLogic   = 1 // a table is missing
	codeCorrupt = 11
	codeNoFile  = 26 // no database
)

// isDamage reports whether a file was refused for its content.
func isDamage(err error) bool {
	var failure *sqlite.Error
	if errors.As(err, &failure) {
		code := failure.Code() & 0xff
		return code == codeLogic || code == codeCorrupt || code == codeNoFile
	}
	var refused *Error
	if !errors.As(err, &refused) {
		return false
	}
	return refused.err == nil && !errors.Is(refused.Kind, ErrIO) && !errors.Is(refused.Kind, ErrJournal)
}
