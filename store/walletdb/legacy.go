package walletdb

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb/bdb"
)

// ReadLegacy returns the records of a legacy wallet's file by ascending keys. Nothing is
// written. Nobody may write to the file meanwhile.
//
// Errors: *Error with ErrNotFound or ErrFormat, [*bdb.Error], those of the file system.
func ReadLegacy(path string) ([]walletfile.Record, error) {
	format, err := FormatOf(path, [4]byte{})
	if err != nil {
		return nil, err
	}
	if format != Berkeley {
		return nil, &Error{Kind: ErrFormat, Text: fmt.Sprintf(
			"Failed to load database path '%s'. Data is not in required format.", dirOf(path))}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	found, err := bdb.Records(file, size)
	if err != nil {
		return nil, err
	}
	records := make([]walletfile.Record, len(found))
	for i, r := range found {
		records[i] = walletfile.Record(r)
	}
	return records, nil
}

// Replace makes a wallet file with the records that fill writes in the place of a file
// that is there, which is lost. The new file is complete on the disk before it takes
// the name: whatever happens, the name leads to the one or to the other.
//
// Errors: *Error, those of fill and of the file system.
func Replace(path string, opts Options, fill func(*Batch) error) error {
	opts.ReadOnly = false
	return installation{path, os.Rename, opts.SetAside}.run(func(temporary string) error {
		return createAt(temporary, opts, fill)
	})
}

// Copy puts a copy of the file source at path, where it appears only when it is
// complete on the disk. An existing file is replaced if over is set.
//
// Errors: fs.ErrExist, those of the file system.
func Copy(source, path string, over bool, setAside func(from, to string)) error {
	name := giveName
	if over {
		name = os.Rename
	}
	return installation{path, name, setAside}.run(func(temporary string) error {
		info, err := os.Stat(source) // before opening: a pipe would wait for a writer
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("copy %s: not a file", source)
		}
		return (&backup{path: source}).copy(context.Background(), "", temporary, sha256.New())
	})
}

// SameRecords reports whether a wallet file has exactly these records, by ascending
// keys.
//
// Errors: those of [Open] and of [DB.Records].
func SameRecords(path string, opts Options, records []walletfile.Record) (same bool, err error) {
	db, err := Open(path, opts)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	there, err := db.Records()
	if err != nil || len(there) != len(records) {
		return false, err
	}
	for i, r := range there {
		if string(r.Key) != string(records[i].Key) || string(r.Value) != string(records[i].Value) {
			return false, nil
		}
	}
	return true, nil
}

// InUse reports whether a wallet file is open, in this process or in another.
func InUse(path string, opts Options) bool {
	db, err := Open(path, opts)
	if err == nil {
		err = db.Close()
	}
	return errors.Is(err, ErrLocked)
}
