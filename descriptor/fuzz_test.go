package descriptor_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/descriptor"
)

// goldenTexts returns some of the recorded descriptors.
func goldenTexts(tb testing.TB, file string, every int) (texts []string) {
	tb.Helper()
	i := 0
	for g := range readGolden(tb, file) {
		if i++; i%every != 0 {
			continue
		}
		var req request
		var text string
		if json.Unmarshal([]byte(g.Request), &req) == nil && len(req.Params) > 0 &&
			json.Unmarshal(req.Params[0], &text) == nil && len(text) < 2000 {
			texts = append(texts, text)
		}
	}
	return texts
}

// checkRoundTrip parses text and, if it is a descriptor, what it prints.
func checkRoundTrip(tb interface{ Fatalf(string, ...any) }, text string, net *descriptor.Network) {
	branches, err := descriptor.Parse(text, net, descriptor.Options{})
	if err != nil {
		return
	}
	for _, d := range branches[:min(4, len(branches))] {
		public := d.String()
		text, _ := d.PrivateText()
		private := string(text)
		for _, printed := range []string{public, private} {
			again, err := descriptor.Parse(printed, net, descriptor.Options{RequireChecksum: true})
			if err != nil || len(again) != 1 {
				tb.Fatalf("%q prints %q: %d branches, %v", text, printed, len(again), err)
			}
			if got := again[0].String(); got != public {
				tb.Fatalf("%q prints %q, that prints %q", text, public, got)
			}
			if got := again[0].HasPrivateKeys(); got && printed == public {
				tb.Fatalf("%q prints private keys: %q", text, public)
			}
		}
		if d.HasP2MRSource() {
			continue // needs the private keys, and milliseconds
		}
		_, err := d.Expand(7)
		if err != nil && !d.HasPrivateKeys() && !strings.ContainsAny(public, "h'") {
			tb.Fatalf("%q does not expand: %v", public, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range goldenTexts(f, "testdata/regtest.jsonl.gz", 10) {
		f.Add(text)
	}
	for _, text := range goldenTexts(f, "testdata/p2mr-regtest.jsonl.gz", 5) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// A checksum that fits lets the fuzzer reach the parser.
		body, _, _ := strings.Cut(text, "#")
		for _, net := range []*descriptor.Network{regtest, p2mrRegtest} {
			checkRoundTrip(t, text, net)
			checkRoundTrip(t, descriptor.AddChecksum(body), net)
		}
	})
}

// FuzzScript reads output scripts: where Infer prints an address, it must be
// the address of the script and parse to the script.
func FuzzScript(f *testing.F) {
	for _, script := range scriptForms {
		f.Add(unhex(f, script.hex))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		descriptor.ScriptType(script)
		text := descriptor.Infer(script, mainNet)
		branches, err := descriptor.Parse(text, mainNet, descriptor.Options{RequireChecksum: true})
		if err != nil {
			if strings.HasPrefix(text, "addr(") || strings.HasPrefix(text, "rawtr(") {
				t.Fatalf("%x: %s: %v", script, text, err)
			}
			return // keys off the curve, too many keys, an empty script
		}
		scripts, err := branches[0].Expand(0)
		if err != nil {
			t.Fatal(err)
		}
		if string(scripts[0]) != string(script) && !strings.HasPrefix(text, "multi(") {
			t.Fatalf("%x: %s expands to %x", script, text, scripts[0])
		}
	})
}

func FuzzAddress(f *testing.F) {
	for _, script := range scriptForms {
		f.Add(script.address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		script, err := descriptor.ScriptOfAddress(address, mainNet)
		if err != nil {
			return
		}
		printed, ok := descriptor.AddressOf(script, mainNet)
		if !ok || !strings.EqualFold(printed, strings.TrimSpace(address)) {
			t.Fatalf("%q stands for %x, which is %q", address, script, printed)
		}
	})
}

// TestRoundTrip prints and parses descriptors of a random grammar.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawDescriptor(t)
		if _, err := descriptor.Parse(text, regtest, descriptor.Options{}); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		checkRoundTrip(t, text, regtest)
	})
}

func drawDescriptor(t *rapid.T) string {
	switch rapid.IntRange(0, 6).Draw(t, "form") {
	case 0:
		return rapid.SampledFrom([]string{"pk", "pkh", "wpkh", "combo", "rawtr"}).Draw(t, "single") + "(" + drawKey(t) +
			")"
	case 1:
		return "sh(" + rapid.SampledFrom([]string{"wpkh", "pk", "pkh"}).Draw(t, "in sh") + "(" + drawKey(t) + "))"
	case 2:
		return "sh(wsh(" + drawMulti(t, "multi") + "))"
	case 3:
		return "wsh(" + drawMulti(t, "sortedmulti") + ")"
	case 4:
		return "wsh(" + drawPolicy(t, constantKeys) + ")"
	case 5:
		return "rawtr(" + drawMusig(t) + ")"
	}
	return "tr(" + drawKey(t) + "," + drawTree(t, 3) + ")"
}

