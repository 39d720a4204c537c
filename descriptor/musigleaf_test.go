package descriptor_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

// TestMusigInLeaf reads musig() as a key of a miniscript. The scripts hold the key that rawtr() pays to.
func TestMusigInLeaf(t *testing.T) {
	own, other := testXprv+"/1h", testXpub+"/2"
	for _, aggregate := range []string{
		"musig(" + other + "," + testXpub + "/3)", "musig(" + other + "," + testXpub + "/3)/4",
		"musig(" + other + ",[d34db33f/7h]" + testXpub + "/3)/0/*", "musig(" + testXpub + "/*," + testKey + ")",
		"musig(" + own + "," + other + ")/5/*", "musig(" + testXprv + "/*h," + testKey + ")",
	} {
		text := "tr(" + testKey[2:] + ",{and_v(v:pk(" + aggregate + "),older(10)),andor(pk(" + testXpub +
			"/8),after(9),and_v(v:pkh(" + aggregate + "),sha256(" + strings.Repeat("ab", 32) + ")))})"
		d, alone := parse(t, text, mainNet), parse(t, "rawtr("+aggregate+")", mainNet)
		if got, want := d.String(), descriptor.AddChecksum(strings.ReplaceAll(text, testXprv, testXpub)); got != want {
			t.Errorf("printed as %s, want %s", got, want)
		}
		for _, index := range []uint32{0, 7} {
			if !d.IsRanged() && index > 0 {
				continue
			}
			want, err := alone.Expand(index)
			if err != nil {
				t.Fatal(aggregate, err)
			}
			pkScripts, err := d.Expand(index)
			if err != nil {
				t.Fatal(text, err)
			}
			solution, err := d.Solve(index, pkScripts[0])
			if err != nil {
				t.Fatal(text, err)
			}
			found := false
			for _, leaf := range solution.Taproot.Leaves {
				found = found || bytes.Contains(leaf.Script, want[0][2:])
			}
			if !found {
				t.Errorf("%s at %d: no leaf has the key %x", text, index, want[0][2:])
			}
		}
	}
}

// TestMusigBehindHardenedSteps tells keys apart whose participants are behind hardened steps, by participants and
// derivation, whatever their order and signs.
func TestMusigBehindHardenedSteps(t *testing.T) {
	const own, other = testXprv + "/1h", testXprv + "/2h"
	for pair, same := range map[[2]string]bool{
		{"musig(" + own + "," + other + ")/0/*", "musig(" + own + "," + other + ")/1/*"}:              false,
		{"musig(" + own + "," + other + ")", "musig(" + own + "," + testXprv + "/3h)"}:                false,
		{"musig(" + own + "," + other + ")/0/*", "musig(" + other + "," + own + ")/0/*"}:              true,
		{"musig(" + own + "," + other + ")", "musig(" + testXpub + "/1'," + testXpub + "/2')"}:        true,
		{"musig(" + testXprv + "/1h/*," + other + ")", "musig(" + testXprv + "/1h/*h," + other + ")"}: false,
		{"musig(" + own + "," + other + ")/0/*", testXpub + "/5"}:                                     false,
	} {
		text := "tr(" + testKey[2:] + ",and_v(v:pk(" + pair[0] + "),pk(" + pair[1] + ")))"
		_, err := descriptor.Parse(text, mainNet, descriptor.Options{})
		refused := err != nil && strings.Contains(err.Error(), "contains duplicate public keys")
		if refused != same || !same && err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestMusigInLeafRefused has the places where Core does not read musig() either.
func TestMusigInLeafRefused(t *testing.T) {
	const two = "musig(" + testXpub + "/0," + testXpub + "/1)"
	inner := "tr(" + testKey[2:] + ",and_v(v:pk("
	for text, want := range map[string]string{
		"wsh(and_v(v:pk(" + two + "),older(10)))":                           "musig() is only allowed in tr() and rawtr()",
		"tr(" + testKey[2:] + ",and_v(v:multi_a(1," + two + "),older(10)))": "Invalid musig() expression",
		inner + two + "/1h),older(10)))":                                    "musig(): cannot have hardened derivation steps",
		inner + two + "),pk(" + two + ")))": "and_v(v:pk(" + two + "),pk(" + two +
			")) is not sane: contains duplicate public keys",
		inner + "musig(" + testXpub + "/0,older(10)))": "'and_v(v:pk(musig(" + testXpub +
			"/0,older(10))' is not a valid descriptor function",
	} {
		_, err := descriptor.Parse(text, mainNet, descriptor.Options{})
		if err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}
