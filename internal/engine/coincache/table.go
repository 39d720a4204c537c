package coincache

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
)

// The flags of a record.
const (
	dirty   = 1 << iota // differs from the stored value
	fresh               // nothing is stored under its key
	spent               // to be deleted from the store; it has no value
	removed = 0x80      // its memory is free
)

const (
	chunkBits = 22 // an arena grows by 4 MiB
	chunkSize = 1 << chunkBits
	unit      = 8 // bytes that a reference counts
	header    = 4 // of a record: length of the key, flags, length of the value
	tombstone = 1 // in place of the reference of a slot whose record was removed
	firstSlot = 8 // where the first record lies: no reference is 0 or a tombstone
	minSlots  = 12
)

// A table maps keys to records of an arena, with open addressing: a slot has 32
// bits of the key's hash, from which its place follows, and the reference of the
// record.
type table struct {
	k0, k1  uint64 // secrets of the hash, so that nobody can choose collisions
	slots   []uint64
	shift   uint // of a hash to a slot
	live    int
	dead    int // tombstones
	chunks  [][]byte
	at      uint64           // next unused byte of the arena
	free    map[int][]uint32 // records that were removed, by size
	unfreed []uint32         // removed records that may still be read

	// users counts the readers of records: the cache, and the changes that were handed
	// out. As long as there are other readers than the cache, nothing of a record but
	// its flags changes.
	users atomic.Int32
}

func newTable(logSlots uint) *table {
	// The operating system seeds rand, and nobody sees its numbers.
	t := &table{k0: rand.Uint64(), k1: rand.Uint64() | 1, //nolint:gosec // see above
		free: map[int][]uint32{}, at: firstSlot * unit}
	t.users.Store(1)
	t.makeSlots(logSlots)
	return t
}

func (t *table) makeSlots(log uint) {
	t.slots = allocSlots(1 << log)
	t.shift = 32 - log
	t.dead = 0
}

// size returns the memory in use, in bytes.
func (t *table) size() int { return len(t.slots)*8 + len(t.chunks)*chunkSize }

func (t *table) hash(key []byte) uint32 {
	a := binary.LittleEndian.Uint64(key) ^ t.k0
	b := binary.LittleEndian.Uint64(key[8:]) ^ t.k1
	c := uint64(0)
	for _, x := range key[32:] {
		c = c<<8 | uint64(x)
	}
	hi, lo := bits.Mul64(a^c*0x9e3779b97f4a7c15, b|1)
	hi2, lo2 := bits.Mul64(hi^lo^t.k1, 0xd6e8feb86659fd93)
	return uint32((hi2 ^ lo2) >> 16)
}

// A record is one coin. It is valid until its table is changed.
type record struct {
	raw  []byte // nil: there is none
	slot uint32
}

func (r record) ok() bool        { return r.raw != nil }
func (r record) key() []byte     { return r.raw[header : header+int(r.raw[0])] }
func (r record) flags() byte     { return r.raw[1] }
func (r record) setFlags(f byte) { r.raw[1] = f }
func (r record) valueLen() int   { return int(binary.LittleEndian.Uint16(r.raw[2:])) }
func (r record) size() int       { return header + int(r.raw[0]) + r.valueLen() }
func (r record) value() []byte {
	at := header + int(r.raw[0])
	return r.raw[at : at+r.valueLen() : at+r.valueLen()]
}

func (t *table) recordAt(ref uint32) []byte { return recordOf(t.chunks, ref).raw }

func recordOf(chunks [][]byte, ref uint32) record {
	at := uint64(ref) * unit
	return record{raw: chunks[at>>chunkBits][at&(chunkSize-1):]}
}

func (t *table) get(key []byte) record {
	hash, mask := t.hash(key), uint32(len(t.slots)-1)
	for i := hash >> t.shift; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			return record{}
		}
		if uint32(slot>>32) == hash && uint32(slot) != tombstone {
			if r := (record{t.recordAt(uint32(slot)), i}); bytes.Equal(r.key(), key) {
				return r
			}
		}
	}
}

// put adds a record whose key is not there.
func (t *table) put(key []byte, flags byte, value []byte) {
	if (t.live+t.dead)*4 > len(t.slots)*3 {
		t.grow()
	}
	hash, mask := t.hash(key), uint32(len(t.slots)-1)
	i := hash >> t.shift
	for uint32(t.slots[i]) > tombstone {
		i = (i + 1) & mask
	}
	if t.slots[i] != 0 {
		t.dead--
	}
	ref := t.alloc(header + len(key) + len(value))
	t.slots[i] = uint64(hash)<<32 | uint64(ref)
	t.live++
	raw := t.recordAt(ref)
	raw[0], raw[1] = byte(len(key)), flags
	binary.LittleEndian.PutUint16(raw[2:], uint16(len(value)))
	copy(raw[header+copy(raw[header:], key):], value)
}

