package miniscript

import (
	"strings"
	"testing"
	"time"
)

func FuzzParse(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(newGenerator(seed, P2WSH, 20).expression('B', 3), false)
		f.Add(newGenerator(seed, Tapscript, 20).expression('B', 3), true)
	}
	f.Fuzz(func(t *testing.T, text string, tapscript bool) {
		e, keys, err := parseText(text, contextOf(tapscript))
		if err != nil {
			return
		}
		if problem := e.Check(); problem != nil {
			problem.AppendText(nil, keys.print)
			return
		}
		if e.keys == 0 {
			t.Fatalf("%s has no key", text)
		}
		checkRoundTrip(t, e, keys)
	})
}

// FuzzDecode decodes scripts: what has an expression must be its script.
func FuzzDecode(f *testing.F) {
	for seed := range uint64(50) {
		for _, ctx := range []Context{P2WSH, Tapscript} {
			e, keys, err := parseText(newGenerator(seed, ctx, 20).expression('B', 3), ctx)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(e.Compile().Script(keys.keyOf), ctx == Tapscript)
		}
	}
	f.Fuzz(func(t *testing.T, script []byte, tapscript bool) {
		e, keys, ok := decodeScript(script, contextOf(tapscript))
		if !ok {
			return
		}
		if got := e.Compile().Script(keys.keyOf); string(got) != string(script) {
			t.Fatalf("%x is decoded to %s: %x", script, e.AppendText(nil, keys.print), got)
		}
		checkRoundTrip(t, e, keys)
	})
}

func contextOf(tapscript bool) Context {
	if tapscript {
		return Tapscript
	}
	return P2WSH
}

// TestLarge reads expressions that are nearly as deep and wide as a tapscript
// lets them be.
func TestLarge(t *testing.T) {
	const size = maxTapscript
	wide := func(part string, n int) string { return "pk(K0)" + strings.Repeat(","+part, n) + ")" }
	for name, text := range map[string]string{
		"wrappers":  strings.Repeat("n", size/2) + ":pk(K0)",
		"verify":    "t" + strings.Repeat("vn", size/4) + ":pk(K0)",
		"right":     strings.Repeat("and_b(0,a:", size/25) + "pk(K0)" + strings.Repeat(")", size/25),
		"left":      strings.Repeat("or_i(", size/25) + "pk(K0)" + strings.Repeat(",0)", size/25),
		"parts":     "thresh(10000," + wide("a:0", size/25),
		"threshold": "thresh(100," + wide("sl:1", size/25),
	} {
		began := time.Now()
		e, keys, err := parseText(text, Tapscript)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if problem := e.Check(); problem != nil {
			problem.AppendText(nil, keys.print)
		}
		if e.root.typ != 0 {
			checkRoundTrip(t, e, keys)
		}
		t.Logf("%s: %d nodes, %v", name, len(e.nodes), time.Since(began))
	}
}
