package descriptor_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

// p2mrRegtest is qbit's regtest.
var p2mrRegtest = &descriptor.Network{
	PubKeyHashID: 120, ScriptHashID: 125, PrivateKeyID: 166, Bech32HRP: "qbrt",
	HDPublicKeyID: [4]byte{0x03, 0xf7, 0xd7, 0xb5}, HDPrivateKeyID: [4]byte{0x03, 0xf7, 0xd8, 0x3a},
	Dialect: descriptor.P2MR, Restricted: true,
	Foreign: &descriptor.KeyVersions{
		PrivateKeyID:  239,
		HDPublicKeyID: [4]byte{0x04, 0x35, 0x87, 0xcf}, HDPrivateKeyID: [4]byte{0x04, 0x35, 0x83, 0x94},
	},
}

const (
	p2mrXprv = "qrpvV1brS3WRoVwgTRUmDuJCX1t2rjaSWyE4sXWNuUs4ajSe8CP4YJjStqVvs59dz8bJLEyaG8CJ8g3kD1jBk3sN73ovK4vkkenmvpX4D8SJoP1"
	p2mrKey0 = "3d69debe97aea0e7a8e04ba7e6eec390013f9d276b447b6681730e71e3934ddf"
	p2mrKey1 = "3c7aa1c60e1da6f69c0e2675d1840c9e1e254a2766ed0f132cf35a8dc504d565"
)

func p2mrAddress(tb testing.TB, d *descriptor.Descriptor, index uint32) string {
	tb.Helper()
	scripts, err := d.Expand(index)
	if err != nil {
		tb.Fatal(err)
	}
	address, ok := descriptor.AddressOf(scripts[0], p2mrRegtest)
	if !ok {
		tb.Fatalf("%x has no address", scripts[0])
	}
	return address
}

// TestP2MRVectors are addresses that qbit 1.0.0 gives.
func TestP2MRVectors(t *testing.T) {
	for _, test := range []struct {
		text  string
		index uint32
		want  string
	}{
		{"mr(pk(pqc(" + p2mrXprv + "/87h/1h/0h/0/*)))", 0, "qbrt1zmchfw2jvkedwrgjs7ew02flhwtyluef6znqu8tz48ue4h2073nashx8fq4"},
		{"mr(pk(pqc(" + p2mrXprv + "/87h/1h/0h/0/*)))", 2, "qbrt1zx5nr8t2ta0gz3ntt6fx6ghm8d4z3av644v7sg0c064afnwlwwcvsdy5l8m"},
		{"mr(pk(pqc(" + p2mrXprv + "/87h/1h/0h/1/*)))", 0, "qbrt1zxxltvgpv52v4gqar39a2qgwsarzve528nam75efugx9k3w7ypepqxmhmye"},
		{"mr(pk(pqc(" + p2mrXprv + "/87h/1h/0h/0/5)))", 7, "qbrt1ztfp3xtptx963p2fzct3gcuza3y74v6r8lwuz6v0u6wnvq90ejjjsrz7aaj"},
		{"mr(pk(pqc(" + p2mrXprv + "/87h/1h/0h/0/*h)))", 1, "qbrt1zmgacfklf3edl3rjjsgf5zwj53ucycsjlc9055acfpxwkea95axcsa6p9cf"},
		{"mr(pk(pqc(" + p2mrXprv + ")))", 0, "qbrt1z2yl3hx2lkjrh2tduf9ve5xnqgefg5pudrkzd87746cra8u8yazvqquhdg2"},
		{"mr({pk(" + p2mrKey0 + "),pk(" + p2mrKey1 + ")})", 0, "qbrt1zuj3rwznvqukplt6atn06lygeyaz5fjw04tnv2jt099ddxr84r2ks49kz06"},
		{"mr(multi_a(2," + p2mrKey0 + "," + p2mrKey1 + "))", 0, "qbrt1zah8umnluszysmwxlcvaud2gq6jyak60mtsez0fancx4hwt4u4krsryeuch"},
		{"mr(pk(" + p2mrKey0 + "))", 0, "qbrt1zmchfw2jvkedwrgjs7ew02flhwtyluef6znqu8tz48ue4h2073nashx8fq4"},
	} {
		if got := p2mrAddress(t, parse(t, test.text, p2mrRegtest), test.index); got != test.want {
			t.Errorf("%s at %d: got %s, want %s", test.text, test.index, got, test.want)
		}
	}
}

