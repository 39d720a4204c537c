package descriptor_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/base58"

	"github.com/seed61375155/trawl/descriptor"
)

// The private key 1, as wallets of the main network write it.
const (
	shortWIF = "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn"
	longWIF  = "5HpHagT65TZzG1PH3CSu63k8DbpvD8s5ip4nEB3kEsreAnchuDf"
)

// filled puts the keys of these tests into a text.
func filled(text string) string {
	return strings.NewReplacer(
		"XPRV", testXprv, "XPUB", testXpub, "KEY", testKey, "SHORT", shortWIF, "LONG", longWIF,
	).Replace(text)
}

// The private keys of an index are those whose public keys the scripts are made of, in the order of the expressions.
func TestPrivateKeysAt(t *testing.T) {
	for text, expressions := range map[string][]int{ // whose private keys are known
		"pkh(SHORT)":      {0},
		"pkh(LONG)":       {0},
		"pkh(KEY)":        nil,
		"wpkh(XPUB/0/*)":  nil,
		"wpkh(XPUB/1h/*)": nil,
		"wpkh(XPRV)":      {0},
		"wpkh(XPRV/1/2h)": {0},
		"wpkh(XPRV/1h/*)": {0},
		"wpkh(XPRV/*h)":   {0},
		"wsh(multi(1,KEY,XPRV/0/*,SHORT,XPRV/*h))": {1, 2, 3},
		"tr(KEY,{pk(XPRV/3/*),pk(SHORT)})":         {1, 2},
		"tr(musig(XPRV/1/*,KEY),pk(XPRV/2))":       {0, 3},
		"tr(musig(XPRV/1h,XPRV/2)/4/*)":            {0, 1},
		"raw(51)":                                  nil,
	} {
		d := parse(t, filled(text), mainNet)
		for _, index := range []uint32{0, 6} {
			got := d.PrivateKeysAt(index)
			var want [][]byte
			if expressions != nil {
				keys, err := d.KeysAt(index)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				for _, key := range keys {
					if slices.Contains(expressions, key.Expression) {
						want = append(want, key.PublicKey)
					}
				}
			}
			if !slices.EqualFunc(got, want, func(key descriptor.PrivateKey, public []byte) bool {
				return bytes.Equal(key.PublicKey(), public)
			}) {
				t.Errorf("%s at %d: %d private keys, want those of %x", text, index, len(got), want)
			}
		}
	}
	if keys := parse(t, "mr(pk(pqc("+p2mrXprv+"/0/*)))", p2mrRegtest).PrivateKeysAt(0); keys != nil {
		t.Errorf("P2MR has %d private keys of secp256k1", len(keys))
	}
}

// PrivateKeys has what is written in a text, each key once; HasAllPrivateKeys is of every expression but musig().
func TestPrivateKeysOfText(t *testing.T) {
	master := base58.Decode(testXprv)
	root := hex.EncodeToString(master[len(master)-4-32 : len(master)-4])
	short := hex.EncodeToString(base58.Decode(shortWIF)[1:33])
	for text, want := range map[string]struct {
		keys     []string
		extended int
		all      bool
	}{
		"pkh(SHORT)":                          {[]string{short + " short"}, 0, true},
		"pkh(LONG)":                           {[]string{short + " long"}, 0, true},
		"pkh(KEY)":                            {nil, 0, false},
		"raw(51)":                             {nil, 0, false},
		"wpkh(XPUB/0)":                        {nil, 1, false},
		"wpkh(XPRV/0/*)":                      {[]string{root + " short"}, 1, true},
		"wsh(multi(1,XPRV/0/*,SHORT,XPRV/1))": {[]string{root + " short", short + " short"}, 2, true},
		"wsh(multi(1,XPRV/0/*,KEY))":          {[]string{root + " short"}, 1, false},
		"tr(musig(XPRV/1,SHORT))":             {[]string{root + " short", short + " short"}, 0, false},
		"tr(SHORT,pk(musig(XPRV/1,XPRV/2)))":  {[]string{short + " short", root + " short"}, 0, false},
	} {
		d := parse(t, filled(text), mainNet)
		var got []string
		for _, key := range d.PrivateKeys() {
			form := " long"
			if key.Compressed {
				form = " short"
			}
			got = append(got, hex.EncodeToString(key.Scalar[:])+form)
		}
		if !slices.Equal(got, want.keys) || d.HasAllPrivateKeys() != want.all ||
			len(d.ExtendedKeys()) != want.extended {
			t.Errorf("%s: private keys %v, all %v, %d extended", text, got, d.HasAllPrivateKeys(), len(d.ExtendedKeys()))
		}
		for _, key := range d.ExtendedKeys() {
			if descriptor.EncodeXPub(key, mainNet) != testXpub {
				t.Errorf("%s: extended key %x", text, key)
			}
		}
	}
}

