package corenode

// A scanner finds where the values of a JSON text begin and end, and refuses what is no
// JSON. Nothing is decoded, so that results can be passed on as they are.
type scanner struct {
	text []byte
	at   int
}

// maxDepth bounds how deep values may lie in each other (Core: 512).
const maxDepth = 512

// A member is one of an object: its name with quotes, and its value.
type member struct{ name, value []byte }

// splitObject returns the members of an object that is the whole text and has no more than most.
func splitObject(text []byte, most int) (members []member, ok bool) {
	s := &scanner{text: text}
	ok = s.list('{', '}', func() bool {
		from := s.at
		if len(members) == most || !s.str() {
			return false
		}
		name := text[from:s.at]
		if s.space(); !s.take(':') {
			return false
		}
		s.space()
		from = s.at
		if !s.value(1) {
			return false
		}
		members = append(members, member{name, text[from:s.at]})
		return true
	})
	return members, ok && s.ended()
}

// splitArray returns the elements of an array that is the whole text, if there are n.
func splitArray(text []byte, n int) (elements [][]byte, ok bool) {
	s := &scanner{text: text}
	ok = s.list('[', ']', func() bool {
		from := s.at
		if len(elements) == n || !s.value(1) {
			return false
		}
		elements = append(elements, text[from:s.at])
		return true
	})
	return elements, ok && s.ended() && len(elements) == n
}

// ended reports whether nothing but white space follows.
func (s *scanner) ended() bool {
	s.space()
	return s.at == len(s.text)
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) take(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// list reads what stands between two brackets, with commas between.
func (s *scanner) list(open, end byte, item func() bool) bool {
	if s.space(); !s.take(open) {
		return false
	}
	if s.space(); s.take(end) {
		return true
	}
	for {
		if s.space(); !item() {
			return false
		}
		s.space()
		if s.take(end) {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

// value passes over a value that begins here.
func (s *scanner) value(depth int) bool {
	if s.at == len(s.text) || depth > maxDepth {
		return false
	}
	switch s.text[s.at] {
	case '{':
		return s.list('{', '}', func() bool {
			if !s.str() {
				return false
			}
			if s.space(); !s.take(':') {
				return false
			}
			s.space()
			return s.value(depth + 1)
		})
	case '[':
		return s.list('[', ']', func() bool { return s.value(depth + 1) })
	case '"':
		return s.str()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		return s.number()
	}
}

func (s *scanner) word(w string) bool {
	if len(s.text)-s.at < len(w) || string(s.text[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

func (s *scanner) number() bool {
	s.take('-')
	if !s.take('0') && !s.digits() {
		return false
	}
	if s.take('.') && !s.digits() {
		return false
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	from := s.at
	for s.at < len(s.text) && s.text[s.at]-'0' <= 9 {
		s.at++
	}
	return s.at > from
}

// str passes over a string. Most of its bytes stand for themselves.
func (s *scanner) str() bool {
	if !s.take('"') {
		return false
	}
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		switch {
		case c == '"':
			return true
		case c == '\\':
			if !s.escape() {
				return false
			}
		case c < ' ':
			return false
		}
	}
	return false
}

func (s *scanner) escape() bool {
	if s.at == len(s.text) {
		return false
	}
	c := s.text[s.at]
	s.at++
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			if s.at == len(s.text) || !isHex(s.text[s.at]) {
				return false
			}
			s.at++
		}
		return true
	}
	return false
}

func isHex(c byte) bool {
	return c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'f'
}
