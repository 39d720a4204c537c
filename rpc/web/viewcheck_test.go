package web

import (
	"log/slog"
	"strings"
	"testing"
)

// The extended public keys are those of the test vectors of BIP 32 and SLIP 132.
const (
	aKey  = "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"
	aZpub = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
	zAsX  = "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V"
	aYpub = "ypub6Ww3ibxVfGzLrAH1PNcjyAWenMTbbAosGNB6VvmSEgytSER9azLDWCxoJwW7Ke7icmizBMXrzBx9979FfaHxHcrArf3zbeJJJUZPf663zsP"
)

func checkLines(t *testing.T, node fakeNode, lines string) *checks {
	t.Helper()
	return check(t.Context(), node, lines)
}

// knows is a node that takes all descriptors.
var knows = fakeNode{
	"getdescriptorinfo": `{"descriptor":"d#00000000","checksum":"abcdefgh","isrange":true}`,
	"deriveaddresses":   `["bc1qa","bc1qb"]`,
}

func TestLinesAreUnderstood(t *testing.T) {
	for _, test := range []struct{ line, kind, descriptors string }{
		{"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "Address", "addr(1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa)#abcdefgh"},
		{"wpkh(02aa)#12345678", "Descriptor", "wpkh(02aa)#12345678"},
		{"tr(02aa)", "Descriptor", "tr(02aa)#abcdefgh"},
		{"0014" + strings.Repeat("ab", 20), "Script", "raw(0014" + strings.Repeat("ab", 20) + ")#abcdefgh"},
		{"02" + strings.Repeat("ab", 32), "Public key", "combo(02" + strings.Repeat("ab", 32) + ")#abcdefgh"},
		{aKey, "Extended public key", "pkh(K/<0;1>/*)#abcdefgh sh(wpkh(K/<0;1>/*))#abcdefgh wpkh(K/<0;1>/*)#abcdefgh tr(K/<0;1>/*)#abcdefgh"},
		{aKey + "/0/*", "Extended public key", "pkh(K/0/*)#abcdefgh sh(wpkh(K/0/*))#abcdefgh wpkh(K/0/*)#abcdefgh tr(K/0/*)#abcdefgh"},
		{
			"[d34db33f/84h/0'/0h]" + aKey + "/7", "Extended public key",
			"pkh([d34db33f/84h/0'/0h]K/7/*)#abcdefgh sh(wpkh([d34db33f/84h/0'/0h]K/7/*))#abcdefgh " +
				"wpkh([d34db33f/84h/0'/0h]K/7/*)#abcdefgh tr([d34db33f/84h/0'/0h]K/7/*)#abcdefgh",
		},
		{aZpub, "Extended public key", "wpkh(" + zAsX + "/<0;1>/*)#abcdefgh"},
	} {
		got := checkLines(t, knows, test.line).Lines
		if len(got) != 1 || got[0].Problem != "" || got[0].Kind != test.kind {
			t.Errorf("%s is %+v", test.line, got)
			continue
		}
		var all []string
		for _, c := range got[0].Choices {
			all = append(all, c.Desc)
		}
		if text := strings.ReplaceAll(strings.Join(all, " "), aKey, "K"); text != test.descriptors {
			t.Errorf("%s is\n%s, want\n%s", test.line, text, test.descriptors)
		}
	}
}

// The first addresses of a descriptor are shown, three of a range.
func TestSample(t *testing.T) {
	node := fakeNode{
		"getdescriptorinfo":                   knows["getdescriptorinfo"],
		`deriveaddresses["d#00000000",[0,2]]`: `["bc1qa","bc1qb","bc1qc"]`,
		"deriveaddresses":                     `["wrong"]`,
	}
	got := checkLines(t, node, "wpkh(x/*)").Lines
	if len(got) != 1 || strings.Join(got[0].Choices[0].Addresses, " ") != "bc1qa bc1qb bc1qc" {
		t.Errorf("%+v", got)
	}
}

func TestLinesAreRefused(t *testing.T) {
	broken := []byte(aKey)
	broken[50] ^= 1
	refusing := fakeNode{"getdescriptorinfo": "error:key is not valid"}
	for _, test := range []struct {
		node fakeNode
		line string
		says string
	}{
		{knows, "two words", "neither a descriptor"},
		{knows, string(broken), "wrong letter"},
		{knows, "Zpub" + aKey[4:], "several signers"},
		{refusing, "pkh(nothing)", "key is not valid"},
		{refusing, aKey, "key is not valid"},
	} {
		got := checkLines(t, test.node, test.line)
		if len(got.Lines) != 1 || !strings.Contains(got.Lines[0].Problem, test.says) || got.Good() {
			t.Errorf("%s is %+v", test.line, got.Lines)
		}
	}
}

// TestChoicesOfOtherNetworks: what the node does not take is not suggested.
func TestChoicesOfOtherNetworks(t *testing.T) {
	node := fakeNode{
		`getdescriptorinfo["wpkh(` + aKey + `/0/*)"]`: `{"descriptor":"d","checksum":"abcdefgh","isrange":true,"multipath_expansion":["a","b"]}`,
		"getdescriptorinfo":                           "error:not of this chain",
	}
	got := checkLines(t, node, aKey+"/0/*").Lines[0]
	if len(got.Choices) != 1 || got.Problem != "" ||
		!strings.HasPrefix(got.Choices[0].Desc, "wpkh(") || got.Choices[0].Paths != 2 {
		t.Errorf("suggested %+v", got)
	}
}

func TestManyLines(t *testing.T) {
	got := checkLines(t, knows, "\n// a remark\n"+strings.Repeat("  pkh(x)\t\r\n", maxChecked+2))
	if len(got.Lines) != maxChecked || got.More != 2 || got.Good() || !got.Ranged() {
		t.Errorf("%d lines, %d more", len(got.Lines), got.More)
	}
	if checkLines(t, knows, " \n").Good() {
		t.Error("no line is good")
	}
	if got := checkLines(t, fakeNode{}, "pkh(x)"); !got.Good() {
		t.Errorf("who may not ask cannot search: %+v", got)
	}
}

func TestPlainKeys(t *testing.T) {
	for _, test := range []struct{ key, plain, only string }{
		{aKey, aKey, ""}, {aZpub, zAsX, "wpkh"},
	} {
		if plain, only, err := plainKey(test.key); plain != test.plain || only != test.only || err != nil {
			t.Errorf("%s is %s, %s, %v", test.key, plain, only, err)
		}
	}
	if _, only, err := plainKey(aYpub); only != "sh-wpkh" || err != nil {
		t.Errorf("a ypub is for %s, %v", only, err)
	}
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{aKey, aZpub, "addr(x)", "[00000000/1h]" + aKey + "/<0;1>/*", "00", "x\ny"} {
		f.Add(seed)
	}
	v := newView(slog.New(slog.DiscardHandler))
	f.Fuzz(func(t *testing.T, lines string) {
		data := check(t.Context(), knows, lines)
		if _, err := v.render("check", "BTC", shown{asker: &asker{}, Data: data}); err != nil {
			t.Fatal(err)
		}
	})
}

// A range is asked for where there is a wildcard, and only there.
func TestRanged(t *testing.T) {
	for isRange, want := range map[string]bool{"true": true, "false": false} {
		node := fakeNode{"getdescriptorinfo": `{"descriptor":"d","checksum":"c","isrange":` + isRange + `}`}
		if got := checkLines(t, node, "wpkh(x)\npkh(y)"); got.Ranged() != want || len(got.Lines) != 2 {
			t.Errorf("%s: %+v", isRange, got)
		}
	}
}
