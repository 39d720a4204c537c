// Package filters builds, decodes and matches the basic block filters of
// BIP158 and makes the filter headers of BIP157, as pure functions: it knows
// no actor, disk, clock or network.
//
// A filter is a Golomb-coded set of the scripts that a block creates and
// spends. Each script is hashed to a number below N*[M] by SipHash-2-4 under a
// key taken from the block's hash. On the wire and in this package a filter is
// a byte slice: the number N of elements as a CompactSize, then the differences
// of the sorted numbers. Each difference is a quotient by 2^[P] in unary and a
// remainder of [P] bits, most significant bit first. Zero bits fill the last
// byte.
//
// # Matching
//
// A [Query] is a set of scripts prepared once for a whole scan. Each worker of
// the scan holds a [Matcher] over it and feeds it filters in batches. A match
// is wrong with a probability of 1/M for each script and filter; no match is
// certain. [Query.InBlock] tells a wrong match from a right one by the block.
//
// The inner loops are a kernel, by default the fastest that the processor has: plain
// Go, or assembly for AVX2, AVX-512 or NEON; see [Method]. By the number of scripts against that of elements, a kernel
// looks each script up among the elements, or tests all scripts on a bitmap of the elements. The
// assembly is written by internal/asmgen.
//
// # Damage
//
// Filters come from a disk, so every byte may be wrong. [Decode] and
// [Matcher.Match] accept exactly the same filters, whatever the scripts, and
// refuse all others with [ErrBadFilter]. Bad are an N not in its shortest form
// or larger than the bytes can hold, and an end within an element. Bad are also
// whole bytes left over after the last element, and an element of N*M or more.
// Bits left over in the last byte may have any value, as in Bitcoin Core.
// Nothing is allocated by a number that was read, beyond what the bytes at hand
// can encode.
package filters

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Parameters of the basic filter (BIP158).
const (
	// P is the number of bits of the remainder in the Golomb-Rice code.
	P = 19

	// M sets the false positive rate: 1/M for each script and filter.
	M = 784931
)

// minBits is the size of the smallest element: a quotient of zero.
const minBits = P + 1

// ErrBadFilter reports bytes that are no basic filter. The package comment
// lists what is refused.
var ErrBadFilter = errors.New("malformed block filter")

// Hash returns the hash of a serialized filter: SHA-256, twice (BIP157).
func Hash(filter []byte) chainhash.Hash { return chainhash.DoubleHashH(filter) }

// Header returns the filter header of a block from the [Hash] of its filter and
// the filter header of the block before. For the genesis block prev is 32 zero
// bytes (BIP157).
func Header(filterHash, prev *chainhash.Hash) chainhash.Hash {
	var both [2 * chainhash.HashSize]byte
	copy(both[:], filterHash[:])
	copy(both[chainhash.HashSize:], prev[:])
	return chainhash.DoubleHashH(both[:])
}

// split parts a serialized filter into its number of elements and their code.
// It refuses a number that the code is too short for.
func split(filter []byte) (n uint64, code []byte, err error) {
	n, size := compactSize(filter)
	if size == 0 {
		return 0, nil, fmt.Errorf("%w: bad number of elements", ErrBadFilter)
	}
	code = filter[size:]
	if n > uint64(len(code))*8/minBits || n > math.MaxUint32 {
		return 0, nil, fmt.Errorf("%w: %d elements in %d bytes", ErrBadFilter, n, len(code))
	}
	return n, code, nil
}

// compactSize reads the CompactSize at the start of b and returns it with its
// size in bytes. The size is zero when b is too short or the number is not in
// its shortest form.
func compactSize(b []byte) (n uint64, size int) {
	if len(b) == 0 {
		return 0, 0
	}
	var least uint64
	switch {
	case b[0] < 0xfd:
		return uint64(b[0]), 1
	case b[0] == 0xfd && len(b) >= 3:
		n, size, least = uint64(binary.LittleEndian.Uint16(b[1:])), 3, 0xfd
	case b[0] == 0xfe && len(b) >= 5:
		n, size, least = uint64(binary.LittleEndian.Uint32(b[1:])), 5, 1<<16
	case b[0] == 0xff && len(b) >= 9:
		n, size, least = binary.LittleEndian.Uint64(b[1:]), 9, 1<<32
	}
	if n < least {
		return 0, 0
	}
	return n, size
}

// appendCompactSize appends n in its shortest form. Filters hold fewer than
// 2^32 elements.
func appendCompactSize(b []byte, n uint32) []byte {
	switch {
	case n < 0xfd:
		return append(b, byte(n))
	case n <= math.MaxUint16:
		return binary.LittleEndian.AppendUint16(append(b, 0xfd), uint16(n))
	default:
		return binary.LittleEndian.AppendUint32(append(b, 0xfe), n)
	}
}
