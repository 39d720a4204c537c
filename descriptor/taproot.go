package descriptor

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// maxTreeDepth is the longest Merkle path of a control block.
const maxTreeDepth = 128

// taproot is tr(KEY) or tr(KEY,TREE).
type taproot struct {
	internal *key
	tree     *tapTree // nil: none
	count    int      // of branches
}

// tapTree is a leaf script or a pair of subtrees.
type tapTree struct {
	leaf        script
	left, right *tapTree
}

func (t *taproot) branches() int    { return t.count }
func (*taproot) output() OutputType { return Bech32m }

func (t *taproot) appendText(dst []byte, f form) []byte {
	dst = t.internal.appendText(append(dst, "tr("...), f)
	if t.tree != nil {
		dst = t.tree.appendText(append(dst, ','), f)
	}
	return append(dst, ')')
}

func (t *tapTree) appendText(dst []byte, f form) []byte {
	if t.leaf != nil {
		return t.leaf.appendText(dst, f)
	}
	dst = t.left.appendText(append(dst, '{'), f)
	dst = t.right.appendText(append(dst, ','), f)
	return append(dst, '}')
}

func (t *taproot) scripts(keys [][]byte) ([][]byte, error) {
	b := t.batch()
	if err := b.add(keys); err != nil {
		return nil, err
	}
	all, err := b.scripts()
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func (t *taproot) batch() batch { return &tapBatch{taproot: t} }

// hash returns the Merkle root of the tree, whose leaves are tapscripts (BIP341,
// BIP342).
func (t *tapTree) hash(keys [][]byte) (*chainhash.Hash, error) {
	if t.leaf != nil {
		scripts, err := t.leaf.scripts(keys)
		if err != nil {
			return nil, err
		}
		return leafHash(scripts[0]), nil
	}
	left, err := t.left.hash(keys)
	if err != nil {
		return nil, err
	}
	right, err := t.right.hash(keys)
	if err != nil {
		return nil, err
	}
	return branchHash(left, right), nil
}

func parseTr(p *parser, args string, _ scope) (script, error) {
	arg, rest := cutExpression(args)
	internal, err := p.parseKey(arg, inTr)
	if err != nil {
		return nil, within("tr()", err)
	}
	t := &taproot{internal: internal, count: internal.branches()}
	if rest == "" {
		return t, nil
	}
	if rest[0] != ',' {
		return nil, failf("tr: expected ',', got '%c'", rest[0])
	}
	r := treeParser{parser: p, name: "tr", scope: inTr, text: rest[1:]}
	if t.tree, err = r.parse(0); err != nil {
		return nil, err
	}
	if r.text != "" {
		return nil, failf("tr(): expected ')' after script expression")
	}
	return t, t.alignBranches(r.leaves)
}

// alignBranches checks that all leaves and the internal key have the same
// number of branches where they have more than one.
func (t *taproot) alignBranches(leaves []script) error {
	for _, leaf := range leaves {
		t.count = max(t.count, leaf.branches())
	}
	for _, leaf := range leaves {
		if n := leaf.branches(); n != 1 && n != t.count {
			return failf("tr(): Multipath subscripts have mismatched lengths")
		}
	}
	if n := t.internal.branches(); n != 1 && n != t.count {
		return failf("tr(): Multipath internal key mismatches multipath subscripts lengths")
	}
	return nil
}

// treeParser reads the script tree of a tr or mr expression off the front of
// text.
type treeParser struct {
	*parser

	name   string // of the function
	scope  scope  // of the leaves
	text   string
	leaves []script
}

func (r *treeParser) parse(depth int) (*tapTree, error) {
	if !r.skip('{') {
		return r.parseLeaf()
	}
	if depth == maxTreeDepth {
		return nil, failf("%s() supports at most %d nesting levels", r.name, maxTreeDepth)
	}
	left, err := r.parse(depth + 1)
	if err != nil {
		return nil, err
	}
	if !r.skip(',') {
		return nil, failf("%s(): expected ',' after script expression", r.name)
	}
	right, err := r.parse(depth + 1)
	if err != nil {
		return nil, err
	}
	if !r.skip('}') {
		return nil, failf("%s(): expected '}' after script expression", r.name)
	}
	return &tapTree{left: left, right: right}, nil
}

func (r *treeParser) parseLeaf() (*tapTree, error) {
	// The tree judges the text after the leaf.
	arg, rest := cutExpression(r.text)
	leaf, _, err := r.parseScript(arg, r.scope)
	if err != nil {
		return nil, err
	}
	r.text = rest
	r.leaves = append(r.leaves, leaf)
	return &tapTree{leaf: leaf}, nil
}

func (r *treeParser) skip(c byte) bool {
	if r.text == "" || r.text[0] != c {
		return false
	}
	r.text = r.text[1:]
	return true
}
