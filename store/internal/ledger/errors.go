package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/syndtr/goleveldb/leveldb"
	ldberrors "github.com/syndtr/goleveldb/leveldb/errors"

	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

var (
	// ErrNotFound reports a key that is not there.
	ErrNotFound = errors.New("not found")

	// ErrDamaged reports keys or files that cannot be read as they were written. See
	// [Ledger.Wipe].
	ErrDamaged = errors.New("damaged")

	// ErrForeign reports, from [Open], keys of another program, or of another
	// network. Nothing was changed.
	ErrForeign = errors.New("the folder is another program's or another network's")

	// ErrNewer reports, from [Open], keys of a later version of this program. Nothing
	// was changed.
	ErrNewer = errors.New("written by a newer version of this program")

	// ErrLocked reports, from [Open], a ledger that is open already.
	ErrLocked = dbfiles.ErrLocked

	// ErrClosed reports the use of a closed ledger.
	ErrClosed = errors.New("closed")

	// ErrFailed reports a write after a failed write.
	ErrFailed = errors.New("no writes are taken after a failure")

	// errMissing reports, from openDB, that there is no database.
	errMissing = errors.New("no database")
)

// fromLevelDB puts our sentinels in the place of goleveldb's errors. A table that
// was lost is damage, like one with wrong bytes.
func fromLevelDB(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist) && ldberrors.IsCorrupted(err) || isMissingFile(err):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case errors.Is(err, fs.ErrNotExist):
		return errMissing
	case errors.Is(err, leveldb.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, leveldb.ErrClosed):
		return ErrClosed
	case ldberrors.IsCorrupted(err):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// isMissingFile tells a file that is missing from a database that is.
func isMissingFile(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && errors.Is(err, fs.ErrNotExist)
}

// fromRead is fromLevelDB for an error of a read, where a sector that the disk cannot
// read is damage as well, unless what is there is to be kept: see [Options].
func fromRead(err error, keep bool) error {
	if !keep && errors.Is(err, syscall.EIO) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return fromLevelDB(err)
}
