package miniscript

import (
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript"
)

// maxInputs is the longest witness that is tried.
const maxInputs = 4

// outcomes are all witnesses that satisfy or dissatisfy an expression.
type outcomes struct {
	sat, dsat [][]string
	unit      bool // satisfactions leave exactly 1
}

// TestTypes compares the types of small expressions with what their scripts do
// with every witness of some elements.
func TestTypes(t *testing.T) {
	checked := map[properties]int{}
	for seed := range uint64(1000) {
		ctx := Context(seed % 2)
		g := newGenerator(seed, ctx, 3)
		text := g.expression("BVK"[seed%3], 2)
		e, keys, err := parseText(text, ctx)
		if err != nil {
			t.Fatal(err)
		}
		elements := elementsOf(text, keys)
		if e.root.bounds.sat.net >= maxInputs || e.root.bounds.dsat.net >= maxInputs || len(elements) > 6 ||
			e.root.repeatsKey() {
			continue
		}
		o := try(e, keys, elements)
		if wrong := o.contradiction(e.root); wrong != "" {
			t.Errorf("seed %d: %s has type %v, but not %s", seed, text, e.root.typ, wrong)
		}
		checked[e.root.typ]++
	}
	if len(checked) < 40 {
		t.Errorf("only %d types", len(checked))
	}
}

// elementsOf returns what a witness of the expression can be made of.
func elementsOf(text string, keys *testKeys) []string {
	elements := []string{"", "\x01"}
	for _, key := range keys.read {
		elements = append(elements, signature(string(key)))
		if strings.Contains(text, "pkh(") || strings.Contains(text, "pk_h(") {
			elements = append(elements, string(key))
		}
	}
	if strings.Contains(text, "sha256(") || strings.Contains(text, "hash") || strings.Contains(text, "ripemd") {
		for i := range 4 { // the last one fits no hash
			elements = append(elements, preimage(i))
		}
	}
	return elements
}

// try runs the script of an expression with all witnesses.
func try(e *Expression, keys *testKeys, elements []string) *outcomes {
	script := e.Compile().Script(keys.keyOf)
	if e.root.typ.has("K") {
		script = append(script, txscript.OP_CHECKSIG) // what a K is for
	}
	o := &outcomes{unit: true}
	witnesses := [][]string{nil}
	for len(witnesses) > 0 {
		witness := witnesses[0]
		witnesses = witnesses[1:]
		o.add(script, witness, e.root.typ.has("V"))
		if len(witness) < maxInputs {
			for _, element := range elements {
				witnesses = append(witnesses, append(slices.Clone(witness), element))
			}
		}
	}
	return o
}

func (o *outcomes) add(script []byte, witness []string, verify bool) {
	left, err := run(script, witness)
	switch {
	case err != nil:
	case verify && len(left) == 0:
		o.sat = append(o.sat, witness)
	case !verify && len(left) == 1 && left[0] == "":
		o.dsat = append(o.dsat, witness)
	case !verify && len(left) == 1:
		o.sat = append(o.sat, witness)
		o.unit = o.unit && left[0] == "\x01"
	}
}

// contradiction names a letter of the type that the outcomes contradict. Types
// and bounds leave out what strangers can change.
func (o *outcomes) contradiction(n *node) string {
	typ, all := n.typ, slices.Concat(o.sat, o.dsat)
	lengths := func(want int) bool {
		return !slices.ContainsFunc(all, func(w []string) bool { return len(w) != want })
	}
	startsNonzero := func(w []string) bool { return len(w) > 0 && w[len(w)-1] != "" }
	free := slices.DeleteFunc(slices.Clone(o.dsat), hasSignature)
	switch {
	case typ.has("z") && !lengths(0):
		return "z"
	case typ.has("o") && !lengths(1):
		return "o"
	case typ.has("n") && len(o.sat) > 0 && !slices.ContainsFunc(o.sat, startsNonzero):
		return "n"
	case typ.has("u") && !o.unit:
		return "u"
	case typ.has("d") && n.bounds.dsat.possible && len(free) == 0:
		return "d"
	case typ.has("em") && len(free) != 1:
		return "e"
	case typ.has("f") && len(free) > 0:
		return "f"
	case typ.has("s") && slices.ContainsFunc(o.sat, func(w []string) bool { return !hasSignature(w) }):
		return "s"
	case typ.has("m") && !o.unchangeable():
		return "m"
	case typ.has("m") && n.bounds.sat.possible != (len(o.sat) > 0):
		return "possible"
	}
	return ""
}

func hasSignature(witness []string) bool { return len(signatures(witness)) > 0 }

func signatures(witness []string) (all []string) {
	for _, element := range witness {
		if strings.HasPrefix(element, signature("")) {
			all = append(all, element)
		}
	}
	return all
}

// unchangeable reports whether, whichever signatures are there, strangers
// cannot replace one of the satisfactions by another, if there are any.
func (o *outcomes) unchangeable() bool {
	for _, witness := range o.sat {
		have := signatures(witness)
		if !slices.ContainsFunc(o.sat, func(w []string) bool {
			return within(have, w) && !o.replaceable(w)
		}) {
			return false
		}
	}
	return true
}

func (o *outcomes) replaceable(witness []string) bool {
	seen := signatures(witness)
	return slices.ContainsFunc(o.sat, func(w []string) bool {
		return within(seen, w) && !slices.Equal(w, witness)
	})
}

// within reports whether a witness has no signatures but those.
func within(have, witness []string) bool {
	for _, sig := range signatures(witness) {
		if !slices.Contains(have, sig) {
			return false
		}
	}
	return true
}
