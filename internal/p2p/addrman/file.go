package addrman

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/p2p/asmap"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// MaxFile is the longest file that is read, in bytes.
const MaxFile = 64 << 20

// The file of addresses is Bitcoin Core's peers.dat. Integers are little-endian. In
// bytes, it begins with the network's magic (4), the format's version (1), the oldest
// compatible version plus 32 (1), and the key (32). Three numbers follow (4 each): new
// addresses, reached addresses, and buckets with bit 30 changed. The entries follow, new
// addresses first. For each bucket of new addresses follow their number and their
// indexes among the entries (4 each). The end is the version of the map of autonomous
// systems, zero without a map (32), and the double SHA-256 of all before.
//
// An entry begins with a version (4), the time when it was seen (4), services
// (CompactSize), and address and port as in BIP155. It ends with the source's address,
// the time of the last success (8) and the failures since (4).
const (
	fileFormat  = 4
	compatBase  = 32
	bucketsMark = 1 << 30

	firstWithMark  = 1 // formats
	firstWithASMap = 2
	firstWithV2    = 3

	entryVersion     = 220000
	entryVersionMask = 1<<19 - 1 // says nothing
	entryV2          = 1 << 29
)

// Marshal returns the addresses as a file of the network with the given magic.
func (m *Manager) Marshal(magic [4]byte) []byte {
	b := append(magic[:], fileFormat, compatBase+fileFormat)
	b = append(b, m.key[:]...)
	fresh, tried := m.Size(nil)
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(fresh))
	b = le.AppendUint32(b, uint32(tried))
	b = le.AppendUint32(b, newBuckets^bucketsMark)
	number := make(map[*entry]uint32, fresh)
	for _, reached := range []bool{false, true} {
		for _, e := range m.list {
			if e.tried != reached {
				continue
			}
			if !reached {
				number[e] = uint32(len(number))
			}
			b = e.append(b)
		}
	}
	for i := range m.fresh {
		b = appendBucket(b, &m.fresh[i], number)
	}
	version := m.asmap.Version()
	b = append(b, version[:]...)
	return append(b, chainhash.DoubleHashB(b)...)
}

func appendBucket(b []byte, bucket *[bucketSize]*entry, number map[*entry]uint32) []byte {
	at, count := len(b), uint32(0)
	b = append(b, 0, 0, 0, 0)
	for _, e := range bucket {
		if e != nil {
			count++
			b = binary.LittleEndian.AppendUint32(b, number[e])
		}
	}
	binary.LittleEndian.PutUint32(b[at:], count)
	return b
}

func (e *entry) append(b []byte) []byte {
	le := binary.LittleEndian
	seen := uint32(min(max(0, e.seen.Unix()), math.MaxUint32))
	b = appendAddress(b, codec.Address{Time: seen, Services: e.services, Addr: e.addr})
	b = appendHost(b, e.source)
	success := int64(0)
	if !e.lastSuccess.IsZero() {
		success = e.lastSuccess.Unix()
	}
	b = le.AppendUint64(b, uint64(success))
	return le.AppendUint32(b, uint32(e.attempts))
}

// appendAddress appends an address with what a node says of itself.
func appendAddress(b []byte, a codec.Address) []byte {
	b = binary.LittleEndian.AppendUint32(b, entryVersion|entryV2)
	b = binary.LittleEndian.AppendUint32(b, a.Time)
	b = appendCompact(b, uint64(a.Services))
	b = appendHost(b, a.Addr)
	return binary.BigEndian.AppendUint16(b, a.Addr.Port())
}

func appendHost(b []byte, a netaddr.Addr) []byte {
	network, host := a.V2()
	return append(append(b, network, byte(len(host))), host...)
}

func appendCompact(b []byte, n uint64) []byte {
	le := binary.LittleEndian
	switch {
	case n < 0xfd:
		return append(b, byte(n))
	case n <= 0xffff:
		return le.AppendUint16(append(b, 0xfd), uint16(n))
	case n <= 0xffffffff:
		return le.AppendUint32(append(b, 0xfe), uint32(n))
	}
	return le.AppendUint64(append(b, 0xff), n)
}

