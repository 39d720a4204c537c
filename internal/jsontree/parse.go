package jsontree

import (
	"errors"
	"strings"
)

// maxDepth is how deep arrays and objects may nest (Core: MAX_JSON_DEPTH).
const maxDepth = 512

// ErrSyntax reports a text that is not JSON as Core accepts it.
var ErrSyntax = errors.New("not valid JSON")

// Parse reads one JSON value with nothing but white space around it.
//
// It is strict: no comments, no trailing commas, no leading zeros, no byte
// order mark, no control characters in strings, at most 512 levels. Strings
// are UTF-8 as Core checks it (see [text]). Numbers keep their text and have
// no limit. The tree holds copies: text may be used again afterwards. The
// only error is [ErrSyntax].
func Parse(text []byte) (*Value, error) {
	p := parser{src: text}
	v, ok := p.value(0)
	if !ok || p.next() != 0 || p.pos < len(p.src) {
		v.Wipe() // no caller can, since the value is not returned
		return nil, ErrSyntax
	}
	return &v, nil
}

type parser struct {
	src []byte
	pos int
}

// next skips white space and returns the byte there without taking it, 0 at
// the end. A zero byte in the text is no token either.
func (p *parser) next() byte {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; c {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return c
		}
	}
	return 0
}

// take skips white space and takes the byte c, not 0, if it is the next one.
func (p *parser) take(c byte) bool {
	if p.next() != c {
		return false
	}
	p.pos++
	return true
}

// value reads a value inside depth open arrays and objects.
func (p *parser) value(depth int) (Value, bool) {
	switch c := p.next(); {
	case c == '{':
		return p.object(depth + 1)
	case c == '[':
		return p.array(depth + 1)
	case c == '"':
		s, ok := p.str()
		return Value{kind: String, text: s, own: true}, ok
	case c == '-' || isDigit(c):
		s, ok := p.number()
		return Value{kind: Number, text: s}, ok
	case c == 't':
		return Value{kind: Bool, text: "1"}, p.word("true")
	case c == 'f':
		return Value{kind: Bool}, p.word("false")
	case c == 'n':
		return Value{}, p.word("null")
	}
	return Value{}, false
}

func (p *parser) word(w string) bool {
	if len(p.src)-p.pos < len(w) || string(p.src[p.pos:p.pos+len(w)]) != w {
		return false
	}
	p.pos += len(w)
	return true
}

func (p *parser) array(depth int) (Value, bool) {
	v := Value{kind: Array}
	p.pos++
	if p.take(']') {
		return v, depth <= maxDepth
	}
	if depth > maxDepth {
		return v, false
	}
	c := new(children)
	v.box = c
	for {
		element, ok := p.value(depth)
		c.values = append(c.values, element)
		if !ok {
			return v, false
		}
		if p.take(']') {
			return v, true
		}
		if !p.take(',') {
			return v, false
		}
	}
}

func (p *parser) object(depth int) (Value, bool) {
	v := Value{kind: Object}
	p.pos++
	if p.take('}') {
		return v, depth <= maxDepth
	}
	if depth > maxDepth {
		return v, false
	}
	c := new(children)
	v.box = c
	for {
		if p.next() != '"' {
			return v, false
		}
		key, ok := p.str()
		if !ok || !p.take(':') {
			return v, false
		}
		member, ok := p.value(depth)
		c.keys, c.values = append(c.keys, key), append(c.values, member)
		if !ok {
			return v, false
		}
		if p.take('}') {
			return v, true
		}
		if !p.take(',') {
			return v, false
		}
	}
}

// number takes a number's text. As in Core a lone "-" passes when the whole
// text ends there; it is a number that converts to nothing.
func (p *parser) number() (string, bool) {
	from := p.pos
	if p.src[p.pos] == '-' {
		p.pos++
		if p.pos == len(p.src) {
			return "-", true
		}
	}
	zero := p.peek() == '0'
	if n := p.digits(); n == 0 || zero && n > 1 {
		return "", false
	}
	if p.peek() == '.' {
		p.pos++
		if p.digits() == 0 {
			return "", false
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if p.digits() == 0 {
			return "", false
		}
	}
	return string(p.src[from:p.pos]), true
}

// peek returns the byte at the position, 0 at the end.
func (p *parser) peek() byte {
	if p.pos == len(p.src) {
		return 0
	}
	return p.src[p.pos]
}

// digits skips digits and returns how many there were.
func (p *parser) digits() int {
	from := p.pos
	for isDigit(p.peek()) {
		p.pos++
	}
	return p.pos - from
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// str takes a quoted string and returns its contents.
func (p *parser) str() (string, bool) {
	p.pos++
	if s, ok := p.plain(); ok {
		return s, true
	}
	t := text{buf: make([]byte, 0, p.size())}
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		p.pos++
		switch {
		case c == '"':
			return t.finish()
		case c < ' ', c == '\\' && !p.escape(&t):
			clear(t.buf)
			return "", false
		case c == '\\':
		default:
			t.octet(c)
		}
	}
	return "", false
}

// size returns how long the string that begins here can be: what it is read into
// is never too small, so that there is one copy.
func (p *parser) size() int {
	for i := p.pos; i < len(p.src); i++ {
		switch p.src[i] {
		case '"':
			return i - p.pos
		case '\\':
			i++
		}
	}
	return 0
}

// plain takes the rest of a string that is ASCII without escapes, which
// nearly every string is.
func (p *parser) plain() (string, bool) {
	for i := p.pos; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == '"':
			s := string(p.src[p.pos:i])
			p.pos = i + 1
			return s, true
		case c < ' ' || c == '\\' || c >= 0x80:
			return "", false
		}
	}
	return "", false
}

// escapes and meanings pair the short escapes with the bytes that they stand
// for.
const (
	escapes  = `"\/bfnrt`
	meanings = "\"\\/\b\f\n\r\t"
)

// escape takes what follows a backslash.
func (p *parser) escape(t *text) bool {
	c := p.peek()
	p.pos = min(p.pos+1, len(p.src))
	if c == 'u' {
		return p.codePoint(t)
	}
	i := strings.IndexByte(escapes, c)
	if i < 0 {
		return false
	}
	t.octet(meanings[i])
	return true
}

// codePoint takes the four hexadecimal digits of \u.
func (p *parser) codePoint(t *text) bool {
	if len(p.src)-p.pos < 4 {
		return false
	}
	var r rune
	for _, c := range p.src[p.pos : p.pos+4] {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if d < 0 || c < '0' {
			return false
		}
		r = r<<4 | rune(d)
	}
	p.pos += 4
	t.codePoint(r)
	return true
}
