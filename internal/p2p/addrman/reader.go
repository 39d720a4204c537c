package addrman

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// ErrVersion reports a file of a later format.
var ErrVersion = errors.New("unsupported format of addrman database")

// A FileError reports a file that is damaged, or no file of addresses of the
// network, in Core's words.
type FileError struct{ Reason string }

// Error implements error.
func (e *FileError) Error() string { return e.Reason }

// A reader reads the bytes of a file. After the first error it yields zeros.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &FileError{fmt.Sprintf(format, args...)}
	}
	r.rest = nil
}

// zeros are what is read after an error.
var zeros [64]byte

func (r *reader) next(n int) []byte {
	if r.err == nil && n <= len(r.rest) {
		head := r.rest[:n:n]
		r.rest = r.rest[n:]
		return head
	}
	r.fail("AutoFile::read: end of file: iostream error")
	return zeros[:min(n, len(zeros))]
}

func (r *reader) byte() byte     { return r.next(1)[0] }
func (r *reader) int32() int32   { return int32(binary.LittleEndian.Uint32(r.next(4))) }
func (r *reader) uint32() uint32 { return binary.LittleEndian.Uint32(r.next(4)) }

// compact reads a CompactSize.
func (r *reader) compact() uint64 {
	var size int
	var least uint64
	switch first := r.byte(); first {
	case 0xfd:
		size, least = 2, 0xfd
	case 0xfe:
		size, least = 4, 0x10000
	case 0xff:
		size, least = 8, 0x100000000
	default:
		return uint64(first)
	}
	var b [8]byte
	copy(b[:], r.next(size))
	n := binary.LittleEndian.Uint64(b[:])
	if n < least {
		r.fail("non-canonical ReadCompactSize(): iostream error")
	}
	return n
}

func (r *reader) checkCompat(format, compat byte) {
	switch {
	case r.err != nil:
	case compat < compatBase:
		r.fail("Corrupted addrman database: The compat value (%d) is lower than the expected minimum value %d.: "+
			"iostream error", compat, compatBase)
	case compat-compatBase > fileFormat:
		r.err = fmt.Errorf("%w: %d. It is compatible with formats >=%d, but the maximum supported is %d",
			ErrVersion, format, compat-compatBase, fileFormat)
		r.rest = nil
	}
}

func (r *reader) checkCount(name string, n, limit int32) {
	if n < 0 || n > limit {
		r.fail("Corrupt AddrMan serialization: %s=%d, should be in [0, %d]: iostream error", name, n, limit)
	}
}

// entry reads an entry of a file of the given format.
func (r *reader) entry(format byte) *entry {
	v2 := format >= firstWithV2
	a := r.address(v2)
	e := &entry{addr: a.Addr, services: a.Services, seen: time.Unix(int64(a.Time), 0), source: r.host(v2)}
	if sec := int64(binary.LittleEndian.Uint64(r.next(8))); sec != 0 {
		e.lastSuccess = time.Unix(sec, 0)
	}
	e.attempts = int(max(0, r.int32()))
	return e
}

// address reads an address with what a node says of itself, which may be in the form of
// BIP155 with v2.
func (r *reader) address(v2 bool) codec.Address {
	version := r.uint32() &^ entryVersionMask
	v2 = v2 && version == entryV2
	if version != 0 && !v2 {
		r.fail("Unsupported CAddress disk format version: iostream error")
	}
	a := codec.Address{Time: r.uint32()}
	if v2 {
		a.Services = wire.ServiceFlag(r.compact())
	} else {
		a.Services = wire.ServiceFlag(binary.LittleEndian.Uint64(r.next(8)))
	}
	host := r.host(v2)
	a.Addr = host.WithPort(binary.BigEndian.Uint16(r.next(2)))
	return a
}

// host reads an address without its port.
func (r *reader) host(v2 bool) netaddr.Addr {
	if !v2 {
		return netaddr.FromV1([16]byte(r.next(16)), 0)
	}
	network, n := r.byte(), r.compact()
	if err := netaddr.CheckLen(n); err != nil {
		r.fail("%v: iostream error", err)
		return netaddr.Addr{}
	}
	if n > uint64(len(r.rest)) {
		r.next(len(r.rest) + 1)
		return netaddr.Addr{}
	}
	a, err := netaddr.FromV2(network, r.next(int(n)), 0)
	if err != nil {
		r.fail("%v: iostream error", err)
	}
	return a
}

// buckets reads which of the entries are in which bucket.
func (r *reader) buckets(count int32, entries int) (placed []placing) {
	for bucket := int32(0); bucket < count && r.err == nil; bucket++ {
		for n := r.int32(); n > 0 && r.err == nil; n-- {
			if i := r.int32(); r.err == nil && i >= 0 && int(i) < entries {
				placed = append(placed, placing{bucket, i})
			}
		}
	}
	return placed
}
