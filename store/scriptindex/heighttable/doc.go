// Package heighttable codes a table of heights by keys: at which heights of a chain something with a key occurs. A
// table of 5 x 10^9 occurrences takes 2.1 bytes for each. A look-up reads two small places of the file.
//
// The package is pure. It reads through an [io.ReaderAt], and writes bytes. schema.md of the stores has the format.
// Tables of any bytes can be opened and read: memory is bounded by their length, and all that a look-up returns was
// held against a checksum.
package heighttable

import (
	"errors"
	"hash/crc32"
)

// ErrDamaged reports bytes that are not as they were written.
var ErrDamaged = errors.New("table of heights is damaged")

const (
	// KeyBits is the number of bits of a [Key].
	KeyBits = 40

	heightBits = 24

	// MaxHeight is the highest height that a table can hold.
	MaxHeight = 1<<heightBits - 1
)

// A Key is a number below 1<<KeyBits. Keys are as good as random.
type Key uint64

// An Element is a key with a height. Elements are in the order of their keys, those of a key in the order of their
// heights.
type Element uint64

// Make returns the element of a key and a height.
func Make(key Key, height uint32) Element { return Element(uint64(key)<<heightBits | uint64(height)) }

// Key returns the element's key.
func (e Element) Key() Key { return Key(e >> heightBits) }

// Height returns the element's height.
func (e Element) Height() uint32 { return uint32(e & MaxHeight) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is of bytes at a place. Bytes of another place do not have it.
func checksum(place uint64, b []byte) uint32 {
	var name [8]byte
	for i := range name {
		name[i] = byte(place >> (8 * i))
	}
	return crc32.Update(crc32.Checksum(name[:], castagnoli), castagnoli, b)
}
