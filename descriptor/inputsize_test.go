package descriptor_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

// uncompressedKey is the public key of the private key 1.
const uncompressedKey = "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
	"483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"

// inputSizes has the sizes in bytes that Core expects of inputs. An ECDSA signature takes 71 or, where others may
// have made it, 72; a taproot signature takes 65. Within a miniscript the most is always assumed.
var inputSizes = []struct {
	text   string
	place  int // of the script
	size   descriptor.InputSize
	large  int // by how much it grows with large signatures
	weight int // of the whole input, in a transaction without other witnesses
}{
	{"pk(A)", 0, descriptor.InputSize{Script: 72, Elements: 1}, 1, 452},
	{"pkh(A)", 0, descriptor.InputSize{Script: 72 + 34, Elements: 2}, 1, 588},
	{"pkh(U)", 0, descriptor.InputSize{Script: 72 + 66, Elements: 2}, 1, 716},
	{"wpkh(A)", 0, descriptor.InputSize{Stack: 72 + 34, Elements: 2, Witness: true}, 1, 271},
	{"combo(A)", 0, descriptor.InputSize{Script: 72, Elements: 1}, 1, 452},
	{"combo(A)", 1, descriptor.InputSize{Script: 72 + 34, Elements: 2}, 1, 588},
	{"combo(A)", 2, descriptor.InputSize{Stack: 72 + 34, Elements: 2, Witness: true}, 1, 271},
	{"combo(A)", 3, descriptor.InputSize{Script: 23, Stack: 72 + 34, Elements: 3, Witness: true}, 1, 363},
	{"combo(U)", 1, descriptor.InputSize{Script: 72 + 66, Elements: 2}, 1, 716},
	{"multi(2,A,B,C)", 0, descriptor.InputSize{Script: 1 + 2*72, Elements: 3}, 2, 744},
	{"sh(pk(A))", 0, descriptor.InputSize{Script: 72 + 1 + 35, Elements: 2}, 1, 596},
	{"sh(pkh(A))", 0, descriptor.InputSize{Script: 72 + 34 + 1 + 25, Elements: 3}, 1, 692},
	{"sh(multi(2,A,B,C))", 0, descriptor.InputSize{Script: 1 + 2*72 + 1 + 105, Elements: 4}, 2, 1168},
	{"sh(wpkh(A))", 0, descriptor.InputSize{Script: 23, Stack: 72 + 34, Elements: 3, Witness: true}, 1, 363},
	{
		"sh(wsh(pkh(A)))", 0,
		descriptor.InputSize{Script: 35, Stack: 72 + 34 + 1 + 25, Elements: 4, Witness: true},
		1, 437,
	},
	{
		"sh(wsh(multi(2,A,B,C)))", 0,
		descriptor.InputSize{Script: 35, Stack: 1 + 2*72 + 1 + 105, Elements: 5, Witness: true},
		2, 556,
	},
	{"wsh(pkh(A))", 0, descriptor.InputSize{Stack: 72 + 34 + 1 + 25, Elements: 3, Witness: true}, 1, 297},
	{"wsh(multi(2,A,B,C))", 0, descriptor.InputSize{Stack: 1 + 2*72 + 1 + 105, Elements: 4, Witness: true}, 2, 416},
	{"wsh(sortedmulti(1,A,B,C,D,E,F,G,H))", 0, // the script takes 275 bytes, their number three
		descriptor.InputSize{Stack: 1 + 72 + 3 + 275, Elements: 3, Witness: true}, 1, 516},
	{
		"wsh(and_v(v:pk(A),older(144)))", 0,
		descriptor.InputSize{Stack: 73 + 1 + 39, Elements: 2, Witness: true},
		0, 278,
	},
	{
		"sh(wsh(and_v(v:pk(A),older(144))))", 0,
		descriptor.InputSize{Script: 35, Stack: 73 + 1 + 39, Elements: 3, Witness: true},
		0, 418,
	},
	{"tr(A)", 0, descriptor.InputSize{Stack: 66, Elements: 1, Witness: true}, 0, 231},
	{"tr(A,multi_a(2,B,C))", 0, descriptor.InputSize{Stack: 66, Elements: 1, Witness: true}, 0, 231},
	{"rawtr(A)", 0, descriptor.InputSize{Stack: 66, Elements: 1, Witness: true}, 0, 231},
}

// sizeKeys puts keys in the place of letters: they are of one extended key.
func sizeKeys(t *testing.T, text string) string {
	t.Helper()
	keys := make([]string, 0, 18)
	for i, letter := range []string{"A", "B", "C", "D", "E", "F", "G", "H"} {
		d := parse(t, "wpkh("+testXpub+"/*)", mainNet)
		at, err := d.KeysAt(uint32(i))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, letter, hex.EncodeToString(at[0].PublicKey))
	}
	return strings.NewReplacer(append(keys, "U", uncompressedKey)...).Replace(text)
}

// The size of an input is what Core expects of it before it is signed.
func TestInputSize(t *testing.T) {
	for _, test := range inputSizes {
		d := parse(t, sizeKeys(t, test.text), mainNet)
		scripts, err := d.Expand(0)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := d.InputSize(0, scripts[test.place], false)
		if !ok || got != test.size {
			t.Errorf("%s: got %+v, %v, want %+v", test.text, got, ok, test.size)
		}
		witnesses := got.Of(true, 4) - got.Of(false, 4)
		if weight := got.Of(false, 4); weight != test.weight || (witnesses == 0) != got.Witness || witnesses > 1 {
			t.Errorf("%s: weight %d, %d more beside witnesses, want %d", test.text, weight, witnesses, test.weight)
		}
		large, ok := d.InputSize(0, scripts[test.place], true)
		if grown := large.Script + large.Stack - got.Script - got.Stack; !ok || grown != test.large ||
			large.Elements != got.Elements || large.Witness != got.Witness {
			t.Errorf("%s: with large signatures %+v, %v", test.text, large, ok)
		}
	}
}

