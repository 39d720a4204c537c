package walletdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Recovery says how a copy of a file that was in use was made whole.
type Recovery struct {
	Journal bool // an interrupted change was rolled back by the journal beside the file
	Log     bool // changes were taken over from the write-ahead log beside it
	Others  bool // a journal or a log beside it is another file's, and was left out
}

// Any reports whether anything was to be done.
func (r Recovery) Any() bool { return r.Journal || r.Log }

// Hint tells of a backup that is refused which files beside it were taken for a part of it;
// it is empty where none was.
func (r Recovery) Hint(source string) string {
	switch {
	case r.Journal && r.Log:
		return fmt.Sprintf("\n'%s-journal' and '%s-wal' were taken for parts of the backup. If they are not, "+
			"move them away.", source, source)
	case r.Journal:
		return fmt.Sprintf("\n'%s-journal' was taken for a part of the backup. If it is not, move it away.", source)
	case r.Log:
		return fmt.Sprintf("\n'%s-wal' was taken for a part of the backup. If it is not, move it away.", source)
	}
	return ""
}

// A Staged is a copy of a backup, under a temporary name. It is whole by itself.
type Staged struct {
	Path     string
	Sum      string // of the backup; see [Fingerprint]
	Recovery Recovery
}

// A backup is a file with its files beside it.
type backup struct {
	path string // of the file itself, without links
	size int64
	hot  []string // suffixes of the files beside it that change it

	others bool // there are such files of another database
	before backupState
}

// findBackup looks at a file and at what is beside it.
//
// Errors: *Error with ErrJournal, those of the file system.
func findBackup(source string) (*backup, error) {
	info, err := os.Stat(source) // before opening: a pipe would wait for a writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("copy %s: not a file", source)
	}
	path, err := filepath.EvalSymlinks(source)
	if err != nil {
		return nil, err
	}
	b := &backup{path: path, size: info.Size()}
	if b.before, err = b.state(); err != nil {
		return nil, err
	}
	for _, suffix := range []string{journalSuffix, walSuffix} {
		if info, err := os.Lstat(path + suffix); err != nil || !info.Mode().IsRegular() {
			continue // what is no file of SQLite's has nothing of the backup
		}
		hot, err := isHot(path, suffix)
		if err != nil {
			return nil, err
		}
		if !hot {
			continue
		}
		fit, err := fits(path, suffix)
		if err != nil {
			return nil, err
		}
		if !fit {
			b.others = true
			continue
		}
		if suffix == journalSuffix {
			if err := checkNames(path + suffix); err != nil {
				return nil, err
			}
		}
		if err := checkRecovery(path, suffix, maxRecovery+4*b.size); err != nil {
			return nil, err
		}
		b.hot = append(b.hot, suffix)
	}
	return b, nil
}

