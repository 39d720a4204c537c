package descriptor_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/base58"

	"github.com/seed61375155/trawl/descriptor"
)

// walletVectors are what wallets of Core say of descriptors.
type walletVectors struct {
	Normalized []struct{ Private, Public string }
	Addresses  []struct{ Address, Descriptor, Path, Fingerprint string }
}

func readWalletVectors(tb testing.TB) (v walletVectors) {
	tb.Helper()
	raw, err := os.ReadFile("testdata/wallets.json")
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		tb.Fatal(err)
	}
	return v
}

func TestNormalizedWallets(t *testing.T) {
	for _, v := range readWalletVectors(t).Normalized {
		if got, err := parse(t, v.Private, regtest).NormalizedString(); got != v.Public || err != nil {
			t.Errorf("%s\n got %s, %v\nwant %s", v.Private, got, err, v.Public)
		}
	}
}

// TestNormalized has the rules one by one. KEY is an extended private key, and
// its public key in the result; the key behind 1h is HARDENED there.
func TestNormalized(t *testing.T) {
	const hardened = "xpub69H7F5dGf6xezSuMuSeE9bH5sqqDKFa3i3b8QemmjrwWABWb9D1yNLFXNNvf4QVadLgej96WANruapY3JqpZ8y9Tzfxd18Dh1cDyixkAosc"
	for text, want := range map[string]string{
		"wpkh(KEY)":                               "wpkh(KEY)",
		"wpkh(KEY/1'/2/*)":                        "wpkh([bd16bee5/1h]HARDENED/2/*)",
		"wpkh(KEY/1h)":                            "wpkh([bd16bee5/1h]HARDENED)",
		"wpkh(KEY/2/1/*h)":                        "wpkh(KEY/2/1/*h)",
		"wpkh([d34db33f/44']KEY/2/*')":            "wpkh([d34db33f/44h]KEY/2/*h)",
		"wpkh([d34db33f/44'/7]KEY/1'/2/*)":        "wpkh([d34db33f/44h/7/1h]HARDENED/2/*)",
		"wpkh([d34db33f/44']" + testKey + ")":     "wpkh([d34db33f/44h]" + testKey + ")",
		"tr(musig(KEY/1h,[d34db33f]KEY/1')/3)":    "tr(musig([bd16bee5/1h]HARDENED,[d34db33f/1h]HARDENED)/3)",
		"wsh(and_v(v:pk(KEY/1'/2/*),older(1)))":   "wsh(and_v(v:pk(KEY/1'/2/*),older(1)))",
		"tr(KEY/1h,{pk(KEY/1'/3),pkh(KEY/1'/4)})": "tr([bd16bee5/1h]HARDENED,{pk([bd16bee5/1h]HARDENED/3),pkh(KEY/1'/4)})",
	} {
		d := parse(t, strings.ReplaceAll(text, "KEY", testXprv), mainNet)
		got, err := d.NormalizedString()
		want = strings.ReplaceAll(strings.ReplaceAll(want, "KEY", testXpub), "HARDENED", hardened)
		if body, _, _ := strings.Cut(got, "#"); body != want || err != nil {
			t.Errorf("%s\n got %s, %v\nwant %s", text, body, err, want)
		}
	}
	d := parse(t, "wsh(and_v(v:pk("+testXprv+"/1'/2/*),older(1)))", mainNet)
	want := "wsh(and_v(v:pk([bd16bee5/1h]" + hardened + "/2/*),older(1)))"
	if got, err := descriptor.NormalizedPolicies(d); strings.TrimSuffix(got, got[len(got)-9:]) != want || err != nil {
		t.Errorf("within miniscript: got %s, %v", got, err)
	}
	d = parse(t, "wpkh("+testXpub+"/1h/*)", mainNet)
	if got, err := d.NormalizedString(); !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
		t.Errorf("without private key: %s, %v", got, err)
	}
}

func TestKeysAtWallets(t *testing.T) {
	played := 0
	for _, v := range readWalletVectors(t).Addresses {
		steps := strings.Split(v.Path, "/")
		index, err := strconv.ParseUint(steps[len(steps)-1], 10, 31)
		if err != nil && len(steps) > 1 {
			continue // hardened: there is no private key
		}
		keys, err := parse(t, v.Descriptor, regtest).KeysAt(uint32(index))
		if err != nil {
			t.Errorf("%s: %v", v.Descriptor, err)
			continue
		}
		want := "[" + v.Fingerprint + strings.TrimPrefix(v.Path, "m") + "]"
		if got := keys[0].String(); len(keys) != 1 || !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", v.Descriptor, got, want)
		}
		played++
	}
	if played < 10 {
		t.Errorf("played only %d", played)
	}
}

// TestKeysAt numbers participants of a musig before the musig itself.
func TestKeysAt(t *testing.T) {
	d := parse(t, "tr(musig([d34db33f/7h]"+testXpub+"/1,"+testXpub+"/<2;3>)/4/*,pk("+testKey+"))", mainNet)
	keys, err := d.KeysAt(9)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, key := range keys {
		if key.Expression != i {
			t.Errorf("key %d has number %d", i, key.Expression)
		}
		origin, _, _ := strings.Cut(key.String(), "]")
		got = append(got, origin)
	}
	want := []string{"[d34db33f/7h/1", "[bd16bee5/2", got[2], "[9a1c78a5"}
	if !slices.Equal(got, want) || !strings.HasSuffix(got[2], "/4/9") {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := d.KeysAt(descriptor.MaxIndex + 1); !errors.Is(err, descriptor.ErrNotDerivable) {
		t.Errorf("index too high: %v", err)
	}
}

// TestPrivateKeys reads the public text together with the private key.
func TestPrivateKeys(t *testing.T) {
	private := parse(t, "wsh(and_v(v:pk("+testXprv+"/1h/*),older(4)))", mainNet)
	text, _ := private.PrivateText()
	want := string(text)
	raw := base58.Decode(testXprv)
	scalar := [32]byte(raw[len(raw)-4-32:]) // in front of the checksum
	branches, err := descriptor.Parse(private.String(), mainNet, descriptor.Options{
		PrivateKeys: []descriptor.PrivateKey{{}, {Scalar: scalar, Compressed: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, complete := branches[0].PrivateText(); string(got) != want || !complete {
		t.Errorf("got %s, %v, want %s", got, complete, want)
	}
	if branches[0].HasPrivateKeys() {
		t.Error("the text has private keys")
	}
}
