package script

// Lengths of numbers in scripts.
const (
	numberLen = 4
	lockLen   = 5 // of lock times
)

// number reads a number of at most size bytes: little-endian, with the sign in
// the highest bit.
func number(b []byte, size int, minimal bool) (n int64, ok bool) {
	if len(b) > size {
		return 0, false
	}
	if len(b) == 0 {
		return 0, true
	}
	last := b[len(b)-1]
	if minimal && last&0x7f == 0 && (len(b) == 1 || b[len(b)-2]&0x80 == 0) {
		return 0, false
	}
	for i, c := range b {
		n |= int64(c) << (8 * i)
	}
	if last&0x80 != 0 {
		n = -(n &^ (0x80 << (8 * (len(b) - 1))))
	}
	return n, true
}

// appendNumber appends the shortest form of a number.
func appendNumber(b []byte, n int64) []byte {
	if n == 0 {
		return b
	}
	rest := uint64(n)
	if n < 0 {
		rest = -rest
	}
	for ; rest > 0; rest >>= 8 {
		b = append(b, byte(rest))
	}
	if b[len(b)-1]&0x80 != 0 {
		b = append(b, 0)
	}
	if n < 0 {
		b[len(b)-1] |= 0x80
	}
	return b
}

// truth is false for zero, also for a negative one, of any length.
func truth(b []byte) bool {
	for i, c := range b {
		if c != 0 {
			return i != len(b)-1 || c != 0x80
		}
	}
	return false
}
