package descriptor_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

var p2mrTexts = strings.NewReplacer("XPRV", p2mrXprv, "ONE", p2mrKey0, "TWO", p2mrKey1)

// The errors are those that qbit 1.0.0 gave; an empty one is a descriptor that it took.
func TestP2MRParse(t *testing.T) {
	const notAKey = "pk(): Expected 32-byte PQC pubkey or pqc(KEY)"
	for text, want := range map[string]string{
		"mr()":                                "mr(): Missing script tree",
		"mr(pk(ONE)":                          "A function is needed within P2MR",
		"mr({pk(ONE),pk(TWO))":                "mr(): expected '}' after script expression",
		"mr({pk(ONE)pk(TWO)})":                notAKey,
		"mr({pk(ONE),pk(TWO)}x)":              "mr(): expected ')' after script expression",
		"mr({pk(ONE)})":                       "mr(): expected ',' after script expression",
		"mr(pk())":                            notAKey,
		"mr(pk(00))":                          notAKey,
		"mr(pk(ONE ))":                        notAKey,
		"mr(pk(pqc()))":                       "pk(): pqc(): No key provided",
		"mr(pk(pqc(ONE)))":                    "pk(): pqc(): Pubkey 'ONE' is invalid",
		"mr(pk(pqc(XPRV/x)))":                 "pk(): pqc(): Key path value 'x' is not a valid uint32",
		"mr(pk(pqc(XPRV/<0;1>/*)))":           "",
		"mr({pk(pqc(XPRV/<0;1>/*)),pk(ONE)})": "",
		"mr({pk(pqc(XPRV/<0;1>/*)),pk(pqc(XPRV/<0;1;2>/*))})": "mr(): Multipath subscripts have mismatched lengths",
		"mr(multi_a())":      "multi_a(): threshold '' is not valid",
		"mr(multi_a(x,ONE))": "multi_a(): threshold 'x' is not valid",
		"mr(multi_a(1ONE))":  "multi_a(): threshold '1ONE' is not valid",
		"mr(multi_a(0,ONE))": "Multisig threshold cannot be 0, must be at least 1",
		"mr(multi_a(2,ONE))": "Multisig threshold cannot be larger than the number of keys; " +
			"threshold is 2 but only 1 keys specified",
		"mr(multi_a(1))":                "Cannot have 0 keys in multi_a; must have between 1 and 999 keys, inclusive",
		"mr(multi_a(1,))":               "multi_a(): No key provided",
		"mr(multi_a(1,ONE,,TWO))":       "multi_a(): No key provided",
		"mr(multi_a(1, ONE))":           "multi_a(): Key ' ONE' is invalid due to whitespace",
		"mr(multi_a(1,ONE ))":           "multi_a(): Key 'ONE ' is invalid due to whitespace",
		"mr(multi_a(1,zz))":             "multi_a(): Pubkey 'zz' is not hex",
		"mr(multi_a(1,00))":             "multi_a(): P2MR pubkey must be 32 bytes, got 1",
		"mr(multi_a(1,ONE,pqc(XPRV)))":  "multi_a(): Pubkey 'pqc(XPRV)' is not hex",
		"mr(multi_a(1,ONE)x)":           "A function is needed within P2MR",
		"mr(multi_a(1,ONE){)":           "A function is needed within P2MR",
		"mr(wpkh(ONE))":                 "Can only have wpkh() at top level or inside sh()",
		"mr(and_v(v:pk(ONE),older(1)))": "A function is needed within P2MR",
		"mr(mr(pk(ONE)))":               "Can only have mr at top level",
		"sh(mr(pk(ONE)))":               "Can only have mr at top level",
		"rawmr(ONE)":                    "",
		"rawmr(00)":                     "rawmr(): Merkle root must be 32 bytes",
		"rawmr(zz)":                     "rawmr(): Merkle root is not hex",
		"rawmr(ONE0)":                   "rawmr(): Merkle root is not hex",
		"rawmr()":                       "rawmr(): Merkle root is not hex",
		"sh(rawmr(ONE))":                "Can only have rawmr at top level",
		"wsh(multi_a(1,ONE))":           "Can only have multi_a/sortedmulti_a inside tr() or mr()",
		"tr(multi_a(1,ONE))":            "tr(): key 'multi_a(1,ONE)' is not valid",
		"pk(pqc(XPRV))":                 "pk(): key 'pqc(XPRV)' is not valid",
	} {
		branches, err := descriptor.Parse(p2mrTexts.Replace(text), p2mrRegtest, descriptor.Options{})
		switch {
		case want == "" && err != nil, want != "" && (err == nil || err.Error() != p2mrTexts.Replace(want)):
			t.Errorf("%s: got %v, want %s", text, err, want)
		case want == "" && len(branches) != 1+strings.Count(text, ";"):
			t.Errorf("%s has %d branches", text, len(branches))
		}
	}
}