// Parse reads a file of the network with the given magic, in any format of Bitcoin Core
// or of an old revision of Trawl. The map of autonomous systems is as for [New].
// Addresses for which there is no place any more are left out.
//
// Errors: [ErrVersion], and [*FileError] with Core's words.
func Parse(file []byte, magic [4]byte, systems *asmap.Map) (*Manager, error) {
	if IsOld(file) {
		return parseOld(file, systems)
	}
	r := &reader{rest: file}
	if got := r.next(len(magic)); r.err == nil && !bytes.Equal(got, magic[:]) {
		return nil, &FileError{"Invalid network magic number"}
	}
	m := empty(systems)
	m.read(r)
	if r.err != nil {
		return nil, r.err
	}
	want := chainhash.DoubleHashB(file[:len(file)-len(r.rest)])
	if sum := r.next(chainhash.HashSize); r.err == nil && !bytes.Equal(sum, want) {
		return nil, &FileError{"Checksum mismatch, data corrupted"}
	}
	if r.err != nil {
		return nil, r.err
	}
	return m, nil
}

// read fills an empty manager.
func (m *Manager) read(r *reader) {
	format := r.byte()
	r.checkCompat(format, r.byte())
	copy(m.key[:], r.next(len(m.key)))
	fresh, tried, buckets := r.int32(), r.int32(), r.int32()
	if format >= firstWithMark {
		buckets ^= bucketsMark
	}
	r.checkCount("nNew", fresh, newBuckets*bucketSize)
	r.checkCount("nTried", tried, triedBuckets*bucketSize)
	var entries []*entry
	for n := int32(0); n < fresh && r.err == nil; n++ {
		entries = append(entries, r.entry(format))
	}
	var reached []*entry
	for n := int32(0); n < tried && r.err == nil; n++ {
		reached = append(reached, r.entry(format))
	}
	placed := r.buckets(buckets, len(entries))
	version := make([]byte, chainhash.HashSize)
	if format >= firstWithASMap {
		version = r.next(chainhash.HashSize)
	}
	if r.err != nil {
		return
	}
	ours := m.asmap.Version()
	sameBuckets := buckets == newBuckets && bytes.Equal(version, ours[:])
	m.restoreTried(reached)
	m.restoreNew(entries, placed, sameBuckets)
	if code := m.check(entries); code != 0 {
		r.fail("Corrupt data. Consistency check failed with code %d: iostream error", code)
	}
}

// restoreTried gives the addresses that were reached their places.
func (m *Manager) restoreTried(reached []*entry) {
	for _, e := range reached {
		place := m.triedPlace(e.addr)
		if !e.addr.IsValid() || *place != nil || m.known[e.addr] != nil {
			continue
		}
		*place = e
		e.tried = true
		m.insert(e)
	}
}

// A placing says that an entry is in a bucket.
type placing struct {
	bucket int32
	entry  int32
}

// restoreNew gives new addresses their places again. If the buckets are not ours, or a
// place is taken, the address's source determines the place.
func (m *Manager) restoreNew(entries []*entry, placed []placing, sameBuckets bool) {
	for _, p := range placed {
		e := entries[p.entry]
		if known := m.known[e.addr]; !e.addr.IsValid() || e.places >= maxPlaces || known != nil && known != e {
			continue
		}
		place := (**entry)(nil)
		if sameBuckets {
			place = m.placeIn(uint32(p.bucket), e.addr)
		}
		if place == nil || *place != nil {
			place = m.place(e.addr, e.source)
		}
		if *place != nil {
			continue
		}
		*place = e
		if e.places++; e.places == 1 {
			m.insert(e)
		}
	}
}

// check returns Core's number of the first error in the entries, or 0.
func (m *Manager) check(entries []*entry) int {
	const (
		neverReached = -1
		badTime      = -8
		duplicate    = -5
		noKey        = -16
	)
	seen := make(map[netaddr.Addr]bool, len(entries))
	for _, e := range entries {
		if seen[e.addr] && e.addr.IsValid() {
			return duplicate
		}
		seen[e.addr] = true
	}
	for _, e := range m.list {
		switch {
		case e.tried && e.lastSuccess.IsZero():
			return neverReached
		case e.lastSuccess.Before(time.Unix(0, 0)) && !e.lastSuccess.IsZero():
			return badTime
		case e.tried && seen[e.addr]:
			return duplicate
		}
	}
	if m.key == [32]byte{} {
		return noKey
	}
	return 0
}
