package walletdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// Places in the head of a database, in bytes.
const (
	sqlitePageSizeAt   = 16
	sqliteReadFormatAt = 19
	sqliteCounterAt    = 24 // of the changes
	sqlitePagesAt      = 28
	sqliteValidForAt   = 92 // the counter when the number of pages was written
	sqliteHeadSize     = 100

	rollbackFormat = 1 // of a database with a rollback journal
)

// A databaseHead is what the first bytes of a database tell.
type databaseHead struct {
	pageSize       int64
	counter, pages uint32
	pagesKnown     bool
	rollback       bool // it has a rollback journal and no log
}

func parseHead(head []byte) databaseHead {
	size := int64(binary.BigEndian.Uint16(head[sqlitePageSizeAt:]))
	if size == 1 {
		size = 1 << 16
	}
	counter := binary.BigEndian.Uint32(head[sqliteCounterAt:])
	return databaseHead{
		pageSize: size, counter: counter, pages: binary.BigEndian.Uint32(head[sqlitePagesAt:]),
		pagesKnown: counter == binary.BigEndian.Uint32(head[sqliteValidForAt:]),
		rollback:   head[sqliteReadFormatAt] == rollbackFormat,
	}
}

// fits reports whether a journal or log may belong to the database beside it. SQLite plays
// either into whatever database has the name. False is certain: the change that the journal
// would take back is none of this database's.
func fits(path, suffix string) (bool, error) {
	file, size, err := openBeside(path)
	if err != nil || file == nil {
		return true, err
	}
	defer file.Close()
	head := make([]byte, sqliteHeadSize)
	if size < sqliteHeadSize {
		return true, nil
	}
	if _, err := file.ReadAt(head, 0); err != nil {
		return true, err
	}
	if !bytes.HasPrefix(head, sqliteMagic) {
		return true, nil // its first page may be what the change was about
	}
	extra, size, err := openBeside(path + suffix)
	if err != nil || extra == nil {
		return true, err
	}
	defer extra.Close()
	if suffix == walSuffix {
		return !parseHead(head).rollback, nil
	}
	return journalFits(parseHead(head), extra, size)
}

// journalFits compares a journal with the head of a database. A change adds one to the
// counter on the first page, which the journal has as it was before.
func journalFits(head databaseHead, journal *os.File, size int64) (bool, error) {
	start := make([]byte, journalHeadSize)
	if _, err := journal.ReadAt(start, 0); err != nil {
		return true, ignoreEnd(err)
	}
	if !bytes.HasPrefix(start, journalMagic) {
		return true, nil // SQLite takes nothing back by it
	}
	if int64(binary.BigEndian.Uint32(start[journalPageAt:])) != head.pageSize {
		return false, nil
	}
	first, err := firstPage(head.pageSize, journal, size)
	switch {
	case err != nil:
		return true, err
	case first != nil:
		before := parseHead(first).counter
		return head.counter == before || head.counter == before+1, nil
	default: // the first page is as it was
		return !head.pagesKnown || head.pages == binary.BigEndian.Uint32(start[journalPagesAt:]), nil
	}
}

// firstPage returns the head of the first page of a database as a journal has it; nil: it does not.
func firstPage(pageSize int64, journal *os.File, size int64) ([]byte, error) {
	start := make([]byte, journalHeadSize)
	record := make([]byte, 4+sqliteHeadSize)
	for at := int64(0); at+journalHeadSize <= size; {
		if _, err := journal.ReadAt(start, at); err != nil || !bytes.HasPrefix(start, journalMagic) {
			return nil, ignoreEnd(err)
		}
		sector := int64(binary.BigEndian.Uint32(start[journalSectorAt:]))
		if sector < journalHeadSize || sector > maxSector {
			return nil, nil
		}
		records := binary.BigEndian.Uint32(start[journalRecordsAt:])
		at += sector
		for n := uint32(0); (n < records || records == 0) && at+int64(len(record)) <= size; n++ {
			if _, err := journal.ReadAt(record, at); err != nil {
				return nil, ignoreEnd(err)
			}
			if binary.BigEndian.Uint32(record) == 1 {
				return record[4:], nil
			}
			at += 4 + pageSize + 4
		}
		if records == 0 {
			return nil, nil
		}
		at = (at + sector - 1) / sector * sector
	}
	return nil, nil
}

// ignoreEnd is an error of reading, unless the file has ended.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
