package miniscript

import "strings"

// maxNameLen is the length of the longest name of a fragment.
const maxNameLen = len("ripemd160")

// Keys reads and compares keys on behalf of [Parse].
type Keys interface {
	// ReadKey reads the next key. The first one has the number 0.
	ReadKey(text string) error

	// Identity returns a text that is the same for keys that are the same.
	// It is asked when all keys are read.
	Identity(key int) string
}

// Parse reads an expression. The text of a key ends at the next closing bracket
// or, within a multisig, at the next comma. Opening brackets are not counted,
// except the opening bracket of a musig() outside a multisig.
//
// The result may still have no type or be refused: see [Expression.Check].
//
// Errors: [ErrSyntax], which covers numbers out of range and scripts that are
// certain to be too large; the first error of keys.
func Parse(text string, ctx Context, keys Keys) (*Expression, error) {
	p := parser{builder: builder{ctx: ctx}, text: text, source: keys, size: 1}
	for {
		done, err := p.next()
		switch {
		case err != nil:
			return nil, err
		case done != nil && p.text != "":
			return nil, ErrSyntax
		case done != nil:
			return p.expression(done, keys.Identity), nil
		}
	}
}

// parser reads a text from the left.
type parser struct {
	builder

	text   string // still to be read
	source Keys

	// size is the size of the script if everything still to be read were
	// expressions of one byte. It bounds the size of the tree.
	size int

	pending []openCall // the last one is the innermost
}

// openCall is a fragment whose arguments are not all read yet.
type openCall struct {
	call

	wrappers  string
	threshold int64 // of thresh
	subs      []*node
}

// call is a way to write a fragment that has sub-expressions.
type call struct {
	fragment fragment
	args     int // number of sub-expressions to read; 0: any
}

// calls are the fragments with sub-expressions by name.
var calls = map[string]call{
	"andor": {andOr, 3}, "and_n": {andOr, 2}, "and_v": {andV, 2}, "and_b": {andB, 2},
	"or_b": {orB, 2}, "or_c": {orC, 2}, "or_d": {orD, 2}, "or_i": {orI, 2}, "thresh": {thresh, 0},
}

// next reads up to the end of the next leaf and closes what ends there. It
// returns the whole tree when nothing is left open.
func (p *parser) next() (*node, error) {
	letters, err := p.readWrappers()
	if err != nil {
		return nil, err
	}
	if !p.fits() {
		return nil, ErrSyntax
	}
	name, _, called := strings.Cut(p.text[:min(len(p.text), maxNameLen+1)], "(")
	if c, ok := calls[name]; ok && called {
		p.text = p.text[len(name)+1:]
		return nil, p.open(c, letters)
	}
	n, err := p.readLeaf(name, called)
	if err != nil {
		return nil, err
	}
	p.size += n.size - 1
	return p.finish(n, letters)
}

func (p *parser) fits() bool { return p.size <= p.ctx.maxScriptSize() }

// readWrappers reads letters up to a colon, if that comes before anything else.
func (p *parser) readWrappers() (string, error) {
	end := 1
	for end < len(p.text) && 'a' <= p.text[end] && p.text[end] <= 'z' {
		end++
	}
	if end >= len(p.text) || p.text[end] != ':' {
		return "", nil
	}
	letters := p.text[:end]
	p.text = p.text[end+1:]
	for i := range len(letters) {
		switch letter := letters[i]; letter {
		case 't':
			p.size++
		case 'l', 'u':
			p.size += overhead(orI) + 1
		case 'v':
			// Nothing bounds the length of vvv…, which has no type.
			if i > 0 && letters[i-1] == 'v' {
				return "", ErrSyntax
			}
		default:
			f, ok := wrappers[letter]
			if !ok {
				return "", ErrSyntax
			}
			p.size += overhead(f)
		}
	}
	return letters, nil
}

// open begins a fragment with sub-expressions.
func (p *parser) open(c call, letters string) error {
	o := openCall{call: c, wrappers: letters}
	switch c.fragment {
	case thresh:
		var err error
		if o.threshold, err = p.readThreshold(); err != nil || o.threshold < 1 {
			return ErrSyntax
		}
		p.size += 1 + numberSize(int(min(o.threshold, 1<<31-1)))
	case andOr:
		p.size += overhead(andOr) + 2
	default:
		p.size += overhead(c.fragment) + 1
	}
	p.pending = append(p.pending, o)
	return nil
}

// finish wraps an expression and hands it to the fragment that it is part of,
// if any, and so on while those are complete.
func (p *parser) finish(n *node, letters string) (*node, error) {
	for {
		var err error
		if n, err = p.applyWrappers(n, letters); err != nil {
			return nil, err
		}
		if len(p.pending) == 0 {
			return n, nil
		}
		o := &p.pending[len(p.pending)-1]
		o.subs = append(o.subs, n)
		more, err := p.readSeparator(o)
		if err != nil || more {
			return nil, err
		}
		if n, letters, err = p.close(o); err != nil {
			return nil, err
		}
	}
}

func (p *parser) applyWrappers(n *node, letters string) (*node, error) {
	for i := len(letters) - 1; i >= 0; i-- {
		if !p.fits() {
			return nil, ErrSyntax
		}
		switch letters[i] {
		case 't':
			n = p.wrap(andV, n, p.wrap(constTrue))
		case 'l':
			n = p.wrap(orI, p.wrap(constFalse), n)
		case 'u':
			n = p.wrap(orI, n, p.wrap(constFalse))
		case 'v':
			inner := n.size
			n = p.wrap(wrapV, n)
			p.size += n.size - inner
		default:
			n = p.wrap(wrappers[letters[i]], n)
		}
	}
	return n, nil
}

// readSeparator reads what follows an argument and reports whether it is a
// comma.
func (p *parser) readSeparator(o *openCall) (more bool, err error) {
	if !p.fits() || p.text == "" {
		return false, ErrSyntax
	}
	want := byte(',')
	switch {
	case o.fragment == thresh && p.text[0] == ',':
		p.size += 2 // an ADD, and the next part
	case o.fragment == thresh, len(o.subs) == o.args:
		want = ')'
	}
	if p.text[0] != want {
		return false, ErrSyntax
	}
	p.text = p.text[1:]
	return want == ',', nil
}

// close completes the innermost fragment.
func (p *parser) close(o *openCall) (n *node, letters string, err error) {
	if !p.fits() || o.threshold > int64(len(o.subs)) {
		return nil, "", ErrSyntax
	}
	if o.fragment == andOr && o.args == 2 {
		o.subs = append(o.subs, p.wrap(constFalse))
	}
	n = p.add(node{fragment: o.fragment, number: uint32(o.threshold), subs: o.subs})
	letters = o.wrappers
	p.pending = p.pending[:len(p.pending)-1]
	return n, letters, nil
}
