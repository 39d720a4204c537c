package chaindb

import (
	"encoding/binary"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Numbers of the layout that schema.md describes. A database is of the second from when its second set
// of unspent outputs is written: programs that know the first alone would miss what is there. It is of
// the third from when witnesses were removed from blocks, whatever it has of the second: older programs
// would take such a block for a whole one.
const (
	formatVersion  = 1
	formatTwoSets  = 2
	formatStripped = 3
)

// The key spaces; schema.md has the table.
const (
	prefixFormat    = 'V'
	prefixSynced    = 'S'
	prefixReload    = 'R'
	prefixCommit    = 'C'
	prefixFile      = 'F'
	prefixBlock     = 'b'
	prefixUndo      = 'u'
	prefixPruned    = 'p'
	prefixGone      = 'G'
	prefixStripped  = 'w'
	prefixDirectory = 'D'
	prefixItem      = 'm'
)

var (
	formatKey = []byte{prefixFormat}
	syncedKey = []byte{prefixSynced}
	reloadKey = []byte{prefixReload}
)

// A location is where a block lies in the blk files, with its size, checksum
// and header to recognise the block.
type location struct {
	file   uint32
	offset uint32 // of the record; the block begins blockfile.HeaderSize later
	length uint32 // of the block
	crc    uint32 // CRC-32C of the block
	header [80]byte
}

const locationSize = 4*4 + 80

// hash returns the hash of the header.
func (l *location) hash() chainhash.Hash { return chainhash.DoubleHashH(l.header[:]) }

// prev returns the hash of the previous block.
func (l *location) prev() chainhash.Hash { return chainhash.Hash(l.header[4:36]) }

func (l *location) encode() []byte {
	b := make([]byte, 0, locationSize)
	for _, n := range []uint32{l.file, l.offset, l.length, l.crc} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return append(b, l.header[:]...)
}

func decodeLocation(b []byte) (*location, error) {
	if len(b) != locationSize {
		return nil, fmt.Errorf("%w: location of %d bytes", ErrCorrupt, len(b))
	}
	le := binary.LittleEndian
	l := &location{
		file: le.Uint32(b), offset: le.Uint32(b[4:]), length: le.Uint32(b[8:]), crc: le.Uint32(b[12:]),
		header: [80]byte(b[16:]),
	}
	if int(l.length) < len(l.header) {
		return nil, fmt.Errorf("%w: location of a block of %d bytes", ErrCorrupt, l.length)
	}
	return l, nil
}

// An undoLocation is where a block's undo data lies, in the rev file with the
// number of the block's blk file.
type undoLocation struct {
	offset uint32 // of the record
	length uint32 // of the undo data, without checksum
}

func (l undoLocation) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, l.offset)
	return binary.LittleEndian.AppendUint32(b, l.length)
}

func decodeUndoLocation(b []byte) (undoLocation, error) {
	if len(b) != 8 {
		return undoLocation{}, fmt.Errorf("%w: location of undo data of %d bytes", ErrCorrupt, len(b))
	}
	return undoLocation{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}, nil
}

// fileEnds is how far a blk file and the rev file of its number are used.
type fileEnds struct{ blk, rev int64 }

func (e fileEnds) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(e.blk))
	return binary.LittleEndian.AppendUint64(b, uint64(e.rev))
}

func decodeFileEnds(b []byte) (fileEnds, error) {
	if len(b) != 16 {
		return fileEnds{}, fmt.Errorf("%w: file record of %d bytes", ErrCorrupt, len(b))
	}
	le := binary.LittleEndian
	return fileEnds{int64(le.Uint64(b)), int64(le.Uint64(b[8:]))}, nil
}

// hashKey returns the key of a block in the block or undo key space.
func hashKey(prefix byte, hash *chainhash.Hash) []byte {
	return append([]byte{prefix}, hash[:]...)
}

// numberKey returns a key that sorts by its number.
func numberKey(prefix byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{prefix}, n)
}

// keyNumber is the inverse of numberKey.
func keyNumber(key []byte) (uint64, error) {
	if len(key) != 9 {
		return 0, fmt.Errorf("%w: key %x", ErrCorrupt, key)
	}
	return binary.BigEndian.Uint64(key[1:]), nil
}

// A bucketID numbers a bucket; the root has 0.
type bucketID uint32

// itemPrefix begins the keys of all items of a bucket.
func (id bucketID) itemPrefix() []byte {
	return binary.BigEndian.AppendUint32([]byte{prefixItem}, uint32(id))
}

// item returns the key of one item of a bucket.
func (id bucketID) item(key []byte) []byte { return append(id.itemPrefix(), key...) }

// itemPrefixSize is the length of itemPrefix.
const itemPrefixSize = 5
