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

// ParseBytes reads a number of bytes with a unit, one of the letters kKmMgGtT, at its end;
// without one it is in the given unit. It reports false for what is no such number, or more
// than 64 bits hold.
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
