package rest

import (
	"strconv"
	"strings"
)

// cutFormat splits what follows the prefix of an endpoint into what is asked for and the format
// behind the last point, without the query. An unknown ending stays where it is.
func cutFormat(rest string) (part string, f format) {
	part = rest
	if i := strings.LastIndexByte(rest, '?'); i >= 0 {
		part = rest[:i]
	}
	i := strings.LastIndexByte(part, '.')
	if i < 0 {
		return part, none
	}
	switch f := format(part[i+1:]); f {
	case none, bin, hexText, jsonText:
		return part[:i], f
	}
	return part, none
}

var errTarget = refuse(statusBadRequest, "URI parsing failed, it likely contained RFC 3986 invalid characters")

// query returns the first value of a parameter, or other where it is not in the query. A query
// with a parameter that has no value has none at all.
func (r *request) query(key, other string) (string, error) {
	if r.AnyTarget {
		return r.anyQuery(key, other), nil
	}
	target, fragment, _ := strings.Cut(r.target, "#")
	path, query, _ := strings.Cut(target, "?")
	if !valid(path, ":@/") || !valid(query, ":@/?") || !valid(fragment, ":@/?") {
		return "", errTarget
	}
	if query == "" {
		return other, nil
	}
	value, found := other, false
	for pair := range strings.SplitSeq(query, "&") {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return other, nil
		}
		if !found && name == key {
			value, found = unescape(text), true
		}
	}
	return value, nil
}

// anyQuery is query for targets with any characters: a parameter may have no value, and names may be escaped.
func (r *request) anyQuery(key, other string) string {
	_, rest, _ := strings.Cut(r.target, "?")
	query, _, _ := strings.Cut(rest, "#")
	for pair := range strings.SplitSeq(query, "&") {
		name, text, _ := strings.Cut(pair, "=")
		if unescapeOnly(name) == key {
			return unescapeOnly(text)
		}
	}
	return other
}

// unescapeOnly replaces %XX, and nothing else.
func unescapeOnly(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil && s[i+1] != '+' {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// valid reports whether a part of a target has only characters that may stand there: letters,
// digits, -._~!$&'()*+,;= and more, and percent signs before two digits.
func valid(part, more string) bool {
	for i := range len(part) {
		switch c := part[i]; {
		case c == '%':
			if i+2 >= len(part) || !isHex(part[i+1]) || !isHex(part[i+2]) {
				return false
			}
		case isLetterOrDigit(c), strings.IndexByte("-._~!$&'()*+,;=", c) >= 0, strings.IndexByte(more, c) >= 0:
		default:
			return false
		}
	}
	return true
}

// unescape replaces %XX and plus signs. A NUL ends the text, as it does in Core.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '+' {
			c = ' '
		}
		if c == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				c, i = byte(n), i+2
			}
		}
		if c == 0 {
			break
		}
		b.WriteByte(c)
	}
	return b.String()
}

// number reads a number of decimal digits alone that is in the range.
func number(text string, low, high int64) (int64, bool) {
	if text == "" || text[0] == '+' || text[0] == '-' {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= low && n <= high
}

// isHash reports whether a text is a hash: 64 hexadecimal digits.
func isHash(text string) bool {
	if len(text) != 64 {
		return false
	}
	for i := range len(text) {
		if !isHex(text[i]) {
			return false
		}
	}
	return true
}

// checkHash refuses what is no hash.
func checkHash(text string) error {
	if !isHash(text) {
		return refuse(statusBadRequest, "Invalid hash: "+text)
	}
	return nil
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func isLetterOrDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// shown leaves out what does not stand in a target.
func shown(text string) string {
	return strings.Map(func(c rune) rune {
		if c < 128 && (isLetterOrDigit(byte(c)) || strings.ContainsRune("!*'();:@&=+$,/?#[]-_.~%", c)) {
			return c
		}
		return -1
	}, text)
}
