package vm

// Lengths of numbers in scripts.
const (
	numberLen = 4
	lockLen   = 5 // of lock times
)

// number reads a number of at most size bytes: little-endian, with the sign in
// the highest bit.
func number(b []byte, size int, minimal bool) (int64, error) {
	if len(b) > size {
		return 0, ErrNumber
	}
	if len(b) == 0 {
		return 0, nil
	}
	last := b[len(b)-1]
	if minimal && last&0x7f == 0 && (len(b) == 1 || b[len(b)-2]&0x80 == 0) {
		return 0, ErrNumber
	}
	var n int64
	for i, c := range b {
		n |= int64(c) << (8 * i)
	}
	if last&0x80 != 0 {
		n = -(n &^ (0x80 << (8 * (len(b) - 1))))
	}
	return n, nil
}

// encode is the shortest form of a number.
func encode(n int64) []byte {
	if n == 0 {
		return nil
	}
	negative := n < 0
	if negative {
		n = -n
	}
	var b []byte
	for ; n > 0; n >>= 8 {
		b = append(b, byte(n))
	}
	if b[len(b)-1]&0x80 != 0 {
		b = append(b, 0)
	}
	if negative {
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

func fromBool(b bool) []byte {
	if b {
		return []byte{1}
	}
	return nil
}
