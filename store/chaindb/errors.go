package chaindb

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/syndtr/goleveldb/leveldb"
	ldberrors "github.com/syndtr/goleveldb/leveldb/errors"

	"github.com/seed61375155/trawl/store/blockfile"
)

var (
	// ErrNotFound reports a block that is not stored, or the missing undo data
	// of a stored block that was never connected to the chain.
	ErrNotFound = errors.New("not found")
	// ErrCorrupt reports a block or undo data that cannot be read back as it
	// was written.
	ErrCorrupt = blockfile.ErrCorrupt
	// ErrPruned reports a block whose file was removed by [DB.Prune], or its undo
	// data.
	ErrPruned = errors.New("pruned")
	// ErrDamaged reports, from [Open], that metadata and files do not agree or
	// that the metadata cannot be read. The blocks may well be all there: call
	// [Rebuild], open again and feed [DB.Reload] to the chain.
	ErrDamaged = errors.New("chain database damaged")
	// ErrClosed reports the use of a closed database.
	ErrClosed = errors.New("chain database closed")
	// ErrFailed reports a write after a failed write, until the database is opened
	// again.
	ErrFailed = errors.New("chain database takes no writes after a failure")
	// ErrWrongNetwork reports, from [Open], the database of another network.
	ErrWrongNetwork = errors.New("chain database belongs to another network")
	// ErrNewer reports a database that a later revision has written.
	ErrNewer = errors.New("chain database is of a newer version of this program")
	// ErrForeign reports a folder with the database of another program. Nothing
	// in it was changed.
	ErrForeign = errors.New("folder holds a database of another program")
)

// fromLevelDB puts our sentinels in place of goleveldb's errors.
func fromLevelDB(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, leveldb.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, leveldb.ErrClosed):
		return ErrClosed
	case ldberrors.IsCorrupted(err):
		return &tableError{err}
	}
	return err
}

// tableError reports metadata that cannot be read as it was written. It is both
// [ErrCorrupt] and [ErrDamaged].
type tableError struct{ err error }

const damagedText = "chain database is damaged (it is checked at the next start and built anew from the block files " +
	"if need be; " +
	"-reindex-chainstate does so at once)"

func (e *tableError) Error() string { return damagedText + ": " + e.err.Error() }

func (*tableError) Is(target error) bool { return target == ErrCorrupt || target == ErrDamaged }

func (e *tableError) Unwrap() error { return e.err }

// dbError makes the error type that btcd looks at: it asserts database.Error,
// so these must not be wrapped.
func dbError(code database.ErrorCode, format string, args ...any) error {
	return database.Error{ErrorCode: code, Description: fmt.Sprintf(format, args...)}
}

// toBTCD converts one of our errors about a block to btcd's.
func toBTCD(hash *chainhash.Hash, err error) error {
	if err == nil {
		return nil
	}
	code := database.ErrDriverSpecific
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrPruned):
		code = database.ErrBlockNotFound
	case errors.Is(err, ErrCorrupt):
		code = database.ErrCorruption
	}
	return database.Error{ErrorCode: code, Description: fmt.Sprintf("block %v", hash), Err: err}
}
