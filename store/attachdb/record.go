package attachdb

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/store/internal/dbfiles"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

// HeaderSize is the size of a serialized header in bytes.
const HeaderSize = wire.MaxBlockHeaderPayload

// Remote is the file of a block that lies in none that can be read here.
const Remote = -1

// A Place is where a block lies in the other node's files. It is a hint: the files may
// be written over at any time.
type Place struct {
	File       int32  // number of the pair of files, or Remote
	Offset     uint32 // of the block, behind its record's header
	UndoOffset uint32 // of the outputs that it spends; 0: not known
	UndoSize   uint32
}

// A Block is what is kept of a block.
type Block struct {
	Header [HeaderSize]byte
	Txs    uint32 // how many transactions it has; 0: not known
	Size   uint32 // serialized, in bytes; 0: not known
	Place
}

// recordSize is the size of a stored block: its fields and a checksum over them and the
// key.
const recordSize = HeaderSize + 4 + 4 + 16 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode returns the record of a block, which holds under its key alone.
func (b *Block) encode(key []byte) []byte {
	r := append(make([]byte, 0, recordSize), b.Header[:]...)
	for _, n := range []uint32{b.Txs, b.Size, uint32(b.File), b.Offset, b.UndoOffset, b.UndoSize} {
		r = binary.LittleEndian.AppendUint32(r, n)
	}
	return binary.LittleEndian.AppendUint32(r, checksum(key, r))
}

// decodeBlock is the inverse of encode. Error: [ErrDamaged].
func decodeBlock(key, r []byte) (Block, error) {
	if len(r) != recordSize || binary.LittleEndian.Uint32(r[recordSize-4:]) != checksum(key, r[:recordSize-4]) {
		return Block{}, fmt.Errorf("%w: record of block %x", ErrDamaged, key)
	}
	number := func(i int) uint32 { return binary.LittleEndian.Uint32(r[HeaderSize+4*i:]) }
	return Block{
		Header: [HeaderSize]byte(r), Txs: number(0), Size: number(1),
		Place: Place{File: int32(number(2)), Offset: number(3), UndoOffset: number(4), UndoSize: number(5)},
	}, nil
}

func checksum(key, record []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, record)
}

// A Source is from where a filter came.
type Source byte

// The sources of filters. Filters that were built here from a block have no record.
const (
	Built     Source = iota // here, from the block and what it spends
	CoreFiles               // from the filter files of the other node
	CoreREST                // from its REST interface
	CoreRPC                 // from its RPC
	sources
)

// A Filter is what is known of a block's filter.
type Filter struct {
	Source   Source
	Verified bool // it was built here too, and was the same
}

func (f Filter) encode() []byte {
	verified := byte(0)
	if f.Verified {
		verified = 1
	}
	return []byte{byte(f.Source), verified}
}

// decodeFilter is the inverse of encode. Error: [ErrDamaged].
func decodeFilter(key, r []byte) (Filter, error) {
	if len(r) != 2 || r[0] == byte(Built) || r[0] >= byte(sources) || r[1] > 1 {
		return Filter{}, fmt.Errorf("%w: filter %x of block %x", ErrDamaged, r, key)
	}
	return Filter{Source(r[0]), r[1] == 1}, nil
}

// key returns the key of a block in one of the key spaces, which sorts by its number.
func key(prefix []byte, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append(make([]byte, 0, 5), prefix...), number)
}

// numberOf is the inverse of key.
func numberOf(key []byte) (uint32, bool) {
	if len(key) != 5 {
		return 0, false
	}
	return binary.BigEndian.Uint32(key[1:]), true
}

// Look reads whose directory lies in a folder. Nothing is changed, nor opened as a
// database.
func Look(dir string) (dbfiles.Verdict, error) { return dbfiles.Judge(dir, owns) }

// owns reports whether a pair can be one of this package's.
func owns(key, value []byte) bool {
	if len(key) == 5 {
		switch key[0] {
		case prefixBlock[0]:
			return value == nil || len(value) == recordSize
		case prefixFilter[0], prefixFirst[0]:
			return value == nil || len(value) == 2
		}
	}
	return ledger.Owns(key, value)
}
