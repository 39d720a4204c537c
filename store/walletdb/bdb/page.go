package bdb

import (
	"bytes"
	"encoding/binary"
	"io"
)

// The types of pages that occur, and the items on them.
const (
	internalPage = 3
	leafPage     = 5
	overflowPage = 7
	metaPage     = 9

	plainItem    = 1
	overflowItem = 3
	deletedItem  = 0x80 // set beside the type
)

// Sizes and places on a page, in bytes.
const (
	headerSize   = 26
	itemHeader   = 3
	internalHead = 12
	overflowSize = 12

	metaSize    = 512
	minPageSize = 512
	maxPageSize = 65536
)

const (
	magic   = 0x00053162 // of a btree
	version = 9

	// subDatabases is the flag of a file that holds databases with names.
	subDatabases = 0x20
)

// meta is what the first page of a file or of a database says.
type meta struct {
	order      binary.ByteOrder
	pageSize   uint32
	encryption byte
	last, root uint32
}

// readMeta reads the head of the page with the given number. The order of its checks
// is Core's.
func (r *reader) readMeta(number uint32) (*meta, error) {
	if r.seen != nil {
		if err := r.take(number); err != nil {
			return nil, err
		}
	}
	var b [metaSize]byte
	if _, err := r.file.ReadAt(b[:], int64(number)*r.pageSize); err != nil {
		return nil, readError(err)
	}
	m := &meta{order: binary.LittleEndian, encryption: b[24]}
	if binary.BigEndian.Uint32(b[12:]) == magic {
		m.order = binary.BigEndian
	}
	field := func(at int) uint32 { return m.order.Uint32(b[at:]) }
	m.pageSize, m.last, m.root = field(20), field(32), field(88)
	switch {
	case field(8) != number:
		return nil, damaged("Meta page number mismatch")
	case field(12) != magic:
		return nil, damaged("Not a BDB file")
	case field(16) != version:
		return nil, damaged("Unsupported BDB data file version number")
	case m.pageSize < minPageSize || m.pageSize > maxPageSize || m.pageSize&(m.pageSize-1) != 0:
		return nil, damaged("Bad page size")
	case b[25] != metaPage:
		return nil, damaged("Unexpected page type, should be 9 (BTree Metadata)")
	case field(48) != subDatabases:
		return nil, damaged("Unexpected database flags, should only be 0x20 (subdatabases)")
	}
	return m, nil
}

// page is a page of a tree. Its bytes are those of the reader: they change when the
// next page is read.
type page struct {
	bytes   []byte
	order   binary.ByteOrder
	next    uint32
	entries uint16
	used    uint16 // where the items begin, or the length of an overflow page's part
	kind    byte
}

// take notes that a page is read.
func (r *reader) take(number uint32) error {
	switch {
	case number > r.last:
		return readError(io.EOF)
	case r.seen[number]:
		return damaged("A page is used twice")
	}
	r.seen[number] = true
	return nil
}

// read reads a page.
func (r *reader) read(number uint32) (*page, error) {
	if err := r.take(number); err != nil {
		return nil, err
	}
	if _, err := r.file.ReadAt(r.page, int64(number)*r.pageSize); err != nil {
		return nil, readError(err)
	}
	p := &page{
		bytes: r.page, order: r.order, kind: r.page[25],
		next: r.order.Uint32(r.page[16:]), entries: r.order.Uint16(r.page[20:]), used: r.order.Uint16(r.page[22:]),
	}
	if r.order.Uint32(r.page[8:]) != number {
		return nil, damaged("Page number mismatch")
	}
	if level := r.page[24]; (level == 0) != (p.kind == overflowPage) {
		return nil, damaged("Bad btree level")
	}
	return p, nil
}

// item is a key or a value on a page. Its data is a copy.
type item struct {
	deleted bool
	data    []byte

	elsewhere bool   // the data lies on overflow pages
	first     uint32 // the first of them, or 0 for none
	size      uint32 // of the data there
}

// at returns the bytes from the place that an index of the page names, at least
// size bytes.
func (p *page) at(index, size int, what string) ([]byte, error) {
	place := headerSize + 2*index
	if place+2 > len(p.bytes) {
		return nil, damaged(what)
	}
	offset := int(p.order.Uint16(p.bytes[place:]))
	if offset < place+2 || offset+size > len(p.bytes) {
		return nil, damaged(what)
	}
	return p.bytes[offset:], nil
}

// items returns what is on a leaf. All of it together is not larger than the page,
// however often the same place is named.
func (p *page) items() ([]item, error) {
	const lost = "Data record position not in page"
	var items []item
	total := 0
	for i := range int(p.entries) {
		b, err := p.at(i, itemHeader, lost)
		if err != nil {
			return nil, err
		}
		it := item{deleted: b[2]&deletedItem != 0}
		switch length := int(p.order.Uint16(b)); b[2] &^ deletedItem {
		case plainItem:
			total += length
			if itemHeader+length > len(b) || total > len(p.bytes) {
				return nil, damaged(lost)
			}
			it.data = bytes.Clone(b[itemHeader : itemHeader+length])
		case overflowItem:
			if overflowSize > len(b) {
				return nil, damaged(lost)
			}
			it.elsewhere, it.first, it.size = true, p.order.Uint32(b[4:]), p.order.Uint32(b[8:])
		default:
			return nil, damaged("Unknown record type in records page")
		}
		items = append(items, it)
	}
	return items, nil
}

// children returns the pages below an internal page.
func (p *page) children() ([]uint32, error) {
	const lost = "Internal record position not in page"
	var children []uint32
	for i := range int(p.entries) {
		b, err := p.at(i, internalHead, lost)
		if err != nil {
			return nil, err
		}
		kind := b[2] &^ deletedItem
		if kind != plainItem && kind != overflowItem { // the key is not needed, wherever it lies
			return nil, damaged("Unknown record type in internal page")
		}
		if b[2]&deletedItem == 0 {
			children = append(children, p.order.Uint32(b[4:]))
		}
	}
	return children, nil
}

// part returns what an overflow page has of an item.
func (p *page) part() ([]byte, error) {
	if headerSize+int(p.used) > len(p.bytes) {
		return nil, damaged("Overflow data not in page")
	}
	return p.bytes[headerSize : headerSize+int(p.used)], nil
}
