package searchdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

// The key spaces. The id of the search follows the prefix.
var (
	definitionPrefix = []byte{'d'}
	objectPrefix     = []byte{'o'} // then the number of the first
	scriptPrefix     = []byte{'s'} // likewise
	statusPrefix     = []byte{'t'}
	entryPrefix      = []byte{'e'} // then the place
	usedPrefix       = []byte{'u'}
	gapsPrefix       = []byte{'g'}
	removedPrefix    = []byte{'x'}
)

// A Place is where an entry stands in the list of a search. Places are ordered.
type Place struct {
	Epoch    uint32
	Block    bool // of a block that was looked at; else of a block that has left the chain
	Height   uint32
	Sequence uint32 // among those of the block
}

// Less reports whether a place is before another.
func (p Place) Less(other Place) bool { return bytes.Compare(p.Append(nil), other.Append(nil)) < 0 }

// PlaceSize is the size of an encoded place.
const PlaceSize = 4 + 1 + 4 + 4

// Append appends the place in a form that sorts as places do.
func (p Place) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, p.Epoch)
	if b = append(b, 0); p.Block {
		b[len(b)-1] = 1
	}
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, p.Height), p.Sequence)
}

// ParsePlace is the inverse of Append.
func ParsePlace(b []byte) (p Place, ok bool) {
	if len(b) != PlaceSize || b[4] > 1 {
		return p, false
	}
	return Place{
		Epoch: binary.BigEndian.Uint32(b), Block: b[4] == 1,
		Height: binary.BigEndian.Uint32(b[5:]), Sequence: binary.BigEndian.Uint32(b[9:]),
	}, true
}

// LastOf returns the last place that an entry can have of the blocks up to a height.
func LastOf(epoch uint32, height int32) Place {
	if height < 0 {
		return Place{Epoch: epoch, Height: math.MaxUint32, Sequence: math.MaxUint32}
	}
	return Place{Epoch: epoch, Block: true, Height: uint32(height), Sequence: math.MaxUint32}
}

func key(prefix []byte, id ID) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, 9+PlaceSize), prefix...), uint64(id))
}

func (e Entry) key() []byte { return e.Append(key(entryPrefix, e.ID)) }

func placeOf(key []byte) (Place, bool) {
	if len(key) != 9+PlaceSize {
		return Place{}, false
	}
	return ParsePlace(key[9:])
}

func idOf(key []byte) (ID, bool) {
	if len(key) != 9 {
		return 0, false
	}
	return ID(binary.BigEndian.Uint64(key[1:])), true
}

// owns reports whether a pair can be one of a store; the value of a deleted one is nil.
func owns(key, value []byte) bool {
	if len(key) >= 9 && (value == nil || len(value) >= 4) {
		switch key[0] {
		case definitionPrefix[0], statusPrefix[0], usedPrefix[0], gapsPrefix[0], removedPrefix[0]:
			return len(key) == 9
		case objectPrefix[0], scriptPrefix[0]:
			return len(key) == 13
		case entryPrefix[0]:
			return len(key) == 9+PlaceSize
		}
	}
	return ledger.Owns(key, value)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(key, record []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, record)
}

// put puts a record with its checksum.
func put(b *ledger.Batch, key, record []byte) {
	b.Put(key, binary.LittleEndian.AppendUint32(record, checksum(key, record)))
}

// checked returns a record without its checksum.
func checked(key, record []byte) ([]byte, error) {
	n := len(record) - 4
	if n < 0 || binary.LittleEndian.Uint32(record[n:]) != checksum(key, record[:n]) {
		return nil, fmt.Errorf("%w: record %x", ErrDamaged, key)
	}
	return record[:n], nil
}

// A decoder takes a record apart. After the first thing that is missing all is zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) int() int64 {
	v := d.uint()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *decoder) int32() int32 {
	v := d.int()
	if v != int64(int32(v)) {
		d.bad = true
	}
	return int32(v)
}

func (d *decoder) uint32() uint32 {
	v := d.uint()
	if v > math.MaxUint32 {
		d.bad = true
	}
	return uint32(v)
}

func (d *decoder) text() string { return string(d.bytes(d.uint())) }

func (d *decoder) hash() (h chainhash.Hash) {
	copy(h[:], d.bytes(chainhash.HashSize))
	return h
}

func (d *decoder) end(what string) error {
	if d.bad || len(d.rest) > 0 {
		return fmt.Errorf("%w: %s", ErrDamaged, what)
	}
	return nil
}

func appendText[T ~string | ~[]byte](b []byte, t T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(t))), t...)
}

const (
	blocksOnlyFlag = 1 << iota
	mempoolFlag
	definitionFlags = 1<<iota - 1
)