func drawTree(t *rapid.T, depth int) string {
	if depth == 0 || rapid.Bool().Draw(t, "leaf") {
		switch rapid.IntRange(0, 3).Draw(t, "leaf form") {
		case 0:
			return drawMulti(t, "multi_a")
		case 1:
			return drawPolicy(t, constantKeys)
		case 2:
			return "pk(" + drawMusig(t) + ")"
		}
		return "pk(" + drawKey(t) + ")"
	}
	return "{" + drawTree(t, depth-1) + "," + drawTree(t, depth-1) + "}"
}

func drawMulti(t *rapid.T, name string) string {
	args := []string{"1"}
	for range rapid.IntRange(1, 4).Draw(t, "keys") {
		args = append(args, drawKey(t))
	}
	return name + "(" + strings.Join(args, ",") + ")"
}

// constantKeys are different from each other and from keys of drawKey.
var constantKeys = []string{
	"[00112233/1h]0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
	"02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5",
	"02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9",
}

// drawPolicy writes a miniscript with a key of its own and some of the given
// ones.
func drawPolicy(t *rapid.T, keys []string) string {
	own, a, b, c := drawKey(t), keys[0], keys[1], keys[2]
	return rapid.SampledFrom([]string{
		"and_v(v:pk(" + own + "),older(5))",
		"or_d(pk(" + own + "),and_v(v:pkh(" + a + "),after(500000001)))",
		"thresh(2,pk(" + own + "),s:pk(" + a + "),sln:older(3))",
		"andor(pk(" + a + "),pkh(" + own + "),and_v(v:pk(" + b + "),sha256(" + strings.Repeat("ab", 32) + ")))",
		"or_i(and_n(pk(" + a + "),pk(" + own + ")),c:or_i(pk_k(" + b + "),pk_h(" + c + ")))",
		"t:or_c(pk(" + a + "),v:pk(" + own + "))",
	}).Draw(t, "policy")
}

func drawMusig(t *rapid.T) string {
	const a = "tpubD8eFBUdHVqbebSn7wTGTRns8H2v5V81n9Yg8JRH6pQBDvycZjR3GoveYhTBHumRZLhdPadQLvZC78ckF4zkjyoFVfazW9RnU7a1avaZaH8k"
	if rapid.Bool().Draw(t, "derived") {
		path := rapid.SampledFrom([]string{"", "/0", "/<0;1>/5", "/*", "/3/<7;8>/*"}).Draw(t, "path")
		return "musig(" + a + "/4,[deadbeef/1']" + a + "/5)" + path
	}
	return "musig(" + drawKey(t) + "," + constantKeys[0] + "," + drawKey(t) + ")"
}

func drawKey(t *rapid.T) string {
	origin := rapid.SampledFrom([]string{"", "[deadbeef]", "[00FF00ff/44h/0'/1]"}).Draw(t, "origin")
	if rapid.Bool().Draw(t, "constant") {
		return origin + rapid.SampledFrom([]string{testKey, "cTYKa6izvwJZEyiH3ME565QAk3AN3HfxPWvrt9YKuKBpBorz4xum"}).Draw(t, "key")
	}
	key := rapid.SampledFrom([]string{
		"tpubD8eFBUdHVqbebSn7wTGTRns8H2v5V81n9Yg8JRH6pQBDvycZjR3GoveYhTBHumRZLhdPadQLvZC78ckF4zkjyoFVfazW9RnU7a1avaZaH8k",
		"tprv8bxD34b3MTuyhykL3obs2PD1i1Q9KnpsaF5M1uEoQ8Nq6VMo72DgdS2gXJCzM4gakPqn6PpqrAaTzsBeZC1mYJyzBduZnRiYGkE8gfQmgPA",
	}).Draw(t, "root")
	steps := rapid.SampledFrom([]string{"/0", "/1h", "/2'", "/2147483647"})
	key += strings.Join(rapid.SliceOfN(steps, 0, 3).Draw(t, "path"), "")
	if rapid.Bool().Draw(t, "multipath") {
		key += "/<0;1h>"
	}
	return origin + key + rapid.SampledFrom([]string{"", "/*", "/*h", "/*'"}).Draw(t, "wildcard")
}

// FuzzFixedScript holds the short way to a script against the long one.
func FuzzFixedScript(f *testing.F) {
	for _, seed := range []string{
		"raw(51)", "raw(51)#8lvh9jxk", "raw(51)#8lvh9jxl", "raw(51)#", "raw()", "raw(5)", "raw(5A)x", "raw(5a", "raw(51),",
		"raw( 51)", "raw((51)",
		"addr(1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa)", "addr(bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4)#8wj6gnrc", "addr()",
		"addr(1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa))",
		"addr(BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4)", "pk(0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798)", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		script, ok := descriptor.FixedScript(text, mainNet)
		branches, err := descriptor.Parse(text, mainNet, descriptor.Options{})
		if !ok {
			simple := strings.HasPrefix(text, "raw(") || strings.HasPrefix(text, "addr(")
			if err == nil && simple {
				t.Fatalf("%q is valid and fixed", text)
			}
			return
		}
		if err != nil || len(branches) != 1 {
			t.Fatalf("%q: %x, but %d branches, %v", text, script, len(branches), err)
		}
		if want, err := branches[0].Expand(0); err != nil || len(want) != 1 || !bytes.Equal(script, want[0]) {
			t.Fatalf("%q: %x, want %x, %v", text, script, want, err)
		}
	})
}
