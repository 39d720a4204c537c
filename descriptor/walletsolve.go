package descriptor

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// ErrOtherScript reports a script that a descriptor does not have at an index.
var ErrOtherScript = errors.New("script is not the descriptor's")

// Solution tells what is known of how to spend one script of a descriptor.
type Solution struct {
	// Text describes the script alone, with the keys of the index and their
	// origins, and with checksum. As in Core it is what the script and its
	// keys tell: combo() and sortedmulti() are not in it.
	Text string

	// Solvable is false if the text only repeats the script or its address.
	Solvable bool

	// Redeem is the script behind a P2SH or P2WSH output; Witness is the one
	// behind a P2WSH within P2SH.
	Redeem, Witness []byte

	// Leaves are the scripts behind a P2MR output.
	Leaves []Leaf

	// Key is the only key of P2PKH and P2WPKH, by itself or within another
	// script, and the internal key of P2TR without script tree.
	Key *DerivedKey

	// Taproot is how to spend a P2TR output of tr().
	Taproot *TapTree
}

// A Leaf is a script behind a P2MR output.
type Leaf struct {
	Script  []byte
	Control []byte // the control block of a witness that runs it
}

// Solve tells how to spend the script that the descriptor has at an index.
//
// Errors: those of [Descriptor.Expand], [ErrOtherScript].
func (d *Descriptor) Solve(index uint32, script []byte) (*Solution, error) {
	scripts, err := d.Expand(index)
	if err != nil {
		return nil, err
	}
	place := slices.IndexFunc(scripts, func(s []byte) bool { return bytes.Equal(s, script) })
	if place < 0 {
		return nil, ErrOtherScript
	}
	if !d.IsSolvable() {
		text := Infer(script, d.net)
		opaque := strings.HasPrefix(text, "addr(") || strings.HasPrefix(text, "raw(") || strings.HasPrefix(text, "rawmr(")
		return &Solution{Text: text, Solvable: !opaque}, nil
	}
	if m, ok := d.root.(*merkle); ok {
		return d.solveP2MR(m, index)
	}
	s, err := d.solver(index)
	if err != nil {
		return nil, err
	}
	return s.solve(place)
}

// solver works out how to spend the scripts of one index.
type solver struct {
	*Descriptor // to be changed: not shared

	public  [][]byte // by the number of the key
	derived []DerivedKey
}

// solver copies the descriptor, with keys that print as those of the index.
func (d *Descriptor) solver(index uint32) (*solver, error) {
	derived, err := d.KeysAt(index)
	if err != nil {
		return nil, err
	}
	copies, err := Parse(d.String(), d.net, Options{})
	if err != nil {
		return nil, err
	}
	s := &solver{Descriptor: copies[0]}
	for _, k := range s.keys {
		at := slices.IndexFunc(derived, func(dk DerivedKey) bool { return dk.Expression == k.expression })
		s.derived = append(s.derived, derived[at])
		s.public = append(s.public, derived[at].PublicKey)
	}
	s.print(s.root, false)
	return s, nil
}

// print makes the keys within a script expression print as derived ones.
func (s *solver) print(root script, xOnly bool) {
	switch expression := root.(type) {
	case *keyScript:
		s.printKeys(xOnly || expression.name == "rawtr", expression.key)
	case *multi:
		s.printKeys(xOnly, expression.keys...)
	case *wrapped:
		s.print(expression.inner, xOnly)
	case *taproot:
		s.printKeys(true, expression.internal)
		expression.tree.each(func(leaf script) { s.print(leaf, true) })
	case *policy:
		s.printKeys(xOnly, expression.keys...)
	}
}

// each visits the leaves from left to right.
func (t *tapTree) each(visit func(leaf script)) {
	switch {
	case t == nil:
	case t.leaf != nil:
		visit(t.leaf)
	default:
		t.left.each(visit)
		t.right.each(visit)
	}
}

func (s *solver) printKeys(xOnly bool, keys ...*key) {
	for _, k := range keys {
		from := s.derived[k.number]
		origin := &keyOrigin{fingerprint: from.Fingerprint, steps: from.Path}
		*k = key{
			keySource: &constantKey{public: from.PublicKey, xOnly: xOnly},
			number:    k.number, expression: k.expression, origin: origin,
		}
	}
}

// solve describes the script at a place among those of the descriptor.
func (s *solver) solve(place int) (*Solution, error) {
	if combo, ok := s.root.(*keyScript); ok && combo.name == "combo" {
		s.root = comboPart(combo.key, place)
	}
	solution := &Solution{Solvable: true}
	if err := s.explain(s.root, solution); err != nil {
		return nil, err
	}
	solution.Text = s.String()
	return solution, nil
}

// comboPart returns the expression for one of the scripts of combo().
func comboPart(k *key, place int) script {
	segwit := &keyScript{name: "wpkh", key: k, build: wpkhScripts}
	return []script{
		&keyScript{name: "pk", key: k, build: pkScripts},
		&keyScript{name: "pkh", key: k, build: pkhScripts},
		segwit,
		&wrapped{name: "sh", inner: segwit},
	}[place]
}

// explain gives a script expression the form that its script tells, and notes
// inner scripts and keys.
func (s *solver) explain(root script, solution *Solution) error {
	switch expression := root.(type) {
	case *keyScript:
		if expression.name == "pkh" || expression.name == "wpkh" {
			solution.Key = &s.derived[expression.key.number]
		}
	case *multi:
		s.sort(expression)
	case *wrapped:
		scripts, err := expression.inner.scripts(s.public)
		if err != nil {
			return err
		}
		if solution.Redeem == nil {
			solution.Redeem = scripts[0]
		} else {
			solution.Witness = scripts[0]
		}
		return s.explain(expression.inner, solution)
	case *taproot:
		tree, err := expression.spending(s.public)
		if err != nil {
			return err
		}
		solution.Taproot = tree
		if expression.tree != nil {
			_, err := s.arrange(expression.tree)
			return err
		}
		solution.Key = &s.derived[expression.internal.number]
	}
	return nil
}

// sort replaces sortedmulti() by multi() with the keys in their order.
func (s *solver) sort(m *multi) {
	if !m.sorted {
		return
	}
	scriptKey := func(k *key) []byte {
		if m.tapscript {
			return s.public[k.number][1:]
		}
		return s.public[k.number]
	}
	m.sorted, m.name = false, strings.TrimPrefix(m.name, "sorted")
	slices.SortStableFunc(m.keys, func(a, b *key) int { return bytes.Compare(scriptKey(a), scriptKey(b)) })
}

// arrange puts the subtree with the lowest script first, because the output
// does not tell the order, and returns that script.
func (s *solver) arrange(t *tapTree) (lowest []byte, err error) {
	if t.leaf != nil {
		scripts, err := t.leaf.scripts(s.public)
		if err != nil {
			return nil, err
		}
		return scripts[0], s.explain(t.leaf, &Solution{})
	}
	left, err := s.arrange(t.left)
	if err != nil {
		return nil, err
	}
	right, err := s.arrange(t.right)
	if err != nil {
		return nil, err
	}
	if bytes.Compare(right, left) < 0 {
		t.left, t.right = t.right, t.left
		return right, nil
	}
	return left, nil
}
