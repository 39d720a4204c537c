package miniscript

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// shapes are ways to write an expression of a base type: where letters of base
// types stand, expressions are put.
var shapes = map[byte][]string{
	'B': {
		"0", "1", "older(#)", "after(#)", "sha256(<32>)", "hash256(<32>)", "ripemd160(<20>)", "hash160(<20>)",
		"pk(@)", "pkh(@)", "c:{K}", "d:{V}", "dv:older(#)", "j:{B}", "n:{B}", "multi(1,@,@)", "multi(2,@,@)",
		"multi_a(1,@,@)", "multi_a(2,@,@)", "and_v({V},{B})", "and_b({B},{W})", "or_b({B},{W})", "or_d({B},{B})",
		"or_i({B},{B})", "andor({B},{B},{B})", "and_n({B},{B})", "t:{V}", "l:{B}", "u:{B}",
		"thresh(1,{B},{W})", "thresh(2,{B},{W},{W})", "thresh(1,{B},{W},{W})", "thresh(1,{B})",
	},
	'V': {"v:{B}", "and_v({V},{V})", "or_c({B},{V})", "or_i({V},{V})", "andor({B},{V},{V})"},
	'K': {"pk_k(@)", "pk_h(@)", "and_v({V},{K})", "or_i({K},{K})", "andor({B},{K},{K})"},
	'W': {"a:{B}", "s:{B}"},
}

// leafShapes is the number of shapes that are used where a tree has to end.
var leafShapes = map[byte]int{'B': 10, 'V': 1, 'K': 2, 'W': 2}

// generator writes random expressions that have a type.
type generator struct {
	*rand.Rand

	ctx     Context
	nextKey int
	maxKeys int
}

func newGenerator(seed uint64, ctx Context, maxKeys int) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 0)), ctx: ctx, maxKeys: maxKeys}
}

// expression writes an expression of the base type.
func (g *generator) expression(base byte, depth int) string {
	for range 6 {
		options := shapes[base]
		if depth <= 0 {
			options = options[:leafShapes[base]]
		}
		text := g.fill(options[g.IntN(len(options))], depth)
		if e, _, err := parseText(text, g.ctx); err == nil && e.root.typ.has(string(base)) {
			return text
		}
	}
	return map[byte]string{'B': "pk(K0)", 'V': "v:pk(K0)", 'K': "pk_k(K0)", 'W': "a:pk(K0)"}[base]
}

// fill replaces what stands for something else.
func (g *generator) fill(shape string, depth int) string {
	var text strings.Builder
	for i := 0; i < len(shape); i++ {
		switch shape[i] {
		case '{':
			inner := g.expression(shape[i+1], depth-1)
			if i > 0 && shape[i-1] == ':' && strings.Contains(beforeBracket(inner), ":") {
				written := strings.TrimSuffix(text.String(), ":")
				text.Reset()
				text.WriteString(written)
			}
			text.WriteString(inner)
			i += 2
		case '@':
			fmt.Fprintf(&text, "K%d", g.nextKey)
			g.nextKey = (g.nextKey + 1) % g.maxKeys
		case '#':
			locks := []int{1, 16, 17, 127, 128, 32768, 1<<22 + 5, 500_000_000, 1<<31 - 1}
			fmt.Fprint(&text, locks[g.IntN(len(locks))])
		case '<':
			name := shape[:i-1]
			fmt.Fprintf(&text, "%x", hashOf(name, preimage(g.IntN(3))))
			i += 3
		default:
			text.WriteByte(shape[i])
		}
	}
	return text.String()
}

func beforeBracket(text string) string {
	head, _, _ := strings.Cut(text, "(")
	return head
}

// TestRandom prints, parses, compiles and decodes random expressions.
func TestRandom(t *testing.T) {
	for seed := range uint64(1500) {
		ctx := Context(seed % 2)
		text := newGenerator(seed, ctx, 200).expression('B', 6)
		e, keys, err := parseText(text, ctx)
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, text, err)
		}
		checkRoundTrip(t, e, keys)
	}
}

// TestTwins compares the search for repeated keys with a naive one.
func TestTwins(t *testing.T) {
	repeated := 0
	for seed := range uint64(1000) {
		text := newGenerator(seed, P2WSH, 3).expression('B', 4)
		e, keys, err := parseText(text, P2WSH)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range e.nodes {
			seen, want := map[string]bool{}, false
			for _, key := range keysWithin(n) {
				want = want || seen[keys.texts[key]]
				seen[keys.texts[key]] = true
			}
			if got := n.repeatsKey(); got != want {
				t.Fatalf("%s in %s: %v, want %v", n.appendText(nil, keys.print), text, got, want)
			}
			if want {
				repeated++
			}
		}
	}
	if repeated < 100 {
		t.Errorf("only %d repeated keys", repeated)
	}
}

func keysWithin(n *node) (keys []int) {
	keys = append(keys, n.keys...)
	for _, sub := range n.subs {
		keys = append(keys, keysWithin(sub)...)
	}
	return keys
}