// A size is only told where it is known how a script is spent.
func TestInputSizeUnknown(t *testing.T) {
	foreign := []byte{0x51}
	for _, text := range []string{
		"raw(51)", "addr(1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH)",
		"combo(" + testKey + ")",       // has no such script
		"combo(" + testXpub + "/1h)",   // its scripts are not known
		"wsh(pk(" + testXpub + "/1h))", // nor the length of this one
		"sh(multi(1," + testXpub + "/1h))",
	} {
		if size, ok := parse(t, text, mainNet).InputSize(0, foreign, false); ok {
			t.Errorf("%s: %+v", text, size)
		}
	}
	// The script does not matter where the descriptor has one script at an index.
	if _, ok := parse(t, "wpkh("+testXpub+"/1h)", mainNet).InputSize(0, foreign, false); !ok {
		t.Error("the size for a single key depends on the key")
	}
}

// The numbers of a transaction take one byte up to 252, three up to 65535, else five.
func TestInputSizeNumbers(t *testing.T) {
	for n, want := range map[int]int{0: 1, 252: 1, 253: 3, 65535: 3, 65536: 5} {
		const others = 32 + 4 + 4
		if got := (descriptor.InputSize{Script: n}).Of(false, 1); got != others+want+n {
			t.Errorf("a script of %d bytes: %d", n, got)
		}
		size := descriptor.InputSize{Stack: 7, Elements: n, Witness: true}
		if got := size.Of(true, 4); got != (others+1)*4+want+7 {
			t.Errorf("%d elements: %d", n, got)
		}
	}
}

// Known keys and scripts suffice for the size of an input, with large signatures.
func TestKnownInputSize(t *testing.T) {
	for _, test := range inputSizes {
		d := parse(t, sizeKeys(t, test.text), mainNet)
		scripts, err := d.Expand(0)
		if err != nil {
			t.Fatal(err)
		}
		k := descriptor.NewKnown(mainNet)
		if _, ok := k.InputSize(scripts[test.place]); ok &&
			!slices.ContainsFunc([]string{"pk(", "combo(", "multi(", "tr(", "rawtr("}, func(plain string) bool {
				return strings.HasPrefix(test.text, plain)
			}) {
			t.Errorf("%s: known without a key", test.text)
		}
		if strings.HasPrefix(test.text, "combo(") {
			continue // Core never has them among what is known
		}
		if err := k.AddDescriptor(d, 0); err != nil {
			t.Fatal(err)
		}
		want, _ := d.InputSize(0, scripts[test.place], true)
		if got, ok := k.InputSize(scripts[test.place]); !ok || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", test.text, got, ok, want)
		}
	}
}

// Keys, scripts and origins describe what they make.
func TestKnown(t *testing.T) {
	compressed, _ := hex.DecodeString(testKey)
	uncompressed, _ := hex.DecodeString(uncompressedKey)
	witness := append(append([]byte{33}, compressed...), 0xac)
	k := descriptor.NewKnown(mainNet)
	if k.AddPublic(compressed[1:]) || k.AddPublic(make([]byte, 33)) {
		t.Error("is taken for a public key")
	}
	if !k.AddPublic(compressed) || !k.AddPublic(uncompressed) {
		t.Error("is no public key")
	}
	k.AddScript(witness)
	k.AddOrigin(compressed, [4]byte{1, 2, 3, 4}, []uint32{1 << 31, 7})
	key := "[01020304/0h/7]" + testKey
	for text, want := range map[string]string{
		"pkh(" + testKey + ")":                     "pkh(" + key + ")",
		"wpkh(" + testKey + ")":                    "wpkh(" + key + ")",
		"sh(wpkh(" + testKey + "))":                "sh(wpkh(" + key + "))",
		"pkh(" + uncompressedKey + ")":             "pkh(" + uncompressedKey + ")",
		"wsh(pk(" + testKey + "))":                 "wsh(pk(" + key + "))",
		"sh(pk(" + testKey + "))":                  "sh(pk(" + key + "))",
		"sh(pkh(" + testKey + "))":                 "",
		"pk(" + testKey + ")":                      "pk(" + key + ")",
		"addr(1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH)": "pkh(0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798)",
	} {
		scripts, err := parse(t, text, mainNet).Expand(0)
		if err != nil {
			t.Fatal(err)
		}
		got, solvable := k.Describe(scripts[0])
		if strings.HasPrefix(text, "addr(") || want == "" {
			if !strings.HasPrefix(got, "addr(") || solvable {
				t.Errorf("%s: got %s, %v", text, got, solvable)
			}
			continue
		}
		if got != descriptor.AddChecksum(want) || !solvable {
			t.Errorf("%s: got %s, %v, want %s", text, got, solvable, want)
		}
	}
	if err := k.AddDescriptor(parse(t, "pkh("+testXpub+"/1h)", mainNet), 0); err == nil {
		t.Error("a descriptor without its keys tells something")
	}
	if _, ok := k.InputSize([]byte{0x6a}); ok {
		t.Error("a size of what nobody can spend")
	}
}
