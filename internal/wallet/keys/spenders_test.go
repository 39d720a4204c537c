package keys

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// spendingRig is a wallet with a ranged descriptor of five indices and one of a single script.
func spendingRig(t *testing.T, key string, private bool) *rig {
	t.Helper()
	p := testParams()
	p.KeyPool = 5
	r := rigOf(p, private)
	r.importOne(t, messages.ImportItem{
		Desc: descriptor.AddChecksum("wpkh(" + key + "/0/*)"), Range: &[2]int64{0, 4}, Timestamp: 50,
	})
	r.importOne(t, messages.ImportItem{Desc: descriptor.AddChecksum("wpkh(" + key + "/7)"), Timestamp: 50})
	return r
}

// placeWords are places as words: "*" of the ranged descriptor, "1" of the single one, each with its index.
func placeWords(places []Place) string {
	words := make([]string, 0, len(places))
	for _, p := range places {
		kind := "1"
		if p.Descriptor.IsRanged() {
			kind = "*"
		}
		words = append(words, fmt.Sprint(kind, p.Index))
	}
	return strings.Join(words, " ")
}

// A key that is said to come from a path may be at the last step of the path of each descriptor with private keys.
func TestSpendersOfPath(t *testing.T) {
	private := spendingRig(t, expandingXprv, true)
	check := func(what string, r *rig, path []uint32, want string) {
		t.Helper()
		if got := placeWords(r.set.Spenders().OfPath(path)); got != want {
			t.Errorf("%s, path %v: places %q, want %q", what, path, got, want)
		}
	}
	check("unlocked", private, []uint32{9, 0, 3}, "*3 10")
	check("unlocked", private, []uint32{3, 4}, "*4 10")
	check("hardened", private, []uint32{3, 2 | hardenedBit}, "*2 10")
	check("behind the range", private, []uint32{0, 5}, "10")
	check("no path", private, nil, "*0 10")
	check("watched", spendingRig(t, expandingXpub, false), []uint32{0, 3}, "")
	private.vault.Encrypt(walletfile.MasterKey{ID: 1}, walletfile.NewSecret(make([]byte, 32)))
	check("unlocked again", private, []uint32{0, 3}, "*3 10")
	private.vault.Lock()
	check("locked", private, []uint32{0, 3}, "")
}

// An own script has the place of each descriptor that it is of, with private keys until the spenders are wiped.
// Other scripts have none.
func TestSpendersOfScript(t *testing.T) {
	r := spendingRig(t, expandingXprv, true)
	r.importOne(t, messages.ImportItem{
		Desc: descriptor.AddChecksum("wpkh(" + expandingXprv + "/0/3)"), Timestamp: 50,
	})
	own := expandOf(t, "wpkh("+expandingXpub+"/0/*)", 4)[3]
	spenders := r.set.Spenders()
	places := spenders.OfScript(own)
	if got := placeWords(places); got != "*3 10" {
		t.Fatalf("places %q", got)
	}
	if place, ok := spenders.Public(own); !ok || place.Index != 3 || len(place.Descriptor.PrivateKeys()) > 0 {
		t.Errorf("the public place: %v, %d", ok, place.Index)
	}
	for _, place := range places {
		if len(place.Descriptor.PrivateKeysAt(place.Index)) != 1 {
			t.Error("no private key")
		}
	}
	spenders.Wipe()
	for _, place := range places {
		for _, key := range place.Descriptor.PrivateKeys() {
			if !slices.Equal(key.Scalar[:], make([]byte, 32)) {
				t.Error("a private key is not wiped")
			}
		}
	}
	foreign := exampleScripts["p2tr"]
	if _, ok := spenders.Public(foreign); ok || spenders.OfScript(foreign) != nil {
		t.Error("a foreign script has a place")
	}
}