// The texts of branches are those that qbit prints, and each branch derives from its own step.
func TestP2MRBranches(t *testing.T) {
	branches, err := descriptor.Parse(
		p2mrTexts.Replace("mr({pk(pqc(XPRV/<0;1>/*)),pk(ONE)})"), p2mrRegtest, descriptor.Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	const xpub = "qrpbSRJj3eCrXD2z4pcgc3u9JyzYaU8NvFBiAofLPyjf5J6hReRKQnTRkRdjcgpRKVNGk884VebuF3yxqeZGGd3JvMgtbRFZP5Eremu8Unc1nT2"
	for i, sum := range []string{"#5p603c7g", "#pw4kpygl"} {
		step := string(rune('0' + i))
		if got, want := branches[i].String(), "mr({pk(pqc("+xpub+"/"+step+"/*)),pk("+p2mrKey0+")})"+sum; got != want {
			t.Errorf("branch %d: got %s, want %s", i, got, want)
		}
		one := parse(t, p2mrTexts.Replace("mr({pk(pqc(XPRV/"+step+"/*)),pk(ONE)})"), p2mrRegtest)
		if got, want := p2mrAddress(t, branches[i], 6), p2mrAddress(t, one, 6); got != want {
			t.Errorf("branch %d: got %s, want %s", i, got, want)
		}
	}
}

// The keys of P2MR are made for each index below a wildcard, once without one; a cache is asked for them by the same
// places.
func TestP2MRKeys(t *testing.T) {
	for text, want := range map[string][]descriptor.P2MRPlace{ // of the indices 2 and 3
		"mr(pk(ONE))":            nil,
		"mr(pk(pqc(XPRV/1)))":    {{0, 0}},
		"mr(pk(pqc(XPRV/1/*)))":  {{0, 2}, {0, 3}},
		"mr(pk(pqc(XPRV/1/*h)))": {{0, 2}, {0, 3}},
		"mr({pk(ONE),{pk(pqc(XPRV/1h/*)),pk(pqc(XPRV/2))}})": {{0, 2}, {0, 3}, {1, 0}},
	} {
		d := parse(t, p2mrTexts.Replace(text), p2mrRegtest)
		keys, err := d.P2MRKeys(t.Context(), 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		var places []descriptor.P2MRPlace
		for _, key := range keys {
			places = append(places, descriptor.P2MRPlace{Expression: key.Expression, Index: key.Index})
			if len(key.Secret) != 64 || !bytes.Equal(key.Secret[32:], key.Public[:]) {
				t.Errorf("%s: the secret of %v does not end with its public key", text, places[len(places)-1])
			}
		}
		if !slices.Equal(places, want) {
			t.Errorf("%s: keys at %v, want %v", text, places, want)
		}
		for _, index := range []uint32{2, 3} {
			var of []descriptor.P2MRPlace
			for _, place := range want {
				if place.Index == index || place.Index == 0 {
					of = append(of, place)
				}
			}
			if got := d.P2MRPlaces(index); !slices.Equal(got, of) {
				t.Errorf("%s: places %v of index %d, want %v", text, got, index, of)
			}
		}
		if got := d.HasP2MRSource(); got != (want != nil) {
			t.Errorf("%s: has a source: %v", text, got)
		}
		public := parse(t, d.String(), p2mrRegtest)
		cached := public.WithCache(descriptor.CacheOf(keys))
		private := scriptsOf(t, d, 2, 3)
		if got := scriptsOf(t, cached, 2, 3); !slices.EqualFunc(got, private, bytes.Equal) {
			t.Errorf("%s: by the cache %x, want %x", text, got, private)
		}
		if want == nil {
			continue
		}
		if _, err := public.P2MRKeys(t.Context(), 2, 3); !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
			t.Errorf("%s: keys without the private one: %v", text, err)
		}
		for name, without := range map[string]*descriptor.Descriptor{
			"no cache": public, "an empty cache": public.WithCache(descriptor.CacheOf(nil)),
		} {
			if _, err := without.Expand(2); !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
				t.Errorf("%s expands with %s: %v", text, name, err)
			}
		}
	}
}

// scriptsOf returns the scripts of a range, the only ones of a descriptor that is not ranged.
func scriptsOf(tb testing.TB, d *descriptor.Descriptor, first, last uint32) (all [][]byte) {
	tb.Helper()
	err := d.ExpandRange(tb.Context(), first, last, 2, func(_ uint32, scripts [][]byte) error {
		all = append(all, scripts...)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// The text of a P2MR output has its keys in the order of their scripts, the lower subtree first.
func TestP2MRSolutionText(t *testing.T) {
	low, high := "pk("+p2mrKey1+")", "pk("+p2mrKey0+")"
	for text, want := range map[string]string{
		"mr({" + low + "," + high + "})":                         "mr({" + low + "," + high + "})",
		"mr({" + high + "," + low + "})":                         "mr({" + low + "," + high + "})",
		"mr({{" + high + "," + low + "}," + high + "})":          "mr({{" + low + "," + high + "}," + high + "})",
		"mr({" + high + ",{" + high + "," + low + "}})":          "mr({{" + low + "," + high + "}," + high + "})",
		"mr(sortedmulti_a(1," + p2mrKey0 + "," + p2mrKey1 + "))": "mr(multi_a(1," + p2mrKey1 + "," + p2mrKey0 + "))",
		"mr(multi_a(2," + p2mrKey0 + "," + p2mrKey1 + "))":       "mr(multi_a(2," + p2mrKey0 + "," + p2mrKey1 + "))",
	} {
		d := parse(t, text, p2mrRegtest)
		scripts, err := d.Expand(0)
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.Solve(0, scripts[0])
		if err != nil || s.Text != descriptor.AddChecksum(want) || !s.Solvable {
			t.Errorf("%s: got %+v, %v, want %s", text, s, err, want)
		}
		if again := scriptsOf(t, parse(t, s.Text, p2mrRegtest), 0, 0); !bytes.Equal(again[0], scripts[0]) {
			t.Errorf("%s is of another script", s.Text)
		}
	}
}
