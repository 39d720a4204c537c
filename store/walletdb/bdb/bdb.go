// Package bdb reads the records of a Berkeley DB file as the wallets of old
// versions of Bitcoin Core are: one btree called main, in either byte order.
//
// The package is pure: it reads what it is given and never writes. Files may come
// from anyone. Each page is read once at most, so that memory and time are bounded
// by the size of the file, and nothing panics. A file whose last changes are in log
// files beside it is refused, as in Core, since a reading without them would be
// incomplete.
//
// Refusals that Core makes too have Core's words. Also refused are a page that
// is used twice and a key that comes twice: no program writes such files.
//
// Source: Bitcoin Core v30, wallet/migrate.cpp; Berkeley DB's dbinc/db_page.h.
package bdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ErrDamaged reports a file that is not of the form that wallets have. Its text is
// Core's where Core refuses the file too.
var ErrDamaged = errors.New("damaged Berkeley DB file")

// ErrUnflushed reports a file whose last changes may be in log files beside it.
var ErrUnflushed = errors.New("Berkeley DB file is not flushed") //nolint:staticcheck // a name

// An Error says why a file was refused.
type Error struct {
	Kind error // ErrDamaged or ErrUnflushed
	Text string
}

// Error returns the text, which is Core's where Core refuses the file too.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

func damaged(text string) error { return &Error{Kind: ErrDamaged, Text: text} }

// A Record is a key and its value.
type Record struct{ Key, Value []byte }

// name is what the database in the file is called.
const name = "main"

// reader holds the state of one reading.
type reader struct {
	file     io.ReaderAt
	size     int64
	pageSize int64
	last     uint32 // number of the last page
	order    binary.ByteOrder
	seen     map[uint32]bool // pages that were read
	page     []byte
}

// Records returns the records of a file of the given size, by ascending keys.
//
// Errors: [*Error], those of the file.
func Records(file io.ReaderAt, size int64) ([]Record, error) {
	r := &reader{file: file, size: size}
	meta, err := r.outer()
	if err != nil {
		return nil, err
	}
	if err := r.checkFlushed(); err != nil {
		return nil, err
	}
	root, err := r.find(meta)
	if err != nil {
		return nil, err
	}
	records, err := r.walk(root)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(records, func(a, b Record) int { return bytes.Compare(a.Key, b.Key) })
	for i := 1; i < len(records); i++ {
		if bytes.Equal(records[i].Key, records[i-1].Key) {
			return nil, damaged("Two records have the same key")
		}
	}
	return records, nil
}

// outer reads the first page, which is about the whole file.
func (r *reader) outer() (*meta, error) {
	m, err := r.readMeta(0)
	if err != nil {
		return nil, err
	}
	r.pageSize, r.order = int64(m.pageSize), m.order
	if int64(m.last) != r.size/r.pageSize-1 {
		return nil, damaged("Last page number could not fit in file")
	}
	r.last = m.last
	if m.encryption != 0 {
		return nil, damaged("BDB builtin encryption is not supported")
	}
	r.seen = make(map[uint32]bool)
	r.page = make([]byte, r.pageSize)
	return m, nil
}

// Where a page tells how far the log was when it was written.
const (
	lsnSize     = 8
	lsnFile     = 0 // of a page that does not depend on any log
	lsnFileAt   = 0
	lsnOffset   = 1
	lsnOffsetAt = 4
)

// checkFlushed refuses a file with pages that log files may say more about. As in
// Core the last page is not looked at.
func (r *reader) checkFlushed() error {
	var lsn [lsnSize]byte
	for page := range int64(r.last) {
		if _, err := r.file.ReadAt(lsn[:], page*r.pageSize); err != nil {
			return readError(err)
		}
		if r.order.Uint32(lsn[lsnFileAt:]) != lsnFile || r.order.Uint32(lsn[lsnOffsetAt:]) != lsnOffset {
			return &Error{Kind: ErrUnflushed, Text: "LSNs are not reset, this database is not completely flushed. " +
				"Please reopen then close the database with a version that has BDB support"}
		}
	}
	return nil
}

// find returns the first page of the database in the file.
func (r *reader) find(outer *meta) (root uint32, err error) {
	p, err := r.read(outer.root)
	switch {
	case err != nil:
		return 0, err
	case p.kind != leafPage:
		return 0, damaged("Unexpected outer database root page type")
	case p.entries != 2:
		return 0, damaged("Unexpected number of entries in outer database root page")
	}
	items, err := p.items()
	if err != nil {
		return 0, err
	}
	if items[0].elsewhere || string(items[0].data) != name {
		return 0, damaged("Subdatabase has an unexpected name")
	}
	if items[1].elsewhere || len(items[1].data) != 4 {
		return 0, damaged("Subdatabase page number has unexpected length")
	}
	number := binary.BigEndian.Uint32(items[1].data) // in any file
	if number > r.last {
		return 0, damaged("Page number is greater than database last page")
	}
	inner, err := r.readMeta(number)
	switch {
	case err != nil:
		return 0, err
	case int64(inner.pageSize) != r.pageSize:
		return 0, damaged("Unexpected page size")
	case inner.last > r.last:
		return 0, damaged("Subdatabase last page is greater than database last page")
	case inner.encryption != 0:
		return 0, damaged("BDB builtin encryption is not supported")
	}
	r.order = inner.order
	return inner.root, nil
}

// walk reads the tree from its root, from left to right.
func (r *reader) walk(root uint32) ([]Record, error) {
	var records []Record
	for todo := []uint32{root}; len(todo) > 0; {
		number := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		p, err := r.read(number)
		if err != nil {
			return nil, err
		}
		switch p.kind {
		case internalPage:
			children, err := p.children()
			if err != nil {
				return nil, err
			}
			slices.Reverse(children)
			todo = append(todo, children...)
		case leafPage:
			if records, err = r.appendLeaf(records, p); err != nil {
				return nil, err
			}
		default:
			return nil, damaged("Unexpected page type")
		}
	}
	return records, nil
}

// appendLeaf appends the records of a page, which hold a key and its value in turn.
func (r *reader) appendLeaf(records []Record, p *page) ([]Record, error) {
	items, err := p.items()
	if err != nil {
		return nil, err
	}
	if len(items)%2 != 0 {
		return nil, damaged("Records page has odd number of records")
	}
	for i := 0; i < len(items); i += 2 {
		key, value := items[i], items[i+1]
		if key.deleted || value.deleted {
			continue
		}
		var record Record
		if record.Key, err = r.content(key); err != nil {
			return nil, err
		}
		if record.Value, err = r.content(value); err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, nil
}

// content returns the bytes of an item, which may lie on pages of their own.
func (r *reader) content(it item) ([]byte, error) {
	if !it.elsewhere {
		return it.data, nil
	}
	data := []byte{}
	for number := it.first; number != 0; {
		p, err := r.read(number)
		if err != nil {
			return nil, err
		}
		if p.kind != overflowPage {
			return nil, damaged("Bad overflow record page type")
		}
		part, err := p.part()
		if err != nil {
			return nil, err
		}
		data = append(data, part...)
		number = p.next
	}
	if len(data) != int(it.size) {
		return nil, damaged("Overflow record has an unexpected length")
	}
	return data, nil
}

// readError puts the end of a file into Core's words.
func readError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged("AutoFile::read: end of file: unspecified iostream_category error")
	}
	return fmt.Errorf("read Berkeley DB file: %w", err)
}
