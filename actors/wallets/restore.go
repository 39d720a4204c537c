package wallets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
	"github.com/seed61375155/trawl/store/walletdir"
)

// restoration brings a backup into the place of a wallet that is not there.
//
// The copy is checked to its last record under a temporary name. Before it gets
// the name of a wallet, a mark beside it says which backup it is of; the mark
// goes when the wallet is loaded. So whatever ends the process, there is either
// no wallet or a whole one, and restoring the same backup again carries on.
type restoration struct {
	*home

	source   string
	recovery walletdb.Recovery // of the backup
}

// markName is the name of the mark in the wallet's directory. It holds the
// fingerprint of the backup.
const markName = "." + walletdb.FileName + ".restoring"

// run runs in the first worker of the wallet's actor. The order of its checks
// is Core's.
//
// Errors: *messages.WalletError.
func (r *restoration) run(ctx context.Context) (*opened, error) {
	r.step("Checking backup…", 0)
	if err := r.checkNamed(); err != nil {
		return nil, err
	}
	info, err := os.Stat(r.source)
	switch {
	case err != nil && walletdir.Missing(err):
		return nil, codes.Errorf(codes.Parameter, "Backup file does not exist")
	case err != nil:
		return nil, fileSystem("status", err, r.source)
	}
	free, err := r.isFree() //nolint:contextcheck // files know no contexts
	if err != nil {
		return nil, err
	}
	if free {
		if err := r.copy(ctx, info); err != nil {
			return nil, err
		}
	}
	o, err := r.open(ctx)
	if err == nil {
		o.warnings = append(o.warnings, recoveryWarnings(r.recovery)...)
	}
	return o, err
}

// recoveryWarnings tell how the copy of a backup was made whole.
func recoveryWarnings(r walletdb.Recovery) (texts []string) {
	if r.Others {
		texts = append(texts, "A journal or write-ahead log beside the backup belongs to another file and was left "+
			"out.")
	}
	if r.Journal {
		texts = append(texts, "The backup is a copy of a wallet in use: an interrupted change was rolled back by the "+
			"journal beside the file.")
	}
	if r.Log {
		texts = append(texts, "The backup is a copy of a wallet in use: changes were taken over from the write-ahead "+
			"log beside the file.")
	}
	return texts
}

// isFree reports whether the place is free. It is not, without an error, when
// an earlier restoration of the same backup was cut short there.
func (r *restoration) isFree() (bool, error) {
	info, err := os.Stat(r.dir)
	switch {
	case err != nil && walletdir.Missing(err):
		return true, nil
	case err != nil:
		return false, fileSystem("status", err, r.dir)
	case !info.IsDir():
		return false, codes.Errorf(codes.Exists, "Failed to restore wallet. Database file exists '%s'.", r.dir)
	}
	if _, err := os.Stat(r.file); err != nil {
		if walletdir.Missing(err) {
			return true, nil
		}
		return false, fileSystem("status", err, r.file)
	}
	mark, err := os.ReadFile(r.mark())
	if err == nil {
		sum, err := walletdb.Fingerprint(r.source)
		if err == nil && sum == strings.TrimSpace(string(mark)) {
			r.cfg.Log.Info("restoring goes on where it was cut short", "wallet", r.name)
			return false, nil
		}
	}
	return false, codes.Errorf(codes.Exists, "Failed to restore wallet. Database file exists in '%s'.", r.file)
}

// copy makes the wallet's file.
func (r *restoration) copy(ctx context.Context, source os.FileInfo) error {
	if err := r.checkPath(true); err != nil {
		return err
	}
	made, err := walletdir.Make(r.dir)
	if err != nil {
		return fileSystem("cannot create directories", err, r.dir)
	}
	if source.Mode().IsRegular() {
		err = walletdb.Restore(ctx, r.source, r.file, r.cfg.fileOptions(), func(staged *walletdb.Staged) error {
			return r.check(ctx, staged)
		})
	} else {
		err = fileSystem("cannot copy file", syscall.EINVAL, r.source, r.file)
	}
	if err != nil {
		_ = os.Remove(r.mark()) // no file of ours is beside it
		_ = made.Remove()       // stays if something else came into it
		return r.notCopied(err)
	}
	r.onFailure(func() error { //nolint:contextcheck // files know no contexts
		return errors.Join(r.discard(), os.Remove(r.mark()), made.Remove())
	})
	return nil
}

// notCopied puts the error of a copy into Core's words.
func (r *restoration) notCopied(err error) error {
	var path *os.PathError
	switch {
	case isAnswer(err):
		return err
	case errors.Is(err, walletdb.ErrExists):
		return codes.Errorf(codes.Exists, "Failed to restore wallet. Database file exists in '%s'.", r.file)
	case errors.As(err, &path):
		return fileSystem("cannot copy file", err, r.source, r.file)
	}
	return refusedFile(err)
}

// check accepts the copy, which has a temporary name yet, and marks it.
func (r *restoration) check(ctx context.Context, staged *walletdb.Staged) error {
	r.recovery = staged.Recovery
	net := r.cfg.params(r.name)
	opts := r.cfg.fileOptions()
	content, severity, err := walletdb.Verify(ctx, staged.Path, opts, net.LoadOptions(), walletdb.Limits{})
	var refused *walletdb.Error
	switch {
	case errors.As(err, &refused):
		return r.refused(refusedFile(err))
	case err != nil:
		r.cfg.Log.Warn("backup refused", "wallet", r.name, "err", err)
		return r.refused(r.refusedRecords(severity))
	}
	content.Zero()
	if r.recovery.Any() {
		r.cfg.Log.Warn("backup is a copy of a wallet in use", "wallet", r.name,
			"journal rolled back", r.recovery.Journal, "log taken over", r.recovery.Log)
	}
	return vfs.ReplaceFile(vfs.OS, r.mark(), []byte(staged.Sum+"\n"), 0o600)
}

// refused adds to a refusal the files beside the backup that were taken for parts of the backup.
func (r *restoration) refused(e *messages.WalletError) *messages.WalletError {
	return codes.Errorf(e.Code, "%s%s", e.Text, r.recovery.Hint(r.source))
}

func (h *home) mark() string { return filepath.Join(h.dir, markName) }

// unmark notes that the wallet has arrived. A mark that stays does no harm.
func (h *home) unmark() {
	if err := os.Remove(h.mark()); err != nil && !walletdir.Missing(err) {
		h.cfg.Log.Warn("mark of a restored wallet stays", "wallet", h.name, "err", err)
	}
}

// sumOf returns the SHA-256 of a file in hex.
func sumOf(path string) (string, error) {
	file, err := os.Open(path) //nolint:gosec // the client names it
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// errOtherName reports the file of a wallet that was loaded by another name while it was being made.
var errOtherName = errors.New("loaded by another name")

// discard deletes the file of a wallet that could not be loaded, unless it is loaded by another name: then it may
// have given out addresses.
func (h *home) discard() error {
	if walletdb.InUse(h.file, h.cfg.fileOptions()) {
		return fmt.Errorf("%s: %w", h.file, errOtherName)
	}
	return removeFile(h.file)
}

// removeFile deletes a wallet's file that is not to be, and the journal that may be beside
// it. The file goes first: without its journal it might be half of a change.
func removeFile(path string) error {
	err := os.Remove(path)
	if journal := os.Remove(path + "-journal"); !walletdir.Missing(journal) {
		err = errors.Join(err, journal)
	}
	return err
}
