package descriptor_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/base58"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
)

// pathCache derives what a wallet would have stored.
type pathCache struct {
	root     hdkey.Key
	paths    map[int][]uint32 // of key expressions by number
	hardened int              // length of the paths up to the last hardened step
}

func (c *pathCache) at(expression, length int, more ...uint32) (xpub descriptor.XPub, ok bool) {
	path, ok := c.paths[expression]
	if !ok {
		return xpub, false
	}
	key, err := c.root.Derive(slices.Concat(path[:min(length, len(path))], more)...)
	return key.PublicPayload(), err == nil
}

func (c *pathCache) Parent(expression int) (descriptor.XPub, bool) { return c.at(expression, 9) }

func (c *pathCache) Derived(expression int, index uint32) (descriptor.XPub, bool) {
	return c.at(expression, 9, index|hdkey.Hardened)
}

func (c *pathCache) LastHardened(expression int) (descriptor.XPub, bool) {
	return c.at(expression, c.hardened)
}

func (c *pathCache) P2MR(int, uint32) (key [32]byte, ok bool) { return key, false }

// TestCache expands public descriptors from a cache as it does private ones
// from their keys.
func TestCache(t *testing.T) {
	raw := base58.Decode(testXprv)
	root, ok := hdkey.ParsePrivate((*[hdkey.PayloadSize]byte)(raw[4:]))
	if !ok {
		t.Fatal("not an extended key")
	}
	const h = hdkey.Hardened
	for text, paths := range map[string]map[int][]uint32{
		"wpkh(" + testXprv + "/1h/2/*)":                       {0: {1 | h, 2}},
		"pkh(" + testXprv + "/1h/2)":                          {0: {1 | h, 2}},
		"sh(wpkh(" + testXprv + "/1h/2/*h))":                  {0: {1 | h, 2}},
		"wsh(multi(1," + testKey + "," + testXprv + "/1h/*))": {1: {1 | h}},
		"tr(musig(" + testXprv + "/1h," + testXprv + "/2h)/7/*," +
			"pk(" + testXprv + "/3h/4/*))": {0: {1 | h}, 1: {2 | h}, 3: {3 | h, 4}},
	} {
		private := parse(t, text, mainNet)
		public := parse(t, private.String(), mainNet)
		if _, err := public.Expand(5); !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
			t.Errorf("%s: %v", public, err)
		}
		empty := public.WithCache(&pathCache{root: root})
		if _, err := empty.Expand(5); !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
			t.Errorf("%s with an empty cache: %v", public, err)
		}
		cached := public.WithCache(&pathCache{root: root, paths: paths, hardened: 1})
		want, _ := private.Expand(5)
		if got, err := cached.Expand(5); err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%s: got %x, %v, want %x", public, got, err, want)
		}
		wantText, _ := private.NormalizedString()
		if got, err := cached.NormalizedString(); got != wantText || err != nil {
			t.Errorf("%s: got %s, %v, want %s", public, got, err, wantText)
		}
		wantKeys, _ := private.KeysAt(5)
		gotKeys, err := cached.KeysAt(5)
		if err != nil || !slices.EqualFunc(gotKeys, wantKeys, func(a, b descriptor.DerivedKey) bool {
			return a.String() == b.String() && a.Expression == b.Expression
		}) {
			t.Errorf("%s: got %v, %v, want %v", public, gotKeys, err, wantKeys)
		}
	}
}

// A range of a public descriptor that has a cache is the private one's, index by index.
func TestCacheRange(t *testing.T) {
	for _, text := range []string{
		"wpkh(K/1h/2/*)", "pkh(K/1/*h)", "wsh(multi(2,K/1/*h,K/2h/*,K/3h))", "tr(musig(K/1/*h,K/2h))", "combo(K/5h)",
	} {
		full := parse(t, strings.ReplaceAll(text, "K", solveKey), regtest)
		entries, err := full.CacheEntries(0, 8)
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
		got, want := scriptsOf(t, public, 2, 8), scriptsOf(t, full, 2, 8)
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%s: got %x, want %x", text, got, want)
		}
		nothing := func(uint32, [][]byte) error { return nil }
		if err := public.ExpandRange(t.Context(), 2, 9, 1, nothing); full.IsRanged() && strings.Contains(text, "*h") &&
			!errors.Is(err, descriptor.ErrNeedsPrivateKey) {
			t.Errorf("%s: an index that is not in the cache: %v", text, err)
		}
	}
}
