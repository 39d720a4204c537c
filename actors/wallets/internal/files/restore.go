package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
	"github.com/seed61375155/trawl/store/walletdir"
)

// A Restoration brings a backup into the place of a wallet that is not there.
//
// The copy is checked to its last record under a temporary name. Before it gets
// the name of a wallet, a mark beside it says which backup it is of; the mark
// goes when the wallet is loaded. So whatever ends the process, there is either
// no wallet or a whole one, and restoring the same backup again carries on.
type Restoration struct {
	*Spec

	source   string
	recovery walletdb.Recovery // of the backup
	beyond   *beyond           // nil: the file was there before
	folder   walletdir.Made
	made     bool // the file
}

// Restore returns the restoration of a wallet from a backup.
func (s *Spec) Restore(backup string) *Restoration { return &Restoration{Spec: s, source: backup} }

// Run copies the backup, and opens the wallet. The order of its checks is Core's.
//
// Errors: *messages.WalletError.
func (r *Restoration) Run(ctx context.Context) (*Opened, error) {
	r.Step("Checking backup…")
	if err := r.checkNamed(); err != nil {
		return nil, err
	}
	info, err := statBackup(r.source)
	if err != nil {
		return nil, err
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
	o, err := r.Open(ctx, false)
	if err == nil {
		o.Warnings = append(o.Warnings, r.recovery.Warnings()...)
	}
	return o, err
}

// statBackup describes the file of a backup.
func statBackup(path string) (os.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil && walletdb.Missing(err):
		return nil, codes.Errorf(codes.Parameter, "Backup file does not exist")
	case err != nil:
		return nil, codes.FileSystem("status", err, path)
	}
	return info, nil
}

// isFree reports whether the place is free. It is not, without an error, when
// an earlier restoration of the same backup was cut short there.
func (r *Restoration) isFree() (bool, error) {
	info, err := os.Stat(r.dir)
	switch {
	case err != nil && walletdb.Missing(err):
		return true, nil
	case err != nil:
		return false, codes.FileSystem("status", err, r.dir)
	case !info.IsDir():
		return false, codes.Errorf(codes.Exists, "Failed to restore wallet. Database file exists '%s'.", r.dir)
	}
	if _, err := os.Stat(r.file); err != nil {
		if walletdb.Missing(err) {
			return true, nil
		}
		return false, codes.FileSystem("status", err, r.file)
	}
	if walletdb.IsMarked(r.dir, r.source) {
		r.cfg.Log.Info("restoring goes on where it was cut short", "wallet", r.Name)
		return false, nil
	}
	return false, codes.Errorf(codes.Exists, "Failed to restore wallet. Database file exists in '%s'.", r.file)
}

// copy makes the wallet's file.
func (r *Restoration) copy(ctx context.Context, source os.FileInfo) error {
	if err := r.checkPath(true); err != nil {
		return err
	}
	var err error
	if r.folder, err = walletdir.Make(r.dir); err != nil {
		return codes.FileSystem("cannot create directories", err, r.dir)
	}
	if source.Mode().IsRegular() {
		err = walletdb.Restore(ctx, r.source, r.file, r.cfg.options(), func(staged *walletdb.Staged) error {
			return r.check(ctx, staged)
		})
	} else {
		err = codes.FileSystem("cannot copy file", syscall.EINVAL, r.source, r.file)
	}
	if err != nil {
		_ = walletdb.Unmark(r.dir) // no file of ours is beside it
		_ = r.folder.Remove()      // stays if something else came into it
		return r.notCopied(err)
	}
	r.made = true
	return nil
}

// Undo takes back what Run did. The wallet is not open any more.
func (r *Restoration) Undo() error {
	if !r.made {
		return nil
	}
	return errors.Join(r.discard(), walletdb.Unmark(r.dir), r.folder.Remove())
}

// notCopied puts the error of a copy into Core's words.
func (r *Restoration) notCopied(err error) error {
	var path *os.PathError
	switch {
	case codes.IsAnswer(err):
		return err
	case errors.Is(err, walletdb.ErrExists):
		return codes.Errorf(codes.Exists, "Failed to restore wallet. Database file exists in '%s'.", r.file)
	case errors.As(err, &path):
		return codes.FileSystem("cannot copy file", err, r.source, r.file)
	}
	return refusedFile(err)
}

// check accepts the copy, which has a temporary name yet, and marks it.
func (r *Restoration) check(ctx context.Context, staged *walletdb.Staged) error {
	r.recovery = staged.Recovery
	content, severity, err := r.verify(ctx, staged.Path, walletdb.Limits{})
	var refused *walletdb.Error
	switch {
	case errors.As(err, &refused):
		return r.refused(refusedFile(err))
	case err != nil:
		r.cfg.Log.Warn("backup refused", "wallet", r.Name, "err", err)
		return r.refused(r.refusedRecords(severity))
	}
	r.beyond = newBeyond(content, r.cfg.KeyPool)
	content.Zero()
	if r.recovery.Any() {
		r.cfg.Log.Warn("backup is a copy of a wallet in use", "wallet", r.Name,
			"journal rolled back", r.recovery.Journal, "log taken over", r.recovery.Log)
	}
	return walletdb.Mark(r.dir, staged.Sum)
}

// refused adds to a refusal the files beside the backup that were taken for parts of the backup.
func (r *Restoration) refused(e *messages.WalletError) *messages.WalletError {
	return codes.Errorf(e.Code, "%s%s", e.Text, r.recovery.Hint(r.source))
}

// Arrived notes that a wallet is loaded, which may have been restored. A mark that stays does no harm.
func (s *Spec) Arrived() {
	if err := walletdb.Unmark(s.dir); err != nil {
		s.cfg.Log.Warn("mark of a restored wallet stays", "wallet", s.Name, "err", err)
	}
}

// ErrOtherName reports the file of a wallet that was loaded by another name while it was being made.
var ErrOtherName = errors.New("loaded by another name")

// discard deletes the file of a wallet that could not be loaded, unless it is loaded by another name: then it may
// have given out addresses.
func (s *Spec) discard() error {
	if walletdb.InUse(s.file, s.cfg.options()) {
		return fmt.Errorf("%s: %w", s.file, ErrOtherName)
	}
	return walletdb.Discard(s.file)
}
