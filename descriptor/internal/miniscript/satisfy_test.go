package miniscript

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// signer signs for some of the keys.
type signer struct {
	*testKeys

	signs  func(key int) bool
	passes bool // lock times
}

func (s signer) Sign(key int) []byte {
	if !s.signs(key) {
		return nil
	}
	return []byte(signature(string(s.read[key])))
}

func (s signer) Push(key int) []byte { return s.read[key] }

func (s signer) Older(uint32) bool { return s.passes }

func (s signer) After(uint32) bool { return s.passes }

func (s signer) Preimage(string, []byte) []byte { return nil }

// TestSatisfy compares the witnesses of small expressions, for every set of
// signatures, with all witnesses that there are.
func TestSatisfy(t *testing.T) {
	found := 0
	for seed := range uint64(4000) {
		ctx := Context(seed % 2)
		g := newGenerator(seed, ctx, 3)
		text := g.expression('B', 2)
		e, keys, err := parseText(text, ctx)
		if err != nil {
			t.Fatal(err)
		}
		elements := elementsOf(text, keys)
		if e.Check() != nil || e.root.bounds.sat.net > maxInputs || len(elements) > 6 {
			continue
		}
		o := try(e, keys, elements)
		for set := range 1 << len(keys.read) {
			s := signer{keys, func(key int) bool { return set>>key&1 == 1 }, true}
			got, ok := e.Satisfy(s)
			want := smallest(o, s)
			if ok != (want >= 0) || ok && sizeOf(texts(got)) != want {
				t.Fatalf("seed %d: %s with keys %b: %q, %v, want a size of %d", seed, text, set, got, ok, want)
			}
			if !ok {
				continue
			}
			found++
			if left, err := run(e.Compile().Script(keys.keyOf), texts(got)); err != nil || len(left) != 1 ||
				!truth(left[0]) {
				t.Fatalf("seed %d: %s: %q leaves %q, %v", seed, text, got, left, err)
			}
		}
	}
	if found < 500 {
		t.Errorf("only %d witnesses", found)
	}
}

func texts(witness [][]byte) (all []string) {
	for _, element := range witness {
		all = append(all, string(element))
	}
	return all
}

func sizeOf(witness []string) (size int) {
	for _, element := range witness {
		size += 1 + len(element)
	}
	return size
}

// smallest returns the size of the smallest witness that the signer can make and
// nobody else can replace, -1 if there is none.
func smallest(o *outcomes, s signer) int {
	var mine []string
	for key := range s.read {
		if sig := s.Sign(key); sig != nil {
			mine = append(mine, string(sig))
		}
	}
	best := -1
	for _, witness := range o.sat {
		hasPreimage := slices.ContainsFunc(
			witness, func(e string) bool { return len(e) == preimageSize && !isKey(s, e) },
		)
		if hasPreimage || !within(mine, witness) || o.replaceable(witness) {
			continue
		}
		if size := sizeOf(witness); best < 0 || size < best {
			best = size
		}
	}
	return best
}

func isKey(s signer, element string) bool {
	return slices.ContainsFunc(s.read, func(key []byte) bool { return string(key) == element })
}

// TestSatisfyLockTimes knows which branch a lock time closes.
func TestSatisfyLockTimes(t *testing.T) {
	const text = "andor(pk(K0),older(5),and_v(v:pk(K1),after(9)))"
	for _, test := range []struct {
		signs  string
		passes bool
		want   int // items
	}{{"0", true, 1}, {"0", false, -1}, {"1", true, 2}, {"1", false, -1}, {"01", true, 1}, {"", true, -1}} {
		e, keys, err := parseText(text, P2WSH)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := e.Satisfy(signer{keys, func(key int) bool {
			return strings.Contains(test.signs, keys.texts[key][1:])
		}, test.passes})
		if ok != (test.want >= 0) || ok && len(got) != test.want {
			t.Errorf("%+v: %q, %v", test, got, ok)
		}
	}
}

// TestSatisfyMany takes the largest multisig of a tapscript in no time.
func TestSatisfyMany(t *testing.T) {
	var list strings.Builder
	for i := range 250 {
		fmt.Fprintf(&list, ",K%d", i)
	}
	e, keys, err := parseText("multi_a(125"+list.String()+")", Tapscript)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := e.Satisfy(signer{keys, func(key int) bool { return key%2 == 0 }, true})
	if !ok || len(got) != 250 || len(got[0]) != 0 || string(got[249]) != signature(string(keys.read[0])) {
		t.Errorf("%d items, %v", len(got), ok)
	}
}
