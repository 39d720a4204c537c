package keys

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

func TestKeyCache(t *testing.T) {
	c := &keyCache{}
	one, two := [32]byte{1}, [32]byte{2}
	for _, step := range []struct {
		index uint32
		key   [32]byte
		added bool
		err   error
	}{{0, one, true, nil}, {0, one, false, nil}, {0, two, false, errOtherKey}, {1, two, true, nil}} {
		added, err := c.mergeSlow(3, step.index, step.key)
		if added != step.added || !errors.Is(err, step.err) {
			t.Errorf("%+v: %v, %v", step, added, err)
		}
	}
	if key, ok := c.P2MR(3, 0); !ok || key != one {
		t.Errorf("key %v, %v", key, ok)
	}
	entry := descriptor.CacheEntry{Kind: descriptor.CacheLastHardened, Expression: 1, Key: descriptor.XPub{1}}
	if added, err := c.merge([]descriptor.CacheEntry{entry, entry}); len(added) != 1 || err != nil ||
		c.lastHardened != 1 {
		t.Errorf("%d added, %v", len(added), err)
	}
	entry.Key = descriptor.XPub{2}
	if _, err := c.merge([]descriptor.CacheEntry{entry}); !errors.Is(err, errOtherKey) {
		t.Errorf("another key: %v", err)
	}
	if key, ok := c.LastHardened(1); !ok || key != (descriptor.XPub{1}) {
		t.Error("the key of the cache is replaced")
	}
}

// A file is damaged if the range of a descriptor cannot be derived from its
// content.
func TestLoadRanges(t *testing.T) {
	for text, test := range map[string]struct {
		begin, end int32
		want       error
		scripts    int
	}{
		"wpkh(" + expandingXpub + "/0/*)":  {3, 8, nil, 5},
		"pkh(" + expandingXpub + "/1/*)":   {3, 3, nil, 0},
		"pkh(" + expandingXpub + "/2/*)":   {0, maxIndices + 1, walletfile.ErrCorrupt, 0},
		"wpkh(" + expandingXpub + "/0h/*)": {0, 5, walletfile.ErrCorrupt, 0},
		"wpkh(" + expandingXpub + "/1h/*)": {5, 5, nil, 0},
	} {
		r := newRig(false)
		branches, err := descriptor.Parse(text, r.set.params.Network, descriptor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := &walletfile.Descriptor{Parsed: branches[0]}
		d.ID, d.Text = walletfile.DescriptorID(branches[0]), branches[0].String()
		d.RangeStart, d.RangeEnd = test.begin, test.end
		file := walletfile.Wallet{Descriptors: []*walletfile.Descriptor{d}}
		if err := r.pool.Load(&file); !errors.Is(err, test.want) {
			t.Errorf("%s, %d to %d: %v", text, test.begin, test.end, err)
		}
		if len(r.owned) != test.scripts || len(r.set.scripts) != test.scripts {
			t.Errorf("%s: %d scripts, want %d", text, len(r.set.scripts), test.scripts)
		}
	}
}

// A wallet of an old version gets the last hardened keys of its descriptors when it is unlocked: their texts are shown
// with these, and the file has them from then on.
func TestCompleteCaches(t *testing.T) {
	of := setUp(t, true)
	f := make(file)
	f.write(of.log.Take())
	maps.DeleteFunc(f, func(key string, _ []byte) bool {
		return strings.HasPrefix(key, string(walletfile.KeyPrefix("walletdescriptorlhcache")))
	})
	r := of.reload(t, f)
	r.flags.Set(r.flags.Value() &^ walletfile.LastHardenedXpubCached)
	if _, err := r.set.ListDescriptors(false); err == nil {
		t.Error("texts are shown without the keys that they need")
	}
	r.log.Take()
	r.pool.CompleteCaches()
	if n := countRecords(r, "walletdescriptorlhcache"); n != 8 || !r.flags.Has(walletfile.LastHardenedXpubCached) {
		t.Errorf("%d keys were written, want 8, or the flag was not", n)
	}
	if list, err := r.set.ListDescriptors(false); err != nil || len(list) != 8 {
		t.Errorf("%d texts, %v", len(list), err)
	}
	r.pool.CompleteCaches()
	if changes := r.log.Take(); len(changes) > 0 {
		t.Errorf("%d changes of a file that is complete", len(changes))
	}
}

// A wallet that never has private keys refuses to list them, with Bitcoin Core 31 and later versions before its
// passphrase is asked for. Core 30 looks at each descriptor.
func TestListPrivateOfWatchOnly(t *testing.T) {
	t.Parallel()
	for _, asks := range []bool{false, true} {
		p := testParams()
		p.Kinds.Answers.AsksWatchOnly = asks
		r := rigOf(p, false)
		list, err := r.set.ListDescriptors(true)
		if asks && (err != nil || len(list) != 0) {
			t.Errorf("none there: %v, %v", list, err)
		}
		want := "Can't get private descriptor string for watch-only wallets (-4)"
		if !asks && (err == nil || err.Error() != want) {
			t.Errorf("none there: %v", err)
		}
		if asks {
			want = "Can't get descriptor string. (-4)"
		}
		item := messages.ImportItem{Desc: descriptor.AddChecksum("wpkh(" + otherXPub + ")")}
		if _, err := r.importer.Import([]messages.ImportItem{item}, ImportTimes{}); err != nil || r.set.Len() != 1 {
			t.Fatal(err)
		}
		if _, err := r.set.ListDescriptors(true); err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", asks, err, want)
		}
		if list, err := r.set.ListDescriptors(false); err != nil || len(list) != 1 {
			t.Errorf("public: %v, %v", list, err)
		}
	}
}

// With later versions of Core a wallet that watches by public keys gives out addresses beyond those that it has derived
// ahead.
func TestWatchOnlyGoesOn(t *testing.T) {
	t.Parallel()
	p := testParams()
	p.KeyPool = 1
	r := rigOf(p, false)
	item := messages.ImportItem{Desc: descriptor.AddChecksum("wpkh(" + otherXPub + "/*)"), Active: true}
	imported, err := r.importer.Import([]messages.ImportItem{item}, ImportTimes{})
	if err != nil || imported.Results[0].Err != nil {
		t.Fatal(err, imported.Results)
	}
	given := map[string]bool{}
	for range 5 {
		address, err := r.pool.NewAddress(messages.NewAddress{Type: "bech32", HasType: true})
		if err != nil || given[address] {
			t.Fatalf("%s, %v", address, err)
		}
		given[address] = true
	}
}
