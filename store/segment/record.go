package segment

import (
	"cmp"
	"encoding/binary"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Keys of db/: one byte for the key space, one for its version. Numbers in
// keys are big-endian so that the order of keys is that of positions.
var (
	keyFormat = []byte{'v', 1}
	keyTip    = []byte{'t', 1}
	keySynced = []byte{'y', 1}
	keyFilter = []byte{'f', 1} // and a position
)

// formatVersion covers the keys and the segment files.
const formatVersion = 1

// maxFilter bounds the length of a filter: the largest P2P message.
const maxFilter = 32 << 20

// maxSegmentEnd bounds where a filter may end in a valid record: a segment of
// the largest size, whose first filter may exceed it.
const maxSegmentEnd = maxSegmentSize + headerSize + maxFilter

// position is where a filter begins: segment number and offset in the file.
type position struct{ segment, offset uint32 }

const positionSize = 8

func (p position) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, p.segment)
	return binary.BigEndian.AppendUint32(b, p.offset)
}

func (p position) key() []byte {
	return p.append(append(make([]byte, 0, len(keyFilter)+positionSize), keyFilter...))
}

// compare orders positions.
func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.segment, q.segment), cmp.Compare(p.offset, q.offset))
}

// syncMark says what survives a loss of power: everything before end. The tip
// of then takes over when the filters of a later one were lost.
type syncMark struct {
	end position
	tip chainhash.Hash // zero: none
}

func (m *syncMark) value() []byte { return append(m.end.append(nil), m.tip[:]...) }

func parseSyncMark(b []byte) (m syncMark, ok bool) {
	if len(b) != positionSize+chainhash.HashSize {
		return syncMark{}, false
	}
	m.end, ok = parsePosition(b[:positionSize])
	copy(m.tip[:], b[positionSize:])
	return m, ok
}

func parsePosition(b []byte) (position, bool) {
	if len(b) != positionSize {
		return position{}, false
	}
	return position{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}, true
}

// record is what db/ keeps of a filter; its key is the position.
type record struct {
	position
	block, prev        chainhash.Hash
	filterHash, header chainhash.Hash
	height             int32
	length, crc        uint32
}

// recordSize: four hashes, then height, length and CRC, little-endian.
const recordSize = 4*chainhash.HashSize + 3*4

func (r *record) value() []byte {
	b := make([]byte, 0, recordSize)
	for _, hash := range []*chainhash.Hash{&r.block, &r.prev, &r.filterHash, &r.header} {
		b = append(b, hash[:]...)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(r.height))
	b = binary.LittleEndian.AppendUint32(b, r.length)
	return binary.LittleEndian.AppendUint32(b, r.crc)
}

func parseRecord(at position, b []byte) (r record, ok bool) {
	if len(b) != recordSize {
		return record{}, false
	}
	r.position = at
	for _, hash := range []*chainhash.Hash{&r.block, &r.prev, &r.filterHash, &r.header} {
		b = b[copy(hash[:], b):]
	}
	r.height = int32(binary.LittleEndian.Uint32(b))
	r.length = binary.LittleEndian.Uint32(b[4:])
	r.crc = binary.LittleEndian.Uint32(b[8:])
	return r, true
}

// maxSegment bounds the numbers in valid records: 10^15 bytes of filters, and
// no overflow of the next number.
const maxSegment = 1 << 24

// valid reports whether r can be true of any segment.
func (r *record) valid() bool {
	return r.segment <= maxSegment && r.height >= 0 && r.length > 0 && r.length <= maxFilter &&
		r.offset >= headerSize && int64(r.offset)+int64(r.length) <= maxSegmentEnd
}
