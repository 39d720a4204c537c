package jsontree

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// ErrNotCanonical reports a value that has no canonical form: an object with one key twice, a number beyond the
// largest double, or text with code points beyond Unicode's.
var ErrNotCanonical = errors.New("no canonical form")

// AppendCanonical appends v in the canonical form of RFC 8785, without white space. Members of objects are in the order
// of the UTF-16 units of their keys. Numbers are written as ECMAScript writes the nearest double. Equal values have
// equal bytes. The error wraps [ErrNotCanonical].
func (v *Value) AppendCanonical(dst []byte) ([]byte, error) {
	switch v.Kind() {
	case Number:
		return appendDouble(dst, v.text)
	case String:
		return appendPlain(dst, v.text)
	case Array:
		return v.appendElements(dst)
	case Object:
		return v.appendSorted(dst)
	default:
		return v.AppendJSON(dst), nil
	}
}

func (v *Value) appendElements(dst []byte) (_ []byte, err error) {
	dst = append(dst, '[')
	for i, element := range v.Elements() {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = element.AppendCanonical(dst); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendSorted appends an object with its members in order.
func (v *Value) appendSorted(dst []byte) (_ []byte, err error) {
	dst = append(dst, '{')
	order := make([]int, v.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compareUnits(v.box.keys[a], v.box.keys[b]) })
	for n, i := range order {
		key := v.box.keys[i]
		if n > 0 {
			if key == v.box.keys[order[n-1]] {
				return dst, fmt.Errorf("key %q comes twice: %w", key, ErrNotCanonical)
			}
			dst = append(dst, ',')
		}
		if dst, err = appendPlain(dst, key); err != nil {
			return dst, err
		}
		if dst, err = v.box.values[i].AppendCanonical(append(dst, ':')); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// compareUnits compares two texts by their UTF-16 units.
func compareUnits(a, b string) int {
	for a != "" && b != "" {
		r, n := utf8.DecodeRuneInString(a)
		s, m := utf8.DecodeRuneInString(b)
		if r != s {
			return units(r) - units(s)
		}
		a, b = a[n:], b[m:]
	}
	return len(a) - len(b)
}

// units returns a number that orders code points as their UTF-16 units do: surrogates stand for the code points from
// 0x10000 on, and lie below 0xe000.
func units(r rune) int {
	const above = 0x110000
	if r >= 0xe000 && r < 0x10000 {
		return int(r) + above
	}
	return int(r)
}

// appendDouble appends the nearest double of a number as ECMAScript writes it.
func appendDouble(dst []byte, text string) ([]byte, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return dst, fmt.Errorf("number %s is out of range: %w", text, ErrNotCanonical)
	}
	if f == 0 { // also -0
		return append(dst, '0'), nil
	}
	size := max(f, -f)
	if size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64), nil
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') { // e-07 is e-7
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst, nil
}

// appendPlain appends a string with the escapes that JSON cannot do without.
func appendPlain(dst []byte, text string) ([]byte, error) {
	if !utf8.ValidString(text) {
		return dst, fmt.Errorf("text is not Unicode: %w", ErrNotCanonical)
	}
	from := len(dst)
	dst = AppendString(dst, text)
	const del = `\u007f`
	for i := from; i+len(del) <= len(dst); i++ { // Core escapes it
		if dst[i] != '\\' {
			continue
		}
		if string(dst[i:i+len(del)]) == del {
			dst = slices.Replace(dst, i, i+len(del), 0x7f)
			continue
		}
		i++ // what is escaped may be a backslash
	}
	return dst, nil
}
