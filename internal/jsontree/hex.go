package jsontree

import (
	"encoding/hex"
	"slices"
)

// Hex are bytes that are written as a string of hexadecimal digits. Large values are
// encoded straight from their bytes, without a string in between.
type Hex []byte

// AppendJSON implements [Appender].
func (h Hex) AppendJSON(dst []byte) []byte {
	dst = append(slices.Grow(dst, hex.EncodedLen(len(h))+2), '"')
	return append(hex.AppendEncode(dst, h), '"')
}

// String returns the digits.
func (h Hex) String() string { return hex.EncodeToString(h) }
