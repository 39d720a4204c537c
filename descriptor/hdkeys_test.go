package descriptor_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
)

// The first vector of BIP32: the root, and its child m/0'.
const (
	rootXPrv = "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiC" +
		"hkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"
	rootXPub = "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2g" +
		"Z29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"
	nextXPrv = "xprv9uHRZZhk6KAJC1avXpDAp4MDc3sQKNxDiPvvkX8Br5ngLNv1TxvUxt4c" +
		"V1rGL5hj6KCesnDYUhd7oWgT11eZG7XnxHrnYeSvkzY7d2bhkJ7"
	nextXPub = "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6" +
		"LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw"
)

// unused(KEY) has a key, and no scripts.
func TestUnused(t *testing.T) {
	t.Parallel()
	net := descriptor.NetworkOf(&chaincfg.MainNetParams)
	branches, err := descriptor.Parse("unused("+rootXPrv+")", net, descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := branches[0]
	if want := descriptor.AddChecksum("unused(" + rootXPub + ")"); d.String() != want {
		t.Errorf("%s, want %s", d, want)
	}
	text, private := d.PrivateText()
	if want := descriptor.AddChecksum("unused(" + rootXPrv + ")"); string(text) != want || !private {
		t.Errorf("with its private key: %s", text)
	}
	if text, err := d.NormalizedString(); err != nil || text != d.String() {
		t.Errorf("normal: %s, %v", text, err)
	}
	if scripts, err := d.Expand(0); err != nil || len(scripts) != 0 || descriptor.HasScripts(d) {
		t.Errorf("%x, %v", scripts, err)
	}
	visits := 0
	err = d.ExpandRange(t.Context(), 0, 0, 1, func(_ uint32, scripts [][]byte) error {
		visits += 1 + len(scripts)
		return nil
	})
	if err != nil || visits != 1 {
		t.Errorf("%d, %v", visits, err)
	}
	if d.IsRanged() || !d.IsSingleType() || !d.IsSolvable() || !d.HasAllPrivateKeys() ||
		d.OutputType() != descriptor.Unknown {
		t.Error("it counts as something else")
	}
	other, err := descriptor.Parse("pkh("+rootXPub+")", net, descriptor.Options{})
	if err != nil || !descriptor.HasScripts(other[0]) {
		t.Errorf("pkh() has no scripts: %v", err)
	}
	net.Dialect = descriptor.P2MR
	if _, err := descriptor.Parse("unused("+rootXPub+")", net, descriptor.Options{}); err == nil ||
		!strings.Contains(err.Error(), "is not a valid descriptor function") {
		t.Errorf("in the other dialect: %v", err)
	}
}

// Extended private keys are read, and derived with their chain codes.
func TestXPrv(t *testing.T) {
	t.Parallel()
	net := descriptor.NetworkOf(&chaincfg.MainNetParams)
	root, scalar, ok := descriptor.ParseXPrv(rootXPrv, net)
	if !ok || descriptor.EncodeXPub(root, net) != rootXPub ||
		string(descriptor.EncodeXPrv(root, &scalar, net)) != rootXPrv {
		t.Fatalf("%x, %v", root, ok)
	}
	path, ok := descriptor.ParseHDPath("m/0'")
	if !ok {
		t.Fatal("no path")
	}
	child, secret, ok := descriptor.DeriveXPrv(&root, &scalar, path)
	if !ok || descriptor.EncodeXPub(child, net) != nextXPub ||
		string(descriptor.EncodeXPrv(child, &secret, net)) != nextXPrv {
		t.Errorf("%x, %v", child, ok)
	}
	if origin := descriptor.KeyOrigin(&root, append(path, 7)); origin != "[3442193e/0h/7]" {
		t.Error(origin)
	}
	if _, _, ok := descriptor.DeriveXPrv(&root, &scalar, make([]uint32, 256)); ok {
		t.Error("256 steps")
	}
	if _, _, ok := descriptor.DeriveXPrv(&root, new([32]byte), path); ok {
		t.Error("without a private key")
	}
	damaged := strings.Replace(rootXPrv, "H", "J", 1)
	for _, text := range []string{"", rootXPub, damaged, rootXPrv[1:], hex.EncodeToString(scalar[:])} {
		if _, _, ok := descriptor.ParseXPrv(text, net); ok {
			t.Errorf("%s is taken", text)
		}
	}
	if _, _, ok := descriptor.ParseXPrv(rootXPrv, regtest); ok {
		t.Error("a key of another network is taken")
	}
}

func TestHDPath(t *testing.T) {
	t.Parallel()
	const hardened = 1 << 31
	for text, want := range map[string][]uint32{
		"": {}, "m": {}, "m/": {},
		"m/87h/0'/2147483647": {87 | hardened, hardened, hardened - 1}, "1/2h": {1, 2 | hardened},
		"m/1/": {1},
	} {
		got, ok := descriptor.ParseHDPath(text)
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
		if descriptor.IsHardenedPath(got) != slices.ContainsFunc(want, func(n uint32) bool { return n >= hardened }) {
			t.Errorf("%q: hardened or not", text)
		}
	}
	for _, text := range []string{
		"/", "m//", "/1", "m/m", "1/m", "M/1", "m/h", "m/1hh", "m/1'h", "m/h1", "m/+1", "m/-1", "m/1 ", "m/0x1", "m/*",
		"m/2147483648", "m/2147483648h", "m/99999999999999999999",
	} {
		if path, ok := descriptor.ParseHDPath(text); ok {
			t.Errorf("%q: %v", text, path)
		}
	}
}