// p2mrCache knows keys of P2MR only.
type p2mrCache struct{ keys map[uint32][32]byte }

func (p2mrCache) Parent(int) (xpub descriptor.XPub, ok bool)          { return xpub, false }
func (p2mrCache) Derived(int, uint32) (xpub descriptor.XPub, ok bool) { return xpub, false }
func (p2mrCache) LastHardened(int) (xpub descriptor.XPub, ok bool)    { return xpub, false }
func (c p2mrCache) P2MR(_ int, index uint32) (key [32]byte, ok bool) {
	key, ok = c.keys[index]
	return key, ok
}

func TestP2MRCache(t *testing.T) {
	private := parse(t, "mr({pk(pqc("+p2mrXprv+"/1h/*)),sortedmulti_a(1,"+p2mrKey0+","+p2mrKey1+")})", p2mrRegtest)
	keys, err := private.P2MRKeys(t.Context(), 3, 4)
	if err != nil || len(keys) != 2 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	cache := p2mrCache{map[uint32][32]byte{}}
	for i, key := range keys {
		if key.Index != uint32(3+i) || len(key.Secret) != 64 || !bytes.Equal(key.Secret[32:], key.Public[:]) {
			t.Errorf("key %d is of index %d, with %d secret bytes", i, key.Index, len(key.Secret))
		}
		cache.keys[key.Index] = key.Public
	}
	public := parse(t, private.String(), p2mrRegtest)
	if _, err := public.Expand(3); !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
		t.Errorf("public expands: %v", err)
	}
	if _, err := public.P2MRKeys(t.Context(), 3, 3); !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
		t.Errorf("public has private keys: %v", err)
	}
	cached := public.WithCache(cache)
	if got, want := p2mrAddress(t, cached, 3), p2mrAddress(t, private, 3); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := cached.Expand(5); !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
		t.Errorf("an index that is not in the cache expands: %v", err)
	}
	scripts, _ := cached.Expand(4)
	solution, err := cached.Solve(4, scripts[0])
	if err != nil || !solution.Solvable || len(solution.Leaves) != 2 {
		t.Fatalf("solution %+v, %v", solution, err)
	}
	again := parse(t, solution.Text, p2mrRegtest)
	if got, _ := again.Expand(0); !slices.EqualFunc(got, scripts, bytes.Equal) {
		t.Errorf("%s is another script", solution.Text)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, err := private.P2MRKeys(ended, 0, 1000); !errors.Is(err, context.Canceled) {
		t.Errorf("goes on after its end: %v", err)
	}
}

// TestCacheOf: the scripts are those of the keys that are handed over, which are
// not made again, and beyond them those of the private keys.
func TestCacheOf(t *testing.T) {
	private := parse(t, "mr({pk(pqc("+p2mrXprv+"/1h/*)),pk(pqc("+p2mrXprv+"/2h/*))})", p2mrRegtest)
	keys, err := private.P2MRKeys(t.Context(), 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	made := private.WithCache(descriptor.CacheOf(keys))
	for index := range uint32(6) {
		if got, want := p2mrAddress(t, made, index), p2mrAddress(t, private, index); got != want {
			t.Errorf("index %d: %s, want %s", index, got, want)
		}
	}
	public := parse(t, private.String(), p2mrRegtest)
	cached := public.WithCache(descriptor.CacheOf(keys))
	if got, want := p2mrAddress(t, cached, 4), p2mrAddress(t, private, 4); got != want {
		t.Errorf("without private keys: %s, want %s", got, want)
	}
	if _, err := cached.Expand(5); !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
		t.Errorf("an index that was not made expands: %v", err)
	}
	keys[0].Public[0] ^= 1 // no key of the descriptor
	if p2mrAddress(t, private.WithCache(descriptor.CacheOf(keys)), 3) == p2mrAddress(t, private, 3) {
		t.Error("the key was made again")
	}
}

