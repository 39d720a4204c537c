// Package rangefilter tells which scripts do not occur in a range of blocks.
//
// A range filter is a binary fuse filter of 8 bits over hashes of scripts. It
// covers all scripts that the blocks of a range create or spend, even if no
// BIP158 filter holds them. It takes 9 bits a script, has every script of the
// range, and one of 256 others. The hashes are keyed by a secret of the node, so
// that nobody can make scripts that pass.
//
// The package is pure: it knows neither blocks nor disks.
package rangefilter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"

	"github.com/FastFilter/xorfilter"

	"github.com/seed61375155/trawl/internal/siphash"
)

// ErrBad reports bytes that are no range filter.
var ErrBad = errors.New("malformed range filter")

// Key is the node's secret. It prints as nothing.
type Key [16]byte

// String implements fmt.Stringer.
func (Key) String() string { return "[secret]" }

// GoString implements fmt.GoStringer.
func (Key) GoString() string { return "[secret]" }

// LogValue implements slog.LogValuer.
func (Key) LogValue() slog.Value { return slog.StringValue("[secret]") }

// Hash is what a script is in filters that are made with the key.
func (k Key) Hash(script []byte) uint64 { return siphash.SumKey((*[16]byte)(&k), script) }

// headSize is the size of the head before the fingerprints: seed (8), length of a
// segment (4), their number (4), little-endian.
const headSize = 16

// Filter is a filter that was built.
type Filter struct{ fuse xorfilter.BinaryFuse[uint8] }

// maxSegments bounds what is read, so that nothing overflows.
const maxSegments = 1 << 28

// Parse reads what Build returned. The filter goes on reading b. Errors: [ErrBad].
func Parse(b []byte) (*Filter, error) {
	if len(b) < headSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrBad, len(b))
	}
	f := &Filter{xorfilter.BinaryFuse[uint8]{
		Seed:          binary.LittleEndian.Uint64(b),
		SegmentLength: binary.LittleEndian.Uint32(b[8:]),
		SegmentCount:  binary.LittleEndian.Uint32(b[12:]),
		Fingerprints:  b[headSize:],
	}}
	length, count := f.fuse.SegmentLength, f.fuse.SegmentCount
	if length == 0 || length&(length-1) != 0 || length > maxSegments || count == 0 || count > maxSegments ||
		(uint64(count)+2)*uint64(length) != uint64(len(b)-headSize) || len(b) > 1<<31 {
		return nil, fmt.Errorf("%w: %d segments of %d in %d bytes", ErrBad, count, length, len(b))
	}
	f.fuse.SegmentLengthMask = length - 1
	f.fuse.SegmentCountLength = count * length
	return f, nil
}

// Has reports whether a hash may be one of the filter's. False is certain.
func (f *Filter) Has(hash uint64) bool { return f.fuse.Contains(hash) }
