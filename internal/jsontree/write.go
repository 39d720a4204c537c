package jsontree

import (
	"encoding/binary"
	"unsafe"
)

// String returns v as compact JSON.
func (v *Value) String() string { return string(v.AppendJSON(nil)) }

// AppendJSON appends v as compact JSON: no white space, members in their
// order, numbers as they were written.
func (v *Value) AppendJSON(dst []byte) []byte {
	switch v.Kind() {
	case Bool:
		if v.text == "" {
			return append(dst, "false"...)
		}
		return append(dst, "true"...)
	case Number:
		return append(dst, v.text...)
	case String:
		return AppendString(dst, v.text)
	case Array:
		dst = append(dst, '[')
		for i, element := range v.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = element.AppendJSON(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		first := true
		for key, member := range v.Members() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(AppendString(dst, key), ':')
			dst = member.AppendJSON(dst)
		}
		return append(dst, '}')
	default:
		return append(dst, "null"...)
	}
}

// Indent returns v over several lines, each level indented by n spaces. As in
// Core an empty array or object takes two lines.
func (v *Value) Indent(n int) string { return string(v.appendIndent(nil, n, 1)) }

// appendIndent appends v whose elements stand at the given level.
func (v *Value) appendIndent(dst []byte, n, level int) []byte {
	kind := v.Kind()
	if kind != Array && kind != Object {
		return v.AppendJSON(dst)
	}
	open, end := byte('['), byte(']')
	if kind == Object {
		open, end = '{', '}'
	}
	dst = append(dst, open, '\n')
	for i := range v.Len() {
		dst = appendSpaces(dst, n*level)
		if kind == Object {
			dst = append(AppendString(dst, v.box.keys[i]), ": "...)
		}
		dst = v.box.values[i].appendIndent(dst, n, level+1)
		if i < v.Len()-1 {
			dst = append(dst, ',')
		}
		dst = append(dst, '\n')
	}
	return append(appendSpaces(dst, n*(level-1)), end)
}

func appendSpaces(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, ' ')
	}
	return dst
}

// AppendString appends s in quotes with Core's escapes: the quote, the
// backslash, control characters and DEL; everything else goes out raw.
func AppendString[S ~string | ~[]byte](dst []byte, text S) []byte {
	s := *(*string)(unsafe.Pointer(&text)) // a slice begins as a string does; nobody keeps it
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := plain(s, 0); i < len(s); i = plain(s, i+1) {
		c := s[i]
		dst = append(append(dst, s[from:i]...), '\\')
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, c)
		case '\b':
			dst = append(dst, 'b')
		case '\f':
			dst = append(dst, 'f')
		case '\n':
			dst = append(dst, 'n')
		case '\r':
			dst = append(dst, 'r')
		case '\t':
			dst = append(dst, 't')
		default:
			dst = append(dst, 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}

// plain returns the index of the first byte from an index on that has to be escaped, or
// the length of s. It looks at eight bytes at a time.
func plain(s string, from int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	// hasZero is not 0 if a byte of x is 0, and then only.
	hasZero := func(x uint64) uint64 { return (x - ones) &^ x & tops }
	for b := unsafe.Slice(unsafe.StringData(s), len(s)); from+8 <= len(b); from += 8 {
		x := binary.LittleEndian.Uint64(b[from:])
		control := (x - ' '*ones) &^ x & tops
		if control|hasZero(x^'"'*ones)|hasZero(x^'\\'*ones)|hasZero(x^0x7f*ones) != 0 {
			break
		}
	}
	for ; from < len(s); from++ {
		if c := s[from]; c < ' ' || c == '"' || c == '\\' || c == 0x7f {
			break
		}
	}
	return from
}
