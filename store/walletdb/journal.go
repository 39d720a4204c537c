package walletdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/vfs"
)

// Suffixes of the files beside a database in which SQLite keeps what makes it whole.
const (
	journalSuffix = "-journal"
	walSuffix     = "-wal"
)

// Sizes and places in a journal and a log, in bytes.
const (
	journalHeadSize  = 28
	journalRecordsAt = 8
	journalPagesAt   = 16 // of the database before the change
	journalSectorAt  = 20
	journalPageAt    = 24
	walHeadSize      = 32
	maxSector        = 1 << 16
)

var journalMagic = []byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}

// maxRecovery is how large a journal or a log may be, and a database that a journal
// makes, beside four times the size of the file.
const maxRecovery = 1 << 30

// checkBeside refuses files beside a database with which SQLite would hang, or touch
// files that are not the database's. A journal that names another journal has SQLite
// delete the file of that name, whatever it is. No wallet has such a journal.
func checkBeside(path string) error {
	whole, err := filepath.EvalSymlinks(path) // SQLite looks beside the file itself
	if err != nil {
		return nil //nolint:nilerr // SQLite tells what is wrong
	}
	for _, suffix := range beside[1:] {
		info, err := os.Lstat(whole + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return openError(err)
		case !info.Mode().IsRegular():
			return &Error{Kind: ErrJournal, Text: fmt.Sprintf(
				"SQLiteDatabase: Failed to open database: '%s' is not a file\n", path+suffix)}
		}
	}
	return checkNames(whole + journalSuffix)
}

// setOthersAside renames a journal or a log of another database beside this database. Otherwise
// SQLite would destroy the database with that file. A file in the middle of a change is left as
// it is.
func setOthersAside(path string, onSetAside func(from, to string)) error {
	whole, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil //nolint:nilerr // SQLite tells what is wrong
	}
	for _, suffix := range []string{journalSuffix, walSuffix} {
		b := &backup{path: whole}
		before, err := b.state()
		if err != nil {
			return err
		}
		hot, err := isHot(whole, suffix)
		if err != nil || !hot {
			continue
		}
		fit, err := fits(whole, suffix)
		if after, changed := b.state(); err != nil || fit || changed != nil || after != before {
			continue
		}
		if _, err := setAside(vfs.OS, whole, onSetAside, suffix); err != nil {
			return err
		}
		if err := vfs.OS.SyncDir(filepath.Dir(whole)); err != nil {
			return err
		}
	}
	return nil
}

// checkNames refuses a journal that ends in the name of another.
func checkNames(path string) error {
	file, size, err := openBeside(path)
	if err != nil {
		return openError(err)
	}
	if file == nil {
		return nil
	}
	defer file.Close()
	end := make([]byte, len(journalMagic))
	if size < int64(len(end)) {
		return nil
	}
	if _, err := file.ReadAt(end, size-int64(len(end))); err != nil {
		return openError(err)
	}
	if !bytes.Equal(end, journalMagic) {
		return nil
	}
	return &Error{Kind: ErrJournal, Text: fmt.Sprintf("SQLiteDatabase: Failed to open database: '%s' names another "+
		"journal, which the journal of a wallet never does\n", path)}
}

// openBeside opens a file beside a database; nil: there is none.
func openBeside(path string) (file *os.File, size int64, err error) {
	info, err := os.Lstat(path) // before opening: a pipe would wait for a writer
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s: not a file", path)
	}
	file, err = os.Open(path)
	return file, info.Size(), err
}

// isHot reports whether SQLite would change the database by a file beside it: by a
// journal that has not ended, or a log with something in it.
func isHot(path, suffix string) (bool, error) {
	file, size, err := openBeside(path + suffix)
	if err != nil || file == nil {
		return false, err
	}
	defer file.Close()
	if suffix == walSuffix {
		return size > walHeadSize, nil
	}
	var first [1]byte
	_, err = file.ReadAt(first[:], 0)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return first[0] != 0, err
}

// checkRecovery refuses files beside a database that are larger than limit, or would make the
// database larger than limit.
func checkRecovery(path, suffix string, limit int64) error {
	file, size, err := openBeside(path + suffix)
	if err != nil || file == nil {
		return err
	}
	defer file.Close()
	if suffix == journalSuffix {
		head := make([]byte, journalHeadSize)
		if _, err := file.ReadAt(head, 0); err == nil && bytes.HasPrefix(head, journalMagic) {
			pages, page := binary.BigEndian.Uint32(head[journalPagesAt:]), binary.BigEndian.Uint32(head[journalPageAt:])
			size = max(size, int64(pages)*int64(min(page, 1<<16)))
		}
	}
	if size > limit {
		return &Error{Kind: ErrJournal, Text: fmt.Sprintf("'%s' is too large for the file beside it.", path+suffix)}
	}
	return nil
}