// Fingerprint returns the SHA-256 of a backup in hex: of the file, and of the files
// beside it that are a part of the backup.
//
// Errors: those of the file system.
func Fingerprint(source string) (string, error) {
	b, err := findBackup(source)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, suffix := range append([]string{""}, b.hot...) {
		if err := b.read(context.Background(), suffix, sum, sum); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// read writes a file of the backup, and what tells it from the next into its sum.
func (b *backup) read(ctx context.Context, suffix string, to io.Writer, sum hash.Hash) error {
	from, err := os.Open(b.path + suffix)
	if err != nil {
		return err
	}
	defer from.Close()
	if suffix != "" {
		sum.Write([]byte{0})
		sum.Write([]byte(suffix))
	}
	_, err = io.Copy(to, &untilDone{ctx, from})
	return err
}

// untilDone is read until its context ends.
type untilDone struct {
	ctx  context.Context //nolint:containedctx // of one copy
	from io.Reader
}

func (r *untilDone) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.from.Read(p)
}

// stage makes a whole copy of a backup out of an empty file. The backup is only read.
//
// Errors: *Error, those of the file system, the cause of ctx.
func stage(ctx context.Context, source, target string, opts Options) (*Staged, error) {
	b, err := findBackup(source)
	if err != nil {
		return nil, err
	}
	sum, err := b.play(ctx, target, opts)
	recovery := Recovery{
		Journal: slices.Contains(b.hot, journalSuffix), Log: slices.Contains(b.hot, walSuffix), Others: b.others,
	}
	var refused *Error
	switch {
	case errors.As(err, &refused) && !errors.Is(err, errWritten):
		return nil, &Error{Kind: refused.Kind, err: err, Text: refused.Text + recovery.Hint(source)}
	case err != nil:
		return nil, err
	}
	return &Staged{Path: target, Sum: sum, Recovery: recovery}, nil
}

// errWritten reports a backup that is no copy, but a wallet that is being written.
var errWritten = &Error{Kind: ErrJournal, Text: "The file is being written to by another program."}

// A backupState is what tells whether a backup was written to.
type backupState [3]struct {
	size int64
	at   time.Time
}

func (b *backup) state() (state backupState, err error) {
	for i, suffix := range []string{"", journalSuffix, walSuffix} {
		info, err := os.Lstat(b.path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return state, err
		default:
			state[i].size, state[i].at = info.Size(), info.ModTime()
		}
	}
	return state, nil
}

// checkSame returns errWritten if a backup was written to after it was found.
func (b *backup) checkSame() error {
	if now, err := b.state(); err != nil || now != b.before {
		return errors.Join(errWritten, err)
	}
	return nil
}

// copyAll copies the backup to the disk, and returns its sum.
func (b *backup) copyAll(ctx context.Context, target string) (string, error) {
	sum := sha256.New()
	for _, suffix := range append([]string{""}, b.hot...) {
		if err := b.copy(ctx, suffix, target+suffix, sum); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// copy copies a file of the backup to the disk.
func (b *backup) copy(ctx context.Context, suffix, target string, sum hash.Hash) error {
	to, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := b.read(ctx, suffix, io.MultiWriter(to, sum), sum); err != nil {
		return errors.Join(err, to.Close())
	}
	return errors.Join(to.Sync(), to.Close())
}

// recoverFile has SQLite apply the journal or log beside a copy to the copy, so
// that nothing is beside it afterwards.
func recoverFile(ctx context.Context, path string, opts Options) error {
	opts.ReadOnly, opts.UnsafeSync = false, false
	db, err := connect(ctx, path, opts)
	if err != nil {
		return err
	}
	// The checkpoint empties the log of a file in that mode, and does nothing else.
	err = db.exec("PRAGMA wal_checkpoint(TRUNCATE)")
	if err = errors.Join(err, db.Close()); err != nil {
		return openError(err)
	}
	for _, suffix := range []string{journalSuffix, walSuffix} {
		if hot, err := isHot(path, suffix); err != nil || hot {
			return openError(err)
		}
	}
	return errors.Join(removeBeside(path), syncFile(path))
}

func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// Inspect has look read a backup as [Restore] would restore it. Where nothing beside the
// file is a part of it, look gets the file itself. Else it gets a whole copy in dir, of at
// most limit bytes, which is removed afterwards.
//
// Errors: ErrTooLarge, those of look and of Restore.
func Inspect(
	ctx context.Context, source, dir string, limit int64, opts Options, look func(path string) error,
) (Recovery, error) {
	b, err := findBackup(source)
	if err != nil {
		return Recovery{}, err
	}
	if len(b.hot) == 0 {
		return Recovery{Others: b.others}, look(source)
	}
	size := int64(0)
	for _, suffix := range append([]string{""}, b.hot...) {
		if info, err := os.Lstat(b.path + suffix); err == nil {
			size += info.Size()
		}
	}
	if size > limit {
		return Recovery{}, ErrTooLarge
	}
	var recovery Recovery
	err = withTemporary(dir, FileName, func(temporary string) (err error) {
		defer func() { err = errors.Join(err, removeOwn(temporary)) }()
		staged, err := stage(ctx, source, temporary, opts)
		if staged != nil {
			recovery = staged.Recovery
		}
		if err != nil {
			return err
		}
		return look(temporary)
	})
	return recovery, err
}
