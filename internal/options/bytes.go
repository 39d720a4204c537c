package options

import (
	"math/bits"
	"strconv"
	"strings"
)

// units are the numbers of bytes that letters stand for: small ones powers of 1000,
// capitals powers of 1024.
var units = map[byte]uint64{
	'k': 1e3, 'K': 1 << 10, 'm': 1e6, 'M': 1 << 20, 'g': 1e9, 'G': 1 << 30, 't': 1e12, 'T': 1 << 40,
}

// ParseBytes reads a number of bytes, which may end in a unit, one of the letters kKmMgGtT.
// The argument unit is the default. It reports false for any other text and for a number of
// bytes above 64 bits.
func ParseBytes(text string, unit byte) (uint64, bool) {
	if text != "" && units[text[len(text)-1]] != 0 {
		unit = text[len(text)-1]
		text = text[:len(text)-1]
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || strings.ContainsAny(text, "+_") {
		return 0, false
	}
	high, low := bits.Mul64(n, units[unit])
	return low, high == 0
}
