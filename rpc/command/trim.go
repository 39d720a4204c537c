package command

import "bytes"

// trim leaves members out of JSON without blanks, as package jsontree writes it. It works in place.
func (d *drops) trim(text []byte) []byte {
	t := trimmer{text: text}
	t.value(d, true)
	t.keep(len(text))
	return text[:t.to]
}

// A trimmer reads JSON and moves what is kept to the front.
type trimmer struct {
	text []byte
	at   int // read so far
	from int // what is kept and not moved yet begins here
	to   int // how much is kept and moved
}

// keep moves what is kept up to an index.
func (t *trimmer) keep(end int) {
	if t.to != t.from {
		copy(t.text[t.to:], t.text[t.from:end])
	}
	t.to += end - t.from
	t.from = end
}

// cut leaves out what is between an index and where the trimmer is.
func (t *trimmer) cut(begin int) {
	t.keep(begin)
	t.from = t.at
}

// value reads a value. The last one is not read further than to the last member that is left out.
func (t *trimmer) value(d *drops, last bool) {
	switch first := t.text[t.at]; {
	case d != nil && first == '{' && (d.members != nil || d.others != nil):
		t.object(d, last)
	case d != nil && first == '[' && d.elements != nil:
		t.array(d.elements)
	default:
		t.skip()
	}
}

func (t *trimmer) object(d *drops, last bool) {
	found := 0
	for t.at++; t.text[t.at] != '}'; {
		begin := t.at
		t.quoted()
		inner := d.member(t.text[begin+1 : t.at-1])
		t.at++ // the colon
		if inner == nil || !inner.gone {
			t.value(inner, false)
			t.comma()
		} else {
			t.skip()
			t.comma()
			t.cut(begin)
		}
		if inner != nil && inner != d.others {
			found++
		}
		if last && d.others == nil && found == len(d.members) && t.text[t.at] != '}' {
			t.at = len(t.text)
			return
		}
	}
	if t.from == t.at && t.to > 0 && t.text[t.to-1] == ',' { // the last member was left out
		t.to--
	}
	t.at++
}

func (t *trimmer) array(elements *drops) {
	for t.at++; t.text[t.at] != ']'; {
		t.value(elements, false)
		t.comma()
	}
	t.at++
}

// comma passes over a comma, if there is one.
func (t *trimmer) comma() {
	if t.text[t.at] == ',' {
		t.at++
	}
}

// quoted reads a string.
func (t *trimmer) quoted() {
	for t.at++; ; t.at++ {
		end := bytes.IndexByte(t.text[t.at:], '"')
		if end < 0 {
			panic("command: a result that is no JSON")
		}
		t.at += end
		escapes := 0
		for t.text[t.at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			t.at++
			return
		}
	}
}

// skip reads a value of which all is kept, or nothing.
func (t *trimmer) skip() {
	for depth := 0; t.at < len(t.text); {
		switch t.text[t.at] {
		case '"':
			t.quoted()
		case '{', '[':
			depth++
			t.at++
			continue
		case '}', ']':
			if depth == 0 { // of what the value stands in
				return
			}
			depth--
			t.at++
		case ',':
			if depth == 0 {
				return
			}
			t.at++
			continue
		default:
			t.at++
			continue
		}
		if depth == 0 {
			return
		}
	}
}