func (d *Definition) encode() []byte {
	var flags uint64
	if d.BlocksOnly {
		flags |= blocksOnlyFlag
	}
	if d.Mempool {
		flags |= mempoolFlag
	}
	b := appendText(appendText(nil, d.Name), d.Owner)
	b = binary.AppendUvarint(b, d.Number)
	b = binary.AppendVarint(b, d.Created.UnixMilli())
	b = binary.AppendVarint(binary.AppendVarint(b, int64(d.Start)), int64(d.Stop))
	b = append(b, d.StopBlock[:]...)
	return append(binary.AppendUvarint(b, flags), d.Sum[:]...)
}

func (d *Definition) decode(raw []byte) error {
	r := decoder{rest: raw}
	*d = Definition{
		Name: r.text(), Owner: r.text(), Number: r.uint(), Created: time.UnixMilli(r.int()),
		Start: r.int32(), Stop: r.int32(), StopBlock: r.hash(),
	}
	flags := r.uint()
	d.BlocksOnly, d.Mempool = flags&blocksOnlyFlag != 0, flags&mempoolFlag != 0
	copy(d.Sum[:], r.bytes(32))
	r.bad = r.bad || flags > definitionFlags || d.Start < 0 || d.Stop < -1
	return r.end("definition of a search")
}

func (s *Status) encode() []byte {
	b := appendText([]byte{byte(s.Mode)}, s.Reason)
	b = binary.AppendVarint(b, s.Updated.UnixMilli())
	b = binary.AppendVarint(binary.AppendVarint(b, int64(s.Start)), int64(s.From))
	for _, at := range []search.Block{s.Done, s.Top} {
		b = append(binary.AppendVarint(b, int64(at.Height)), at.Hash[:]...)
	}
	b = binary.AppendUvarint(b, uint64(s.Epoch))
	b = binary.AppendUvarint(binary.AppendUvarint(b, s.Found), s.Blocks)
	b = binary.AppendUvarint(b, uint64(len(s.Joined)))
	for _, j := range s.Joined {
		b = binary.AppendVarint(binary.AppendUvarint(b, uint64(j.First)), int64(j.From))
		b = binary.AppendVarint(b, int64(j.Done))
	}
	return binary.AppendUvarint(b, s.Changes)
}

func (s *Status) decode(raw []byte) error {
	r := decoder{rest: raw}
	*s = Status{}
	if mode := r.bytes(1); !r.bad {
		s.Mode = Mode(mode[0])
	}
	s.Reason, s.Updated, s.Start, s.From = r.text(), time.UnixMilli(r.int()), r.int32(), r.int32()
	for _, at := range []*search.Block{&s.Done, &s.Top} {
		at.Height, at.Hash = r.int32(), r.hash()
	}
	s.Epoch, s.Found, s.Blocks = r.uint32(), r.uint(), r.uint()
	for n := r.uint(); n > 0 && !r.bad; n-- {
		s.Joined = append(s.Joined, search.Joined{First: r.uint32(), From: r.int32(), Done: r.int32()})
	}
	if len(r.rest) > 0 { // else it was written by an earlier version
		s.Changes = r.uint()
	}
	r.bad = r.bad || s.Mode >= modes || s.Start < 0 || s.From < 0 || len(s.Joined) == 0 || s.Joined[0].First != 0 ||
		s.Done.Height < -1 || s.Top.Height < s.Done.Height
	for i := 1; i < len(s.Joined); i++ {
		r.bad = r.bad || s.Joined[i].First < s.Joined[i-1].First
	}
	return r.end("status of a search")
}

func encodeEntry(e *search.Entry) []byte {
	b := append(make([]byte, 0, 160), byte(e.Kind))
	b = binary.AppendVarint(b, int64(e.Height))
	b = append(b, e.Block[:]...)
	b = binary.AppendUvarint(b, uint64(e.Time))
	if e.Kind == search.Receive || e.Kind == search.Spend {
		b = append(binary.AppendVarint(b, e.Amount), e.TxID[:]...)
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(e.N)), uint64(e.Script))
	}
	if e.Kind == search.Spend {
		b = binary.AppendUvarint(append(b, e.Prev.Hash[:]...), uint64(e.Prev.Index))
	}
	return b
}

func decodeEntry(raw []byte) (e search.Entry, err error) {
	r := decoder{rest: raw}
	if kind := r.bytes(1); !r.bad {
		e.Kind = search.Kind(kind[0])
	}
	e.Height, e.Block, e.Time = r.int32(), r.hash(), r.uint32()
	if e.Kind == search.Receive || e.Kind == search.Spend {
		e.Amount, e.TxID, e.N, e.Script = r.int(), r.hash(), r.uint32(), r.uint32()
	}
	if e.Kind == search.Spend {
		e.Prev = wire.OutPoint{Hash: r.hash(), Index: r.uint32()}
	}
	r.bad = r.bad || !e.Kind.Valid() || e.Height < 0
	return e, r.end("entry of a search")
}
