package descriptor_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

// parseKeys are what texts of TestParse name: two keys, a long one and a hybrid one, an extended one.
var parseKeys = strings.NewReplacer(
	"K1", "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
	"K2", "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5",
	"UK", uncompressedKey, "HK", "06"+uncompressedKey[2:],
	"XP", "tpubD6NzVbkrYhZ4XrqqcPPb7hpTtDPmvG4aFJNMLnMoYR83BZhDn76AeSGLmCGSKLSgw81Zd8aXpCd4CgLCWEYzCwvimeHZivKQSYhnFR7Quzx",
)

// The errors are those that Bitcoin Core 30.2 gave, "ok" is a descriptor that it took.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"unused(XP/1h)":                        "ok",
		"unused(UK)":                           "ok",
		"unused(XP/*)":                         "unused(): key cannot be ranged",
		"unused(K1,K2)":                        "unused(): only one key expected",
		"unused()":                             "No key provided",
		"unused(x)":                            "key 'x' is not valid",
		"wsh(unused(K1))":                      "Can only have unused at top level",
		"tr(K1}pk(K2))":                        "tr: expected ',', got '}'",
		"tr(K1})":                              "'tr(K1}' is not a valid descriptor function",
		"multi(1,K1}K2)":                       "'multi(1,K1}K2' is not a valid descriptor function",
		"multi(1}K1)":                          "'multi(1}K1' is not a valid descriptor function",
		"multi(1,K1,K1,K1)":                    "ok",
		"multi(1,K1,K1,K1,K1)":                 "Cannot have 4 pubkeys in bare multisig; only at most 3 pubkeys",
		"sh(multi(1,UK,UK,UK,UK,UK,UK,UK))":    "ok",
		"sh(multi(1,UK,UK,UK,UK,UK,UK,UK,UK))": "P2SH script is too large, 531 bytes is larger than 520 bytes",
		"tr(musig(K1}K2))":                     "tr(): Invalid musig() expression",
		"tr(musig(K1,K2)x)":                    "ok",
		"tr(musig(K1,K2)/<0;1>)":               "tr(): musig(): derivation requires all participants to be xpubs or xprvs",
		"tr(musig(XP,XP/1)/<0;1>/*)":           "ok",
		"tr(musig(XP/<0;1>,XP/1)/<0;1>)": "tr(): musig(): Cannot have multipath participant keys " +
			"if musig() is also multipath",
		"tr(musig(XP/<0;1>,XP/<0;1;2>))": "tr(): musig(): Multipath derivation paths have mismatched lengths",
		"tr(musig(XP,XP/1)/0h)":          "tr(): musig(): cannot have hardened derivation steps",
		"tr(musig(XP,XP/1)/*h)":          "tr(): musig(): Cannot have hardened child derivation",
		"tr(musig(XP/*,XP/1)/0)": "tr(): musig(): Cannot have ranged participant keys " +
			"if musig() also has derivation",
		"tr(musig())":          "tr(): musig(): Must contain key expressions",
		"tr(musig(K1":          "'tr(musig(K1' is not a valid descriptor function",
		"tr(musig(K1,K2))x)":   "'tr(musig(K1,K2))x' is not a valid descriptor function",
		"wpkh(musig(K1,K2))":   "wpkh(): musig() is only allowed in tr() and rawtr()",
		"pkh(UK)":              "ok",
		"sh(pkh(UK))":          "ok",
		"wpkh(UK)":             "wpkh(): Uncompressed keys are not allowed",
		"wsh(pkh(UK))":         "pkh(): Uncompressed keys are not allowed",
		"sh(wpkh(UK))":         "wpkh(): Uncompressed keys are not allowed",
		"tr(UK)":               "tr(): Uncompressed keys are not allowed",
		"pkh(HK)":              "pkh(): Hybrid public keys are not allowed",
		"wpkh(XP/2147483647)":  "ok",
		"wpkh(XP/2147483648)":  "wpkh(): Key path value 2147483648 is out of range",
		"wpkh(XP/4294967296)":  "wpkh(): Key path value '4294967296' is not a valid uint32",
		"wpkh(XP/<0>)":         "wpkh(): Multipath key path specifiers must have at least two items",
		"wpkh(XP/<0;0>)":       "wpkh(): Duplicated key path value 0 in multipath specifier",
		"wpkh(XP/<0;1>/<2;3>)": "wpkh(): Multiple multipath key path specifiers found",
		"wpkh([00000000/<0;1>]XP)": "wpkh(): Key path value '<0;1>' specifies multipath " +
			"in a section where multipath is not allowed",
		"wpkh([0000000]XP)":       "wpkh(): Fingerprint is not 4 bytes (7 characters instead of 8 characters)",
		"wpkh([000000000]XP)":     "wpkh(): Fingerprint is not 4 bytes (9 characters instead of 8 characters)",
		"wpkh([0000000g]XP)":      "wpkh(): Fingerprint '0000000g' is not hex",
		"wpkh(00000000]XP)":       "wpkh(): Key origin start '[ character expected but not found, got '0' instead",
		"wpkh([00000000]XP])":     "wpkh(): Multiple ']' characters found for a single pubkey",
		"wpkh( XP)":               "wpkh(): Key ' XP' is invalid due to whitespace",
		"wpkh()":                  "wpkh(): No key provided",
		"wpkh(XP/*/0)":            "wpkh(): Key path value '*' is not a valid uint32",
		"wpkh(XP/)":               "wpkh(): Key path value '' is not a valid uint32",
		"wpkh(XP/1//2)":           "wpkh(): Key path value '' is not a valid uint32",
		"rawtr(K1,K2)":            "rawtr(): only one key expected.",
		"raw()":                   "Raw script is not hex",
		"raw(0)":                  "Raw script is not hex",
		"raw(zz)":                 "Raw script is not hex",
		"addr(x)":                 "Address is not valid",
		"sh(sh(pk(K1)))":          "Can only have sh() at top level",
		"wsh(wsh(pk(K1)))":        "Can only have wsh() at top level or inside sh()",
		"wsh(sh(pk(K1)))":         "Can only have sh() at top level",
		"sh(pk(K1)":               "A function is needed within P2SH",
		"wsh(pk(K1)":              "A function is needed within P2WSH",
		"sh(pk(K1))x":             "'sh(pk(K1))x' is not a valid descriptor function",
		"wsh(pk(K1),pk(K1))":      "",
		"tr(K1,{pk(K1),pk(K2)})":  "ok",
		"tr(K1,{pk(K1),pk(K2)}x)": "tr(): expected ')' after script expression",
		"tr(K1,{pk(K1)})":         "tr(): expected ',' after script expression",
		"tr(K1,{pk(K1),pk(K2))":   "tr(): expected '}' after script expression",
		"tr(K1,pk(K2),pk(K1))":    "tr(): expected ')' after script expression",
		"tr(XP/<0;1>,{pk(XP/<2;3>),pk(XP/<4;5;6>)})": "tr(): Multipath subscripts have mismatched lengths",
		"tr(XP/<0;1;2>,pk(XP/<2;3>))":                "tr(): Multipath subscripts have mismatched lengths",
		"wsh(multi(1,XP/<0;1>,XP/<0;1;2>))":          "multi(): Multipath derivation paths have mismatched lengths",
		"wsh(and_v(v:pk(XP/<0;1>),pk(XP/<1;2;3>)))":  "Miniscript: Multipath derivation paths have mismatched lengths",
		"pk(K1)#":         "Expected 8 character checksum, not 0 characters",
		"pk(K1)#00000000": "Provided checksum '00000000' does not match computed checksum 'gn28ywm7'",
		"pk(K1)##":        "Multiple '#' symbols",
	} {
		got := "ok"
		if _, err := descriptor.Parse(parseKeys.Replace(text), regtest, descriptor.Options{}); err != nil {
			got = err.Error()
		}
		if got != parseKeys.Replace(want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// A text with MaxTextLen characters is read, a longer one is not.
func TestParseLength(t *testing.T) {
	const others = len("raw()#") + 8
	for _, size := range []int{descriptor.MaxTextLen, descriptor.MaxTextLen + 2} {
		text := descriptor.AddChecksum("raw(" + strings.Repeat("51", (size-others)/2) + ")")
		_, err := descriptor.Parse(text, regtest, descriptor.Options{})
		want := fmt.Sprintf("Descriptor is longer than %d characters", descriptor.MaxTextLen)
		if len(text) != size || (err == nil) != (size == descriptor.MaxTextLen) || err != nil && err.Error() != want {
			t.Errorf("%d characters: %v", len(text), err)
		}
	}
	_, err := descriptor.Parse("pk("+testKey+")", regtest, descriptor.Options{RequireChecksum: true})
	if err == nil || err.Error() != "Missing checksum" {
		t.Errorf("without checksum: %v", err)
	}
}

// Scripts with any number of keys are told from their form, up to the most that each may have: 20 for CHECKMULTISIG, as
// many as there are for multi_a. Numbers of keys are pushed in their shortest form, or they are something else.
func TestInferManyKeys(t *testing.T) {
	key := func(i int) string { return fmt.Sprintf("%064x", i+1) }
	for _, count := range [][2]int{{1, 1}, {1, 15}, {16, 16}, {16, 17}, {17, 17}, {3, 20}, {20, 20}, {20, 21}} {
		k, n := count[0], count[1]
		push := func(n int) string {
			if n <= 16 {
				return fmt.Sprintf("%02x", 0x50+n)
			}
			return fmt.Sprintf("01%02x", n)
		}
		want := fmt.Sprintf("multi(%d", k)
		var keys strings.Builder
		for i := range n {
			keys.WriteString(",02" + key(i))
		}
		want += keys.String()
		pushes := strings.ReplaceAll(keys.String(), ",", "21")
		raw, _ := hex.DecodeString(push(k) + pushes + push(n) + "ae")
		got, form := descriptor.Infer(raw, regtest), descriptor.ScriptType(raw)
		if n > 20 {
			want, form = "raw("+hex.EncodeToString(raw), strings.Replace(form, "nonstandard", "multisig", 1)
		}
		if got != descriptor.AddChecksum(want+")") || form != "multisig" {
			t.Errorf("%d of %d: %s, %.60s…", k, n, form, got)
		}
		if k > 16 {
			continue
		}
		long, _ := hex.DecodeString(fmt.Sprintf("01%02x", k) + pushes + push(n) + "ae")
		if got := descriptor.ScriptType(long); got != "nonstandard" {
			t.Errorf("%d of %d, with a long number: %s", k, n, got)
		}
	}
}

// The leaves of taproot with many keys are described by multi_a again, whatever the number that must sign.
func TestInferManyLeafKeys(t *testing.T) {
	for _, count := range [][2]int{{1, 2}, {15, 17}, {16, 17}, {17, 17}, {18, 20}, {127, 130}, {128, 130}, {256, 260}} {
		keys := make([]string, count[1])
		for i := range keys {
			keys[i] = testXpub + fmt.Sprintf("/%d", i)
		}
		text := fmt.Sprintf("tr(%s,multi_a(%d,%s))", testKey, count[0], strings.Join(keys, ","))
		d := parse(t, text, mainNet)
		scripts, err := d.Expand(0)
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.Solve(0, scripts[0])
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(",multi_a(%d,[", count[0]); !strings.Contains(s.Text, want) || !s.Solvable {
			t.Errorf("%d of %d: %.200s", count[0], count[1], s.Text)
		}
		again, err := parse(t, s.Text, mainNet).Expand(0)
		if err != nil || string(again[0]) != string(scripts[0]) {
			t.Errorf("%d of %d: described as another script, %v", count[0], count[1], err)
		}
	}
}
