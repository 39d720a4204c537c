package miniscript

import (
	"encoding/hex"
	"strconv"
)

// wrapper returns the letter under which a node is printed, and what follows
// the letter. ok is false for nodes that are printed by their name.
func (n *node) wrapper() (letter byte, inner *node, ok bool) {
	switch n.fragment {
	case wrapC:
		_, short := n.keyName()
		return 'c', n.subs[0], !short
	case wrapA:
		return 'a', n.subs[0], true
	case wrapS:
		return 's', n.subs[0], true
	case wrapD:
		return 'd', n.subs[0], true
	case wrapV:
		return 'v', n.subs[0], true
	case wrapJ:
		return 'j', n.subs[0], true
	case wrapN:
		return 'n', n.subs[0], true
	case andV:
		return 't', n.subs[0], n.subs[1].fragment == constTrue
	case orI:
		if n.subs[0].fragment == constFalse {
			return 'l', n.subs[1], true
		}
		return 'u', n.subs[0], n.subs[1].fragment == constFalse
	default:
		return 0, nil, false
	}
}

// keyName returns the short name of c:pk_k and c:pk_h.
func (n *node) keyName() (name string, ok bool) {
	switch n.subs[0].fragment {
	case pkK:
		return "pk", true
	case pkH:
		return "pkh", true
	default:
		return "", false
	}
}

// printer writes an expression. The items still to be written lie on a stack.
type printer struct {
	dst      []byte
	printKey func(dst []byte, key int) []byte
	pending  []printItem // last comes first
}

// printItem is a text or, if there is one, a node.
type printItem struct {
	text string
	node *node
}

func (n *node) appendText(dst []byte, printKey func([]byte, int) []byte) []byte {
	p := printer{dst: dst, printKey: printKey, pending: []printItem{{node: n}}}
	for len(p.pending) > 0 {
		last := len(p.pending) - 1
		item := p.pending[last]
		p.pending = p.pending[:last]
		if item.node == nil {
			p.dst = append(p.dst, item.text...)
			continue
		}
		p.print(item.node)
	}
	return p.dst
}

func (p *printer) print(n *node) {
	wrapped := false
	for letter, inner, ok := n.wrapper(); ok; letter, inner, ok = n.wrapper() {
		p.dst = append(p.dst, letter)
		n, wrapped = inner, true
	}
	if wrapped {
		p.dst = append(p.dst, ':')
	}
	name, subs := names[n.fragment], n.subs
	switch {
	case n.fragment == constFalse || n.fragment == constTrue:
		p.dst = append(p.dst, name...)
		return
	case n.fragment == wrapC:
		name, _ = n.keyName()
		n, subs = subs[0], nil
	case n.fragment == andOr && subs[2].fragment == constFalse:
		name, subs = "and_n", subs[:2]
	}
	p.dst = append(append(p.dst, name...), '(')
	p.printArgs(n)
	p.push(subs, n.fragment == thresh)
}

// printArgs prints what is no sub-expression: number, hash and keys.
func (p *printer) printArgs(n *node) {
	if n.number > 0 {
		p.dst = strconv.AppendUint(p.dst, uint64(n.number), 10)
	}
	p.dst = hex.AppendEncode(p.dst, n.digest)
	for i, key := range n.keys {
		if i > 0 || n.number > 0 {
			p.dst = append(p.dst, ',')
		}
		p.dst = p.printKey(p.dst, key)
	}
}

// push leaves the sub-expressions and the closing bracket for later.
func (p *printer) push(subs []*node, leadingComma bool) {
	p.pending = append(p.pending, printItem{text: ")"})
	for i := len(subs) - 1; i >= 0; i-- {
		p.pending = append(p.pending, printItem{node: subs[i]})
		if i > 0 || leadingComma {
			p.pending = append(p.pending, printItem{text: ","})
		}
	}
}