// class is the size of a record in units.
func class(size int) int { return (size + unit - 1) / unit }

func (t *table) alloc(size int) uint32 {
	c := class(size)
	if len(t.unfreed) > 0 && t.users.Load() == 1 {
		t.reuse()
	}
	if list := t.free[c]; len(list) > 0 {
		t.free[c] = list[:len(list)-1]
		return list[len(list)-1]
	}
	n := uint64(c * unit)
	if t.at>>chunkBits >= uint64(len(t.chunks)) || t.at&(chunkSize-1)+n > chunkSize {
		if len(t.chunks) > 0 {
			t.at = uint64(len(t.chunks)) << chunkBits
		}
		t.chunks = append(t.chunks, allocBytes(chunkSize))
	}
	ref := uint32(t.at / unit)
	t.at += n
	return ref
}

func (t *table) remove(r record) {
	ref := uint32(t.slots[r.slot])
	if t.users.Load() > 1 {
		t.unfreed = append(t.unfreed, ref)
	} else {
		c := class(r.size())
		t.free[c] = append(t.free[c], ref)
	}
	r.setFlags(removed)
	if mask := uint32(len(t.slots) - 1); t.slots[(r.slot+1)&mask] == 0 {
		t.slots[r.slot] = 0
	} else {
		t.slots[r.slot] = tombstone
		t.dead++
	}
	t.live--
}

// grow makes room, or gets rid of tombstones.
func (t *table) grow() {
	old := t.slots
	log := uint(bits.Len(uint(len(old)))) - 1
	if t.live*2 > len(old) {
		log++
	}
	t.makeSlots(log)
	mask := uint32(len(t.slots) - 1)
	for _, slot := range old {
		if uint32(slot) <= tombstone {
			continue
		}
		i := uint32(slot>>32) >> t.shift
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = slot
	}
	freeSlots(old)
}

// each visits all records in the order in which they lie in memory. It may change
// their flags, and nothing else.
func (t *table) each(visit func(ref uint32, r record)) {
	for i := range t.chunks {
		t.eachOf(i, visit)
	}
}

// eachOf visits the records of a chunk.
func (t *table) eachOf(i int, visit func(ref uint32, r record)) {
	at, base := uint64(0), uint64(i)<<chunkBits
	if i == 0 {
		at = firstSlot * unit
	}
	for at+header <= chunkSize && base+at < t.at {
		r := record{raw: t.chunks[i][at:]}
		if r.raw[0] == 0 {
			break // the rest of the chunk was never used
		}
		size := uint64(class(r.size()) * unit)
		if r.flags()&removed == 0 {
			visit(uint32((base+at)/unit), r)
		}
		at += size
	}
}

// drain visits all records a last time and closes the table. Its memory goes back
// piece by piece, so that the whole old table is never there beside all records
// that visit keeps.
func (t *table) drain(visit func(r record)) {
	freeSlots(t.slots)
	t.slots = nil
	for i := range t.chunks {
		t.eachOf(i, func(_ uint32, r record) { visit(r) })
		if t.users.Load() == 1 {
			freeBytes(t.chunks[i])
			t.chunks[i] = nil
		}
	}
	t.leave()
}

// sorted calls visit with every record that wanted names, ascending by key.
func (t *table) sorted(wanted func(record) bool, visit func(record) error) error {
	n := 0
	t.each(func(_ uint32, r record) {
		if wanted(r) {
			n++
		}
	})
	all := allocOrders(n)[:0]
	defer func() { freeOrders(all[:n]) }()
	t.each(func(ref uint32, r record) {
		if !wanted(r) {
			return
		}
		all = append(all, orderOf(r, ref))
	})
	sortOrders(all, func(ref uint32) record { return recordOf(t.chunks, ref) })
	for i := range all {
		if err := visit(recordOf(t.chunks, all[i].ref)); err != nil {
			return err
		}
	}
	return nil
}

// reuse frees the records that nobody reads any more.
func (t *table) reuse() {
	for _, ref := range t.unfreed {
		c := class(recordOf(t.chunks, ref).size())
		t.free[c] = append(t.free[c], ref)
	}
	t.unfreed = nil
}

// close gives the memory back, but for what somebody else reads.
func (t *table) close() {
	freeSlots(t.slots)
	t.slots = nil
	t.leave()
}

// leave gives the records up, whose memory goes back with the last user.
func (t *table) leave() {
	if t.users.Add(-1) > 0 {
		return
	}
	for _, c := range t.chunks {
		if c != nil {
			freeBytes(c)
		}
	}
	t.chunks = nil
}
