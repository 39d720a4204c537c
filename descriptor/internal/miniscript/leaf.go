package miniscript

import (
	"encoding/hex"
	"strconv"
	"strings"
)

const (
	maxMultiKeys  = 20  // of multi, by consensus
	maxMultiAKeys = 999 // of multi_a, which leaves one element of the stack
)

// readLeaf reads a fragment without sub-expressions. name is the text before
// the next opening bracket.
func (p *parser) readLeaf(name string, called bool) (*node, error) {
	switch {
	case strings.HasPrefix(p.text, "0"):
		p.text = p.text[1:]
		return p.wrap(constFalse), nil
	case strings.HasPrefix(p.text, "1"):
		p.text = p.text[1:]
		return p.wrap(constTrue), nil
	case !called:
		return nil, ErrSyntax
	}
	p.text = p.text[len(name)+1:]
	switch name {
	case "pk_k", "pk":
		return p.readKeyLeaf(pkK, name == "pk")
	case "pk_h", "pkh":
		return p.readKeyLeaf(pkH, name == "pkh")
	case "older":
		return p.readLock(older)
	case "after":
		return p.readLock(after)
	case "sha256":
		return p.readHash(sha256, 32)
	case "hash256":
		return p.readHash(hash256, 32)
	case "ripemd160":
		return p.readHash(ripemd160, 20)
	case "hash160":
		return p.readHash(hash160, 20)
	case "multi":
		return p.readMulti(multi, P2WSH, maxMultiKeys)
	case "multi_a":
		return p.readMulti(multiA, Tapscript, maxMultiAKeys)
	default:
		return nil, ErrSyntax
	}
}

func (p *parser) readKeyLeaf(f fragment, checked bool) (*node, error) {
	text, err := p.readKeyText()
	if err != nil {
		return nil, err
	}
	key, err := p.readNextKey(text)
	if err != nil {
		return nil, err
	}
	n := p.add(node{fragment: f, keys: []int{key}})
	if checked {
		n = p.wrap(wrapC, n)
	}
	return n, nil
}

// readKeyText reads the only key of a fragment and the closing bracket after it. Of the keys only musig(KEY,…) has
// brackets of its own, which may be followed by a path.
func (p *parser) readKeyText() (string, error) {
	if !strings.HasPrefix(p.text, "musig(") {
		return p.readLast()
	}
	open := 0
	for i := range len(p.text) {
		switch p.text[i] {
		case '(':
			open++
		case ')':
			if open--; open < 0 {
				text := p.text[:i]
				p.text = p.text[i+1:]
				return text, nil
			}
		}
	}
	return "", ErrSyntax
}

func (p *parser) readNextKey(text string) (int, error) {
	if err := p.source.ReadKey(text); err != nil {
		return 0, err
	}
	p.keys++
	return p.keys - 1, nil
}

func (p *parser) readLock(f fragment) (*node, error) {
	text, err := p.readLast()
	if err != nil {
		return nil, err
	}
	lock, err := strconv.ParseUint(text, 10, 31)
	if err != nil || lock == 0 {
		return nil, ErrSyntax
	}
	return p.add(node{fragment: f, number: uint32(lock)}), nil
}

func (p *parser) readHash(f fragment, size int) (*node, error) {
	text, err := p.readLast()
	if err != nil {
		return nil, err
	}
	digest, err := hex.DecodeString(text)
	if err != nil || len(digest) != size {
		return nil, ErrSyntax
	}
	return p.add(node{fragment: f, digest: digest}), nil
}

func (p *parser) readMulti(f fragment, ctx Context, maxKeys int) (*node, error) {
	if p.ctx != ctx {
		return nil, ErrSyntax
	}
	threshold, err := p.readThreshold()
	if err != nil {
		return nil, err
	}
	var keys []int
	for more := true; more; {
		var text string
		if text, more, err = p.readArgument(); err != nil {
			return nil, err
		}
		key, err := p.readNextKey(text)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	// Core looks at the threshold only now: errors of keys come first.
	if len(keys) > maxKeys || threshold < 1 || threshold > int64(len(keys)) {
		return nil, ErrSyntax
	}
	return p.add(node{fragment: f, number: uint32(threshold), keys: keys}), nil
}

// readThreshold reads the first of several arguments as a number.
func (p *parser) readThreshold() (int64, error) {
	text, more, err := p.readArgument()
	if err != nil || !more || text[0] == '+' {
		return 0, ErrSyntax
	}
	threshold, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, ErrSyntax
	}
	return threshold, nil
}

// readArgument reads up to a comma or closing bracket, which it drops, and
// reports whether it was a comma.
func (p *parser) readArgument() (text string, more bool, err error) {
	end := strings.IndexAny(p.text, ",)")
	if end < 1 {
		return "", false, ErrSyntax
	}
	text, more = p.text[:end], p.text[end] == ','
	p.text = p.text[end+1:]
	return text, more, nil
}

// readLast reads up to a closing bracket, which it drops.
func (p *parser) readLast() (string, error) {
	text, rest, found := strings.Cut(p.text, ")")
	if !found || text == "" {
		return "", ErrSyntax
	}
	p.text = rest
	return text, nil
}
