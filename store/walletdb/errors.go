package walletdb

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// The kinds of refusals; an [Error] wraps a kind.
var (
	// ErrFormat reports a file that is no wallet file of the network: not
	// SQLite, too short, or of another network.
	ErrFormat = errors.New("not a wallet file")

	// ErrLegacy reports a Berkeley DB file, as legacy wallets have.
	ErrLegacy = errors.New("legacy wallet file")

	// ErrNotFound reports that there is no file.
	ErrNotFound = errors.New("wallet file not found")

	// ErrExists reports a file in the place of a new one.
	ErrExists = errors.New("wallet file exists")

	// ErrLocked reports a file that another program uses, or whose head is so
	// damaged that it cannot be locked.
	ErrLocked = errors.New("wallet file cannot be locked")

	// ErrVersion reports a version of the schema that is not known.
	ErrVersion = errors.New("unknown version of the wallet schema")

	// ErrIntegrity reports damaged pages.
	ErrIntegrity = errors.New("wallet file damaged")

	// ErrSchema reports a table of another form, or more than the one table.
	ErrSchema = errors.New("unexpected wallet schema")

	// ErrJournal reports files beside a wallet file that cannot be its own, or that
	// are being written.
	ErrJournal = errors.New("wrong files beside a wallet file")

	// ErrIO reports a failure of the disk or of SQLite.
	ErrIO = errors.New("wallet database failed")
)

var (
	// ErrClosed reports the use of a closed DB.
	ErrClosed = errors.New("wallet file is closed")

	// ErrMoved reports that the file has lost its name or another file has it, so
	// that nothing is written. Its records can still be read.
	ErrMoved = errors.New("wallet file was moved or deleted")

	// ErrBackup reports a backup that was not made.
	ErrBackup = errors.New("wallet backup failed")
)

// An Error says why a file was refused.
type Error struct {
	Kind error  // ErrFormat, ErrLegacy, ...
	Text string // Core's text, without what the caller sets before it
	err  error  // the cause, which may be nil
}

// Error returns Core's text.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.err}
}

// codeTexts are SQLite's names of its result codes, as Core prints them.
var codeTexts = map[int]string{
	1:  "SQL logic error",
	3:  "access permission denied",
	5:  "database is locked",
	6:  "database table is locked",
	7:  "out of memory",
	8:  "attempt to write a readonly database",
	10: "disk I/O error",
	11: "database disk image is malformed",
	13: "database or disk is full",
	14: "unable to open database file",
	17: "database schema has changed",
	18: "string or blob too big",
	26: "file is not a database",
}

// moved is SQLite's code of a write to a file that lost its name.
const moved = 8 | 4<<8

// ioError wraps a failure of a write.
func ioError(err error) error {
	var failure *sqlite.Error
	if errors.As(err, &failure) && failure.Code() == moved {
		return fmt.Errorf("%w: %w: %w", ErrIO, ErrMoved, err)
	}
	return fmt.Errorf("%w: %w", ErrIO, err)
}

// Reason returns SQLite's name of what an error says, for people.
func Reason(err error) string { return codeText(err) }

// codeText returns SQLite's name of an error.
func codeText(err error) string {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return "unknown error"
	}
	if text, ok := codeTexts[failure.Code()&0xff]; ok {
		return text
	}
	return "unknown error"
}
