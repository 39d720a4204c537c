package walletfile

import (
	"slices"
	"strings"
)

// wildcard is the last step of a key expression.
type wildcard int

const (
	noWildcard wildcard = iota
	plainWildcard
	hardenedWildcard
)

// keyExpression is one key expression of a descriptor's canonical text.
type keyExpression struct {
	number     uint32 // in the records of the cache
	start, end int    // where it lies in the text
	extended   bool   // an extended key, so that the cache has a part in it
	last       wildcard
	miniscript bool // within miniscript
	pqc        bool // within pqc()
}

var (
	// keyFunctions take keys only; in listFunctions a number comes first.
	keyFunctions  = []string{"pk", "pkh", "pk_k", "pk_h", "wpkh", "combo", "rawtr", "musig", "pqc"}
	listFunctions = []string{"multi", "sortedmulti", "multi_a", "sortedmulti_a"}

	// Any other function within wsh, or in a leaf of tr, is miniscript.
	wshFunctions  = []string{"pk", "pkh", "multi", "sortedmulti"}
	leafFunctions = []string{"pk", "multi_a", "sortedmulti_a"}
)

// call is a function whose arguments are being read.
type call struct {
	name       string
	start      int  // of the name
	argument   int  // number of the argument being read
	ranged     bool // a participant of musig has a wildcard
	miniscript bool
	p2mr       bool // within mr(), whose keys are numbered only if they are derived
}

// isKey reports whether the argument being read is a key.
func (c *call) isKey() bool {
	if c.p2mr {
		return c.name == "pqc"
	}
	return slices.Contains(keyFunctions, c.name) ||
		c.argument > 0 && slices.Contains(listFunctions, c.name) ||
		c.argument == 0 && c.name == "tr"
}

// keyReader finds the key expressions of a text.
type keyReader struct {
	text  string
	calls []call // from the outermost
	next  uint32 // number of the next key
	found []keyExpression
}

// keyExpressions finds the key expressions of a canonical text without
// checksum, participants of musig before the musig itself. It reads the form
// alone: the text is known to be a descriptor.
func keyExpressions(text string) []keyExpression {
	r := keyReader{text: text}
	for pos := 0; pos < len(text); {
		word := strings.IndexAny(text[pos:], "(){},")
		if word < 0 {
			break
		}
		start, end := pos, pos+word
		pos = end + 1
		switch text[end] {
		case '(':
			r.open(start, end)
		case ',':
			r.argument(start, end)
			r.nextArgument()
		case ')':
			r.argument(start, end)
			pos = r.close(pos)
		}
	}
	return r.found
}

// inner is the innermost call, if there is one.
func (r *keyReader) inner() *call {
	if len(r.calls) == 0 {
		return &call{}
	}
	return &r.calls[len(r.calls)-1]
}

func (r *keyReader) nextArgument() { r.inner().argument++ }

// open begins a call; wrappers stand before its name.
func (r *keyReader) open(start, end int) {
	outer, name := *r.inner(), r.text[start:end]
	c := call{name: name[strings.IndexByte(name, ':')+1:], start: start, miniscript: outer.miniscript}
	c.p2mr = outer.p2mr || c.name == "mr"
	switch {
	case outer.name == "wsh":
		c.miniscript = !slices.Contains(wshFunctions, name)
	case outer.name == "tr" && outer.argument > 0:
		c.miniscript = !slices.Contains(leafFunctions, name)
	}
	r.calls = append(r.calls, c)
}

// argument notes the text of an argument if it is a key.
func (r *keyReader) argument(start, end int) {
	c := r.inner()
	if start == end || !c.isKey() {
		return
	}
	key := r.text[start:end]
	bare := key[strings.IndexByte(key, ']')+1:]
	bare, _, _ = strings.Cut(bare, "/")
	k := keyExpression{
		number: r.next, start: start, end: end, miniscript: c.miniscript, pqc: c.p2mr,
		extended: strings.Trim(bare, "0123456789abcdef") != "", last: wildcardOf(key),
	}
	c.ranged = c.ranged || k.last != noWildcard
	r.found = append(r.found, k)
	r.next++
}

// close ends a call and returns where to read on. A musig is a key of its own,
// with a path after its bracket.
func (r *keyReader) close(pos int) int {
	if len(r.calls) == 0 {
		return pos
	}
	c := *r.inner()
	r.calls = r.calls[:len(r.calls)-1]
	if c.name != "musig" {
		return pos
	}
	end := len(r.text)
	if length := strings.IndexAny(r.text[pos:], "(){},"); length >= 0 {
		end = pos + length
	}
	path := r.text[pos:end]
	r.found = append(r.found, keyExpression{
		number: r.next, start: c.start, end: end, miniscript: c.miniscript,
		extended: path != "" && !c.ranged, last: wildcardOf(path),
	})
	r.next++
	return end
}

func wildcardOf(key string) wildcard {
	switch {
	case strings.HasSuffix(key, "/*"):
		return plainWildcard
	case strings.HasSuffix(key, "/*h"), strings.HasSuffix(key, "/*'"):
		return hardenedWildcard
	}
	return noWildcard
}
