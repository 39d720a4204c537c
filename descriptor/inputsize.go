package descriptor

import (
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

// Sizes in bytes of the elements that satisfy a script, each with its push.
const (
	signaturePush  = 1 + 71 // ECDSA, as wallets make it
	signatureLarge = 1 + 72 // ECDSA, as others may make it
	schnorrPush    = 1 + 65
	publicKeyPush  = 1 + 33
	pqcElement     = 3 + slhdsa.SignatureSize + 1 // of P2MR, with its hash type
)

// An InputSize is the most that the scripts of an input take which spends an output.
type InputSize struct {
	Script   int // bytes of the input's script
	Stack    int // bytes of the elements of its witness
	Elements int // of the witness
	Witness  bool
}

// Of returns the weight of a whole input, where a byte outside the witness weighs scale. If
// witnessed is true, some input of the transaction has a witness, so that each input has the
// number of its elements.
func (s InputSize) Of(witnessed bool, scale int) int {
	const outPointAndSequence = 32 + 4 + 4
	scriptLen, elements := compactSize(s.Script), 0
	switch {
	case s.Witness:
		scriptLen, elements = 1, compactSize(s.Elements)
	case witnessed:
		elements = 1
	}
	return (outPointAndSequence+scriptLen+s.Script)*scale + elements + s.Stack
}

// compactSize returns the length of a number as transactions have it.
func compactSize(n int) int {
	switch {
	case n < 0xfd:
		return 1
	case n <= 0xffff:
		return 3
	}
	return 5
}

// InputSize returns the size of an input that spends a script of the descriptor. It is
// false where the size is unknown. If large is true, signatures may be a byte longer
// than wallets make them. As in Core, taproot is taken to be spent by its key.
func (d *Descriptor) InputSize(index uint32, script []byte, large bool) (InputSize, bool) {
	place := 0
	if combo, ok := d.root.(*keyScript); ok && combo.name == "combo" {
		scripts, err := d.Expand(index)
		if err != nil {
			return InputSize{}, false
		}
		for place < len(scripts) && string(scripts[place]) != string(script) {
			place++
		}
		if place == len(scripts) {
			return InputSize{}, false
		}
		return d.inputSize(comboPart(combo.key, place), index, large)
	}
	return d.inputSize(d.root, index, large)
}

func (d *Descriptor) inputSize(root script, index uint32, large bool) (InputSize, bool) {
	switch root := root.(type) {
	case *taproot:
		return InputSize{Stack: schnorrPush, Elements: 1, Witness: true}, true
	case *keyScript:
		if root.name == "rawtr" {
			return InputSize{Stack: schnorrPush, Elements: 1, Witness: true}, true
		}
		size, elements, ok := satisfaction(root, large)
		if root.name == "wpkh" {
			return InputSize{Stack: size, Elements: elements, Witness: true}, ok
		}
		return InputSize{Script: size, Elements: elements}, ok
	case *multi:
		size, elements, ok := satisfaction(root, large)
		return InputSize{Script: size, Elements: elements}, ok
	case *wrapped:
		return d.wrappedSize(root, index, large)
	case *merkle:
		return root.tree.inputSize(0)
	}
	return InputSize{}, false
}

// wrappedSize is the size for a script behind a hash.
func (d *Descriptor) wrappedSize(root *wrapped, index uint32, large bool) (InputSize, bool) {
	s, err := d.solver(index)
	if err != nil {
		return InputSize{}, false
	}
	size, elements, ok := behind(root.inner, large)
	switch inner, nested := root.inner.(*wrapped); {
	case root.name == "wsh":
		length, known := s.length(root.inner)
		return InputSize{Stack: compactSize(length) + length + size, Elements: elements + 1, Witness: true}, ok && known
	case nested:
		length, known := s.length(inner.inner)
		redeem := 1 + 34
		return InputSize{
			Script: redeem, Stack: compactSize(length) + length + size, Elements: elements + 2, Witness: true,
		}, ok && known
	case root.inner.output() == Bech32:
		redeem := 1 + 22
		return InputSize{Script: redeem, Stack: size, Elements: elements + 1, Witness: true}, ok
	}
	length, known := s.length(root.inner)
	return InputSize{Script: 1 + length + size, Elements: elements + 1}, ok && known
}

// inputSize is the size for the leaf that takes the most, of a tree of P2MR at a depth. As in qbit the greatest
// number of elements may be another leaf's.
func (t *tapTree) inputSize(depth int) (InputSize, bool) {
	if t.leaf == nil {
		left, ok := t.left.inputSize(depth + 1)
		right, known := t.right.inputSize(depth + 1)
		return InputSize{
			Stack: max(left.Stack, right.Stack), Elements: max(left.Elements, right.Elements), Witness: true,
		}, ok && known
	}
	size, elements, length := pqcElement, 1, len(p2mr.KeyScript(slhdsa.PublicKey{}))
	if m, ok := t.leaf.(*p2mrMulti); ok {
		size, elements = m.threshold*pqcElement+len(m.keys)-m.threshold, len(m.keys)
		length = len(p2mr.MultiScript(m.threshold, m.keys))
	}
	const base, node = 1, 32 // of what proves the leaf
	control := base + node*depth
	return InputSize{
		Stack:    size + compactSize(length) + length + compactSize(control) + control,
		Elements: elements + 2, Witness: true,
	}, true
}

// behind returns what satisfies the innermost script.
func behind(inner script, large bool) (size, elements int, ok bool) {
	if nested, is := inner.(*wrapped); is {
		inner = nested.inner
	}
	return satisfaction(inner, large)
}

// length returns the length of a script.
func (s *solver) length(inner script) (int, bool) {
	scripts, err := inner.scripts(s.public)
	if err != nil {
		return 0, false
	}
	return len(scripts[0]), true
}

// satisfaction returns the bytes and the number of what satisfies a script that is not
// behind a hash.
func satisfaction(root script, large bool) (size, elements int, ok bool) {
	signature := signaturePush
	if large {
		signature = signatureLarge
	}
	switch root := root.(type) {
	case *keyScript:
		switch root.name {
		case "pk":
			return signature, 1, true
		case "pkh":
			return signature + 1 + root.key.size(), 2, true
		case "wpkh":
			return signature + publicKeyPush, 2, true
		}
	case *multi:
		return 1 + signature*root.threshold, 1 + root.threshold, true
	case *policy:
		size, elements := root.expression.WitnessSize()
		return size, elements, true
	}
	return 0, 0, false
}
