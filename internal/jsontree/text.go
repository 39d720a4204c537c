package jsontree

import "unsafe"

// text collects a string from raw octets and \u escapes and checks it as Core
// does, which is looser than UTF-8. Overlong forms are accepted and made short,
// and code points up to 0x1fffff pass. The two halves of a surrogate pair may
// be written in either way; a half alone is refused.
type text struct {
	buf   []byte
	part  rune // code point of an unfinished sequence
	shift uint // bits of part still to come
	high  rune // first half of a surrogate pair that waits for its second
	bad   bool
}

// octet adds one byte of the raw text.
func (t *text) octet(c byte) {
	switch {
	case t.shift > 0:
		t.bad = t.bad || c&0xc0 != 0x80
		t.shift -= 6
		t.part |= rune(c&0x3f) << t.shift
		if t.shift == 0 {
			t.codePoint(t.part)
		}
	case c < 0x80:
		t.codePoint(rune(c))
	case c < 0xc0 || c >= 0xf8: // a continuation without a start; reserved
		t.bad = true
	case c < 0xe0:
		t.part, t.shift = rune(c&0x1f)<<6, 6
	case c < 0xf0:
		t.part, t.shift = rune(c&0x0f)<<12, 12
	default:
		t.part, t.shift = rune(c&0x07)<<18, 18
	}
}

// codePoint adds one whole code point, or half of one.
func (t *text) codePoint(r rune) {
	isHigh, isLow := r>>10 == 0xd800>>10, r>>10 == 0xdc00>>10
	if t.shift > 0 || isLow != (t.high != 0) {
		t.bad = true
		return
	}
	switch {
	case isHigh:
		t.high = r
	case isLow:
		t.append(0x10000 + (t.high-0xd800)<<10 + (r - 0xdc00))
		t.high = 0
	default:
		t.append(r)
	}
}

// append encodes r; utf8.AppendRune would replace what lies above 0x10ffff.
func (t *text) append(r rune) {
	tail := func(shift uint) byte { return 0x80 | byte(r>>shift)&0x3f }
	switch {
	case r < 0x80:
		t.buf = append(t.buf, byte(r))
	case r < 0x800:
		t.buf = append(t.buf, 0xc0|byte(r>>6), tail(0))
	case r < 0x10000:
		t.buf = append(t.buf, 0xe0|byte(r>>12), tail(6), tail(0))
	default:
		t.buf = append(t.buf, 0xf0|byte(r>>18), tail(12), tail(6), tail(0))
	}
}

// finish returns the string, or false when it is not one.
func (t *text) finish() (string, bool) {
	if t.bad || t.shift > 0 || t.high != 0 {
		clear(t.buf)
		return "", false
	}
	return unsafe.String(unsafe.SliceData(t.buf), len(t.buf)), true // nobody writes to it any more
}
