package descriptor

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// ErrOtherScript reports a script that a descriptor does not have at an index.
var ErrOtherScript = errors.New("script is not the descriptor's")

// Solution describes how to spend one script of a descriptor, as far as that is
// known.
type Solution struct {
	// Text describes the script alone, with the keys of the index and their
	// origins, and with checksum. As in Core it is inferred from the scripts and
	// their keys, not from the descriptor. It never has combo() or
	// sortedmulti(), and a miniscript may be a different text for the same
	// script. Where a part cannot be described it is rawtr() or addr().
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
		return &Solution{Text: text, Solvable: isSolution(text)}, nil
	}
	if m, ok := d.root.(*merkle); ok {
		return d.solveP2MR(m, index)
	}
	s, err := d.solver(index)
	if err != nil {
		return nil, err
	}
	return s.solve(place, script)
}

// solver works out how to spend the scripts of one index.
type solver struct {
	*Descriptor

	public  [][]byte     // by the number of the key
	derived []DerivedKey // of all key expressions
}

// solver computes the keys of an index.
func (d *Descriptor) solver(index uint32) (*solver, error) {
	derived, err := d.KeysAt(index)
	if err != nil {
		return nil, err
	}
	s := &solver{Descriptor: d, derived: derived}
	for _, k := range s.keys {
		s.public = append(s.public, s.at(k.expression).PublicKey)
	}
	return s, nil
}

// at returns the key of a key expression.
func (s *solver) at(expression int) *DerivedKey {
	return &s.derived[slices.IndexFunc(s.derived, func(dk DerivedKey) bool { return dk.Expression == expression })]
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

// solve describes the script at a place among those of the descriptor.
func (s *solver) solve(place int, script []byte) (*Solution, error) {
	root := s.root
	if combo, ok := root.(*keyScript); ok && combo.name == "combo" {
		root = comboPart(combo.key, place)
	}
	solution := new(Solution)
	if err := s.explain(root, solution); err != nil {
		return nil, err
	}
	k := new(known)
	if err := s.know(k, root); err != nil {
		return nil, err
	}
	solution.Text = k.describe(script, s.net)
	solution.Solvable = isSolution(solution.Text)
	return solution, nil
}

// isSolution reports whether a text does more than to repeat a script or its
// address.
func isSolution(text string) bool {
	return !strings.HasPrefix(text, "addr(") && !strings.HasPrefix(text, "raw(") && !strings.HasPrefix(text, "rawmr(")
}

// comboPart returns the expression for one of the scripts of combo().
func comboPart(k *key, place int) script {
	segwit := &keyScript{name: "wpkh", key: k, build: wpkhScripts, kind: Bech32}
	return []script{
		&keyScript{name: "pk", key: k, build: pkScripts},
		&keyScript{name: "pkh", key: k, build: pkhScripts},
		segwit,
		&wrapped{name: "sh", inner: segwit},
	}[place]
}

// explain notes inner scripts and keys.
func (s *solver) explain(root script, solution *Solution) error {
	switch expression := root.(type) {
	case *keyScript:
		if expression.name == "pkh" || expression.name == "wpkh" {
			solution.Key = s.at(expression.key.expression)
		}
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
		if expression.tree == nil {
			solution.Key = s.at(expression.internal.expression)
		}
	}
	return nil
}

// arrange puts the subtree with the lowest script first, because the output
// does not tell the order, and returns that script.
func (s *solver) arrange(t *tapTree) (lowest []byte, err error) {
	if t.leaf != nil {
		scripts, err := t.leaf.scripts(s.public)
		if err != nil {
			return nil, err
		}
		return scripts[0], nil
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