func TestP2MRAllowed(t *testing.T) {
	free := *p2mrRegtest
	free.Restricted = false
	reserved := *p2mrRegtest
	reserved.Reserved = true
	for _, test := range []struct {
		text                        string
		restricted, reserved, anyOf bool
	}{
		{"mr(pk(" + p2mrKey0 + "))", true, true, true},
		{"rawmr(" + p2mrKey0 + ")", true, true, true},
		{"raw(5220" + p2mrKey0 + ")", true, true, true},
		{"raw(51024e73)", true, true, true},
		{"raw(5320" + p2mrKey0 + ")", false, true, true},
		{"raw(5210" + p2mrKey0[:32] + ")", false, false, true},
		{"raw(6a)", false, false, true},
		{"wpkh(" + testKey + ")", false, false, true},
	} {
		for net, want := range map[*descriptor.Network]bool{
			p2mrRegtest: test.restricted, &reserved: test.reserved, &free: test.anyOf,
		} {
			if err := parse(t, test.text, net).CheckAllowed("Input"); (err == nil) != want {
				t.Errorf("%s, restricted %v, reserved %v: %v", test.text, net.Restricted, net.Reserved, err)
			}
		}
	}
}

func TestP2MRSatisfiable(t *testing.T) {
	many := "mr(multi_a(36" + strings.Repeat(","+p2mrKey0, 36) + "))"
	for text, want := range map[string][2]bool{
		"mr(pk(" + p2mrKey0 + "))":             {true, true},
		many:                                   {false, true},
		"mr({pk(" + p2mrKey0 + ")," + many[3:]: {true, true},
		"rawmr(" + p2mrKey0 + ")":              {false, true},
		"wpkh(" + testKey + ")":                {false, false},
		"raw(51)":                              {false, false},
		strings.Replace(many, "multi_a(36", "multi_a(35", 1): {true, true},
	} {
		if strings.HasPrefix(text, "mr({") {
			text = text[:len(text)-1] + "})"
		}
		satisfiable, isP2MR := parse(t, text, p2mrRegtest).P2MRSatisfiable()
		if [2]bool{satisfiable, isP2MR} != want {
			t.Errorf("%.30s…: %v, %v", text, satisfiable, isP2MR)
		}
	}
}

// TestP2MRUnknownToBitcoin shows that Bitcoin's networks know no P2MR.
func TestP2MRUnknownToBitcoin(t *testing.T) {
	for _, text := range []string{"mr(pk(" + p2mrKey0 + "))", "rawmr(" + p2mrKey0 + ")"} {
		_, err := descriptor.Parse(text, regtest, descriptor.Options{})
		if want := "'" + text + "' is not a valid descriptor function"; err == nil || err.Error() != want {
			t.Errorf("%v", err)
		}
	}
	raw, _ := hex.DecodeString("5220" + p2mrKey0)
	if got := regtest.ScriptType(raw); got != "witness_unknown" {
		t.Errorf("type %s", got)
	}
	if got := p2mrRegtest.ScriptType(raw); got != "witness_v2_p2mr" {
		t.Errorf("type %s", got)
	}
	if got := descriptor.Infer(raw, p2mrRegtest); !strings.HasPrefix(got, "rawmr("+p2mrKey0) {
		t.Errorf("inferred %s", got)
	}
}

// TestP2MRInputSize has the sizes that qbit gives inputs: of the leaf that takes the most, with a hash type.
func TestP2MRInputSize(t *testing.T) {
	keys := make([]string, 3)
	for i := range keys {
		keys[i] = strings.Repeat(fmt.Sprintf("0%d", i+1), 32)
	}
	one, two := "pk("+keys[0]+")", "multi_a(2,"+strings.Join(keys, ",")+")"
	const signature = 3 + 3681
	for text, want := range map[string]struct{ stack, elements, input int }{
		"mr(" + one + ")":               {signature + 1 + 34 + 1 + 1, 3, 3763},
		"mr({" + one + "," + one + "})": {signature + 1 + 34 + 1 + 33, 3, 3795},
		"mr(" + two + ")":               {2*signature + 1 + 1 + 104 + 1 + 1, 5, 7518},
		"mr({{" + two + "," + one + "},pk(" + keys[1] + ")})": {2*signature + 1 + 1 + 104 + 1 + 65, 5, 7582},
	} {
		parsed, err := descriptor.Parse(text, p2mrRegtest, descriptor.Options{})
		if err != nil {
			t.Fatal(text, err)
		}
		got, ok := parsed[0].InputSize(0, nil, false)
		if !ok || !got.Witness || got.Script != 0 || got.Stack != want.stack || got.Elements != want.elements {
			t.Errorf("%s: %+v, %v; want %+v", text, got, ok, want)
		}
		if size := got.Of(true, 1); size != want.input {
			t.Errorf("%s: %d bytes, want %d", text, size, want.input)
		}
	}
}