// After Wipe no private key of the descriptor works, and none of the other branches of the same text.
func TestWipe(t *testing.T) {
	for _, text := range []string{
		"wpkh(XPRV/<1;2>/*)", "pkh(LONG)", "wsh(multi(1,KEY,SHORT,XPRV/1h))", "tr(musig(XPRV/1,SHORT))",
	} {
		branches, err := descriptor.Parse(filled(text), mainNet, descriptor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		last := branches[len(branches)-1]
		before := slices.Concat(last.PrivateKeys(), branches[0].PrivateKeysAt(0), last.PrivateKeysAt(0))
		if len(before) < 2 {
			t.Fatalf("%s: %d private keys", text, len(before))
		}
		branches[0].Wipe()
		for _, d := range branches {
			there := func(key descriptor.PrivateKey) bool { return key.Scalar != [32]byte{} }
			known := func(key descriptor.PrivateKey) bool { return slices.Contains(before, key) }
			if slices.ContainsFunc(d.PrivateKeys(), there) || slices.ContainsFunc(d.PrivateKeysAt(0), known) {
				t.Errorf("%s: a private key is left", text)
			}
		}
	}
}

// A private key has a public key of the form that it is used in; numbers that are no private key have none.
func TestPrivateKey(t *testing.T) {
	order, _ := hex.DecodeString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
	below := bytes.Clone(order)
	below[31]--
	for _, test := range []struct {
		scalar     []byte
		compressed bool
		want       string
	}{
		{make([]byte, 32), true, ""},
		{order, true, ""},
		{bytes.Repeat([]byte{0xff}, 32), false, ""},
		{append(make([]byte, 31), 1), true, "02" + uncompressedKey[2:66]},
		{append(make([]byte, 31), 1), false, uncompressedKey},
		{below, true, "03" + uncompressedKey[2:66]},
	} {
		key := descriptor.PrivateKey{Scalar: [32]byte(test.scalar), Compressed: test.compressed}
		if got := hex.EncodeToString(key.PublicKey()); got != test.want {
			t.Errorf("%x: got %s, want %s", test.scalar, got, test.want)
		}
	}
}

// ParseWIF takes keys of the network alone, of the right length, of numbers that are private keys.
func TestParseWIF(t *testing.T) {
	one := append(make([]byte, 31), 1)
	order, _ := hex.DecodeString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
	encode := func(version byte, parts ...[]byte) string {
		return base58.CheckEncode(slices.Concat(parts...), version)
	}
	for text, want := range map[string]struct{ ok, compressed bool }{
		shortWIF:                        {true, true},
		longWIF:                         {true, false},
		encode(0x80, one, []byte{1}):    {true, true},
		encode(0x80, one):               {true, false},
		encode(0x80, one, []byte{2}):    {},
		encode(0x80, one, []byte{1, 1}): {},
		encode(0x80, one[1:]):           {},
		encode(0x80):                    {},
		encode(0xef, one, []byte{1}):    {}, // of other networks
		encode(0x80, make([]byte, 32)):  {},
		encode(0x80, order, []byte{1}):  {},
		shortWIF + "1":                  {},
		"":                              {},
	} {
		key, ok := descriptor.ParseWIF(text, mainNet)
		if ok != want.ok || key.Compressed != want.compressed || ok != (key.PublicKey() != nil) {
			t.Errorf("%q: got %+v, %v", text, key, ok)
		}
	}
	// Keys of other networks that descriptors may hold are no keys of a dump.
	foreign := encode(239, one, []byte{1})
	if _, ok := descriptor.ParseWIF(foreign, p2mrRegtest); ok {
		t.Error("a foreign key is taken")
	}
	if _, err := descriptor.Parse("pkh("+foreign+")", p2mrRegtest, descriptor.Options{}); err != nil {
		t.Error(err)
	}
}

// Extended keys are in the order of their public keys, then of their chain codes.
func TestCompareXPubs(t *testing.T) {
	var a descriptor.XPub
	for i, test := range []struct {
		change func(x *descriptor.XPub)
		want   int
	}{
		{func(*descriptor.XPub) {}, 0},
		{func(x *descriptor.XPub) { x[0], x[8] = 1, 1 }, 0}, // where it is from does not count
		{func(x *descriptor.XPub) { x[9] = 1 }, -1},
		{func(x *descriptor.XPub) { x[40] = 1 }, -1},
		{func(x *descriptor.XPub) { x[41] = 1 }, -1},
		{func(x *descriptor.XPub) { x[73] = 1 }, -1},
	} {
		b := a
		test.change(&b)
		got, back := descriptor.CompareXPubs(a, b), descriptor.CompareXPubs(b, a)
		if got != test.want || back != -test.want {
			t.Errorf("case %d: %d, %d", i, got, back)
		}
	}
	low, high := a, a
	low[9], high[73] = 1, 1 // the public key decides
	if descriptor.CompareXPubs(low, high) != -1 {
		t.Error("chain codes count before public keys")
	}
}
