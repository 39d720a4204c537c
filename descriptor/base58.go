package descriptor

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

const (
	base58ChecksumLen = 4

	// maxBase58Len is more than any address or key takes. It bounds the
	// decoder, whose time grows with the square of the length.
	maxBase58Len = 128

	// asciiSpace is the white space that Bitcoin Core strips around base58.
	asciiSpace = " \f\n\r\t\v"
)

// decodeBase58Check returns the bytes in front of the checksum.
func decodeBase58Check(text string) ([]byte, bool) {
	text = strings.Trim(text, asciiSpace)
	if len(text) > maxBase58Len {
		return nil, false
	}
	raw := decodeBase58(text)
	if len(raw) < base58ChecksumLen {
		return nil, false
	}
	payload, sum := raw[:len(raw)-base58ChecksumLen], raw[len(raw)-base58ChecksumLen:]
	want := chainhash.DoubleHashB(payload)
	return payload, bytes.Equal(sum, want[:base58ChecksumLen])
}

// encodeBase58Check writes the concatenated parts with their checksum.
func encodeBase58Check(parts ...[]byte) string { return string(appendBase58Check(nil, parts...)) }

// appendBase58Check appends the concatenated parts with their checksum. Where dst has
// room for them, there is no other copy of the text or the parts afterwards.
func appendBase58Check(dst []byte, parts ...[]byte) []byte {
	var room [maxBase58Len]byte
	raw := room[:0]
	for _, part := range parts {
		raw = append(raw, part...)
	}
	defer clear(raw[:cap(raw)])
	sum := chainhash.DoubleHashB(raw)
	raw = append(raw, sum[:base58ChecksumLen]...)
	return appendBase58(dst, raw)
}

const (
	base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

	// Digits are converted five at a time.
	base58Group = 58 * 58 * 58 * 58 * 58
	groupDigits = 5
)

// words are a number of up to maxBase58Len bytes, the highest word first.
type words [maxBase58Len / 4]uint32

// appendBase58 appends the number that raw is, big endian, and a digit 0 for each
// zero byte before it. raw has up to maxBase58Len bytes.
func appendBase58(dst, raw []byte) []byte {
	from := len(dst)
	number := bytes.TrimLeft(raw, "\x00")
	zeros := len(raw) - len(number)
	var room words
	defer clear(room[:])
	for i, b := range number {
		place := len(number) - 1 - i
		room[len(room)-1-place/4] |= uint32(b) << (place % 4 * 8)
	}
	for rest := room[len(room)-(len(number)+3)/4:]; len(rest) > 0; {
		group := uint64(0)
		for i, word := range rest {
			group = group<<32 | uint64(word)
			rest[i] = uint32(group / base58Group)
			group %= base58Group
		}
		for len(rest) > 0 && rest[0] == 0 {
			rest = rest[1:]
		}
		for n := 0; n < groupDigits && (group > 0 || len(rest) > 0); n++ {
			dst = append(dst, base58Digits[group%58])
			group /= 58
		}
	}
	for range zeros {
		dst = append(dst, base58Digits[0])
	}
	slices.Reverse(dst[from:])
	return dst
}

// base58Values are the values of the digits, and -1 for other bytes.
var base58Values = func() (values [256]int8) {
	for i := range values {
		values[i] = int8(strings.IndexByte(base58Digits, byte(i)))
	}
	return values
}()

// decodeBase58 is the inverse of appendBase58. It returns nil for a text that is not
// base58, and for more than maxBase58Len digits.
func decodeBase58(text string) []byte {
	if len(text) > maxBase58Len {
		return nil
	}
	number := strings.TrimLeft(text, base58Digits[:1])
	zeros := len(text) - len(number)
	var room words
	defer clear(room[:])
	begin := len(room)
	for len(number) > 0 {
		n := min(groupDigits, len(number))
		scale, carry := uint64(1), uint64(0)
		for _, c := range []byte(number[:n]) {
			if base58Values[c] < 0 {
				return nil
			}
			scale, carry = scale*58, carry*58+uint64(base58Values[c])
		}
		number = number[n:]
		for i := len(room) - 1; i >= begin || carry > 0; i-- {
			carry += uint64(room[i]) * scale
			room[i] = uint32(carry)
			carry >>= 32
			begin = min(begin, i)
		}
	}
	raw := make([]byte, zeros, zeros+4*(len(room)-begin))
	for i, word := range room[begin:] {
		first := 3
		if i == 0 {
			first = (bits.Len32(word)+7)/8 - 1
		}
		for place := first; place >= 0; place-- {
			raw = append(raw, byte(word>>(place*8)))
		}
	}
	return raw
}
