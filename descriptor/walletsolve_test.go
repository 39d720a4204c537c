package descriptor_test

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

// solveKey is an extended private key, and solveFP its fingerprint.
const solveKey = "tprv8ZgxMBicQKsPePp3ijiziJAMKBsqkvsffzma4GKW89KeM5ST9iGaTweUb6iy6dCJjadASj9As5Em13WxqwhK82Rpmt5snsfbiadVYryvKBT"

// TestSolve solves all scripts of descriptors of every kind. A solution that
// describes a script must have that script, and give itself as solution.
func TestSolve(t *testing.T) {
	for _, test := range []struct {
		text  string
		names []string // functions of the solutions, one for each script
		key   bool     // there is a single key
		inner int      // number of scripts within
	}{
		{"pk(K/0/*)", []string{"pk("}, false, 0},
		{"pkh(K/0h/*)", []string{"pkh("}, true, 0},
		{"wpkh(K/*h)", []string{"wpkh("}, true, 0},
		{"sh(wpkh(K/1/*))", []string{"sh(wpkh("}, true, 1},
		{"sh(wsh(multi(1,K/1/*,K/2/*)))", []string{"sh(wsh(multi(1,"}, false, 2},
		{"wsh(sortedmulti(2,K/1/*,K/2/*,K/3))", []string{"wsh(multi(2,"}, false, 1},
		{"combo(K/7/*)", []string{"pk(", "pkh(", "wpkh(", "sh(wpkh("}, true, -1},
		{"tr(K/0/*)", []string{"tr("}, true, 0},
		{"tr(K/0/*,{pk(K/1/*),{pk(K/2/*),sortedmulti_a(1,K/3/*,K/4/*)}})", []string{"tr("}, false, 0},
		{"rawtr(K/0/*)", []string{"rawtr("}, false, 0},
		{"wsh(or_d(pk(K/0/*),and_v(v:pk(K/1/*),older(5))))", []string{"wsh(or_d(pk("}, false, 1},
	} {
		d := parse(t, strings.ReplaceAll(test.text, "K", solveKey), regtest)
		for _, index := range []uint32{0, 5} {
			scripts, err := d.Expand(index)
			if err != nil {
				t.Fatal(err)
			}
			for i, script := range scripts {
				s, err := d.Solve(index, script)
				if err != nil {
					t.Fatalf("%s: %v", test.text, err)
				}
				if !s.Solvable || !strings.HasPrefix(s.Text, test.names[i]) {
					t.Errorf("%s: got %s, want %s…", test.text, s.Text, test.names[i])
				}
				if single := s.Key != nil; single != test.key && test.inner >= 0 {
					t.Errorf("%s: single key %v", test.text, single)
				}
				if test.inner >= 0 && (s.Redeem != nil) != (test.inner > 0) || (s.Witness != nil) != (test.inner > 1) {
					t.Errorf("%s: scripts %x, %x", test.text, s.Redeem, s.Witness)
				}
				again := parse(t, s.Text, regtest)
				if same, err := again.Expand(0); err != nil || !slices.EqualFunc(same, [][]byte{script}, slices.Equal) {
					t.Errorf("%s has scripts %x, %v, want %x", s.Text, same, err, script)
				}
				if twice, err := again.Solve(0, script); err != nil || twice.Text != s.Text {
					t.Errorf("%s gives %v, %v", s.Text, twice, err)
				}
			}
		}
		if _, err := d.Solve(0, []byte{1}); !errors.Is(err, descriptor.ErrOtherScript) {
			t.Errorf("%s: foreign script: %v", test.text, err)
		}
	}
}

func TestSolveOpaque(t *testing.T) {
	for text, solvable := range map[string]bool{
		"raw(51)": false,
		"addr(mkHS9ne12qx9pS9VojpwU5xtRd4T7X7ZUt)":                               false,
		"addr(bcrt1pslfsgllyu4wqjpa9lr0nyv57k6q8dj72akdz5qfvs84fhhehp45ssu7yl6)": true, // a key is in it
	} {
		d := parse(t, text, regtest)
		scripts, err := d.Expand(0)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := d.Solve(0, scripts[0]); err != nil || s.Solvable != solvable {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
}

// testCache is a cache of entries.
type testCache map[descriptor.CacheEntry]descriptor.XPub

func (c testCache) find(kind descriptor.CacheKind, expression int, index uint32) (descriptor.XPub, bool) {
	key, ok := c[descriptor.CacheEntry{Kind: kind, Expression: expression, Index: index}]
	return key, ok
}

func (c testCache) Parent(expression int) (descriptor.XPub, bool) {
	return c.find(descriptor.CacheParent, expression, 0)
}

func (c testCache) Derived(expression int, index uint32) (descriptor.XPub, bool) {
	return c.find(descriptor.CacheDerived, expression, index)
}

func (c testCache) LastHardened(expression int) (descriptor.XPub, bool) {
	return c.find(descriptor.CacheLastHardened, expression, 0)
}

func (testCache) P2MR(int, uint32) (key [32]byte, ok bool) { return key, false }

// TestCacheEntries expands descriptors without private keys, by what a cache was
// told to hold.
func TestCacheEntries(t *testing.T) {
	for _, text := range []string{
		"wpkh(K/84h/1h/0h/0/*)", "pkh(K/1/*h)", "wsh(multi(2,K/1h/2,K/3h/*))", "tr(musig(K/1h/0,K/2h/1)/5/*)", "pk(K/0)",
	} {
		full := parse(t, strings.ReplaceAll(text, "K", solveKey), regtest)
		entries, err := full.CacheEntries(3, 6)
		if err != nil {
			t.Fatal(err)
		}
		cache := make(testCache)
		for _, e := range entries {
			key := e.Key
			e.Key = descriptor.XPub{}
			cache[e] = key
		}
		public := parse(t, full.String(), regtest).WithCache(cache)
		for index := uint32(3); index <= 6; index++ {
			want, _ := full.Expand(index)
			if got, err := public.Expand(index); err != nil || !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s at %d: got %x, %v, want %x", text, index, got, err, want)
			}
		}
		want, err := full.NormalizedString()
		if got, cachedErr := public.NormalizedString(); err != nil || cachedErr != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s, %v", text, got, cachedErr, want, err)
		}
	}
}

// TestMaster derives the root of BIP32's first vector, and reads and prints it.
func TestMaster(t *testing.T) {
	seed, _ := hex.DecodeString("000102030405060708090a0b0c0d0e0f")
	key, scalar, ok := descriptor.Master(seed)
	if !ok {
		t.Fatal("no key")
	}
	main := &descriptor.Network{
		HDPublicKeyID: [4]byte{0x04, 0x88, 0xb2, 0x1e}, HDPrivateKeyID: [4]byte{0x04, 0x88, 0xad, 0xe4},
	}
	const public = "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"
	const private = "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"
	if got := descriptor.EncodeXPub(key, main); got != public {
		t.Errorf("got %s, want %s", got, public)
	}
	if got := string(descriptor.EncodeXPrv(key, &scalar, main)); got != private {
		t.Errorf("got %s, want %s", got, private)
	}
	if got, ok := descriptor.ParseXPub(public, main); !ok || got != key {
		t.Errorf("got %x, %v, want %x", got, ok, key)
	}
	for _, text := range []string{"", private, public[1:], public + "1"} {
		if _, ok := descriptor.ParseXPub(text, main); ok {
			t.Errorf("%q is taken for an extended public key", text)
		}
	}
}
