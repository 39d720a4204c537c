package descriptor_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

// TestChecksum has the valid and the invalid checksums of BIP380.
func TestChecksum(t *testing.T) {
	if sum, ok := descriptor.Checksum("raw(deadbeef)"); sum != "89f8spxm" || !ok {
		t.Errorf("checksum %q, %v", sum, ok)
	}
	for text, want := range map[string]string{
		"raw(deadbeef)#89f8spxm":     "",
		"raw(deadbeef)":              "Missing checksum",
		"raw(deadbeef)#":             "Expected 8 character checksum, not 0 characters",
		"raw(deadbeef)#89f8spxmx":    "Expected 8 character checksum, not 9 characters",
		"raw(deadbeef)#89f8spx":      "Expected 8 character checksum, not 7 characters",
		"raw(dedbeef)#89f8spxm":      "Provided checksum '89f8spxm' does not match computed checksum '9gnngwzm'",
		"raw(deadbeef)##9f8spxm":     "Multiple '#' symbols",
		"raw(Ü)#00000000":            "Invalid characters in payload",
		"raw(deadbeef)#89F8SPXM":     "Provided checksum '89F8SPXM' does not match computed checksum '89f8spxm'",
		"raw(dead\tbeef)":            "Missing checksum",
		"raw(dead\tbeef)#89f8spxm":   "Invalid characters in payload",
		"raw(deadbeef)#89f8spxm#":    "Multiple '#' symbols",
		"raw(deadbeef)#89f8 spx":     "Provided checksum '89f8 spx' does not match computed checksum '89f8spxm'",
		strings.Repeat("a", 1<<20+1): "Descriptor is longer than 1048576 characters",
	} {
		_, err := descriptor.Parse(text, mainNet, descriptor.Options{RequireChecksum: true})
		if got := errorText(err); got != want {
			t.Errorf("%.40s: got %q, want %q", text, got, want)
		}
	}
	if got := descriptor.AddChecksum("raw(deadbeef)"); got != "raw(deadbeef)#89f8spxm" {
		t.Error(got)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestVectors expands descriptors of BIP381 to BIP386, and BIP389.
func TestVectors(t *testing.T) {
	const xprv = "xprvA1RpRA33e1JQ7ifknakTFpgNXPmW2YvmhqLQYMmrj4xJXXWYpDPS3xz7iAxn8L39njGVyuoseXzU6rcxFLJ8HFsTjSyQbLYnMpCqE2VbFWc"
	for _, test := range []struct {
		text    string
		scripts []string // of index 0, or of each index from 0
	}{
		{
			"pk(03a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd)",
			[]string{"2103a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bdac"},
		},
		{
			"pk(L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1)",
			[]string{"2103a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bdac"},
		},
		{
			"pkh([deadbeef/1/2'/3/4']L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1)",
			[]string{"76a9149a1c78a507689f6f54b847ad1cef1e614ee23f1e88ac"},
		},
		{"pkh(5KYZdUEo39z3FPrtuX2QbbwGnNP5zTd7yyr2SC1j299sBCnWjss)", []string{"76a914b5bd079c4d57cc7fc28ecf8213a6b791625b818388ac"}},
		{"pkh(xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPq" +
			"m55Qn3LqFtT2emdEXVYsCzC2U/2147483647'/0)", []string{"76a914ebdc90806a9c4356c1c88e42216611e1cb4c1c1788ac"}},
		{"wpkh(L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1)", []string{"00149a1c78a507689f6f54b847ad1cef1e614ee23f1e"}},
		{"wpkh(xprv9vHkqa6EV4sPZHYqZznhT2NPtPCjKuDKGY38FBWLvgaDx45zo9WQRUT3dKYnjwih2yJD9mkrocEZXo1ex8G81dwSM1fwqWpWkeS3v86pgKt/1/2/*)", []string{
			"0014326b2249e3a25d5dc60935f044ee835d090ba859", "0014af0bd98abc2f2cae66e36896a39ffe2d32984fb7", "00141fa798efd1c" +
				"bf95cebf912c031b8a4a6e9fb9f27",
		}},
		{"sh(wpkh(xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yu" +
			"GBxrMPHi/10/20/30/40/*'))", []string{
			"a9149a4d9901d6af519b2a23d4a2f51650fcba87ce7b87", "a914bed59fc0024fae941d6e20a3b44a109ae740129287", "a9148483aa1" +
				"116eb9c05c482a72bada4b1db24af654387",
		}},
		{"combo(04a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd5b8dec5235a0fa8722476c7709c02559e3aa73a" +
			"a03918ba2d492eea75abea235)", []string{
			"4104a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd5b8dec5235a0fa8722476c7709c02559e3aa73aa03918ba2d492eea75abea235ac",
			"76a914b5bd079c4d57cc7fc28ecf8213a6b791625b818388ac",
		}},
		{"combo([01234567]xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb" +
			"5JaHWkY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL)", []string{
			"2102d2b36900396c9282fa14628566582f206a5dd0bcc8d5e892611806cafb0301f0ac",
			"76a91431a507b815593dfc51ffc7245ae7e5aee304246e88ac",
			"001431a507b815593dfc51ffc7245ae7e5aee304246e",
			"a9142aafb926eb247cb18240a7f4c07983ad1f37922687",
		}},
		{"multi(1,L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1,5KYZdUEo39z3FPrtuX2QbbwGnNP5zTd7yyr2SC1j299sBCnWjss)", []string{
			"512103a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd4104a34b99f22c790c4e36b2b3c2c35a36db06226" +
				"e41c692fc82b8b56ac1c540c5bd5b8dec5235a0fa8722476c7709c02559e3aa73aa03918ba2d492eea75abea23552ae",
		}},
		{"sortedmulti(1,04a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd5b8dec5235a0fa8722476c7709c0255" +
			"9e3aa73aa03918ba2d492eea75abea235,03a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd)", []string{
			"512103a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd4104a34b99f22c790c4e36b2b3c2c35a36db06226" +
				"e41c692fc82b8b56ac1c540c5bd5b8dec5235a0fa8722476c7709c02559e3aa73aa03918ba2d492eea75abea23552ae",
		}},
		{
			"raw(512103a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd51ae)",
			[]string{"512103a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd51ae"},
		},
		{
			"tr(a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd)",
			[]string{"512077aab6e066f8a7419c5ab714c12c67d25007ed55a43cadcacb4d7a970a093f11"},
		},
		{"tr(xprvA1RpRA33e1JQ7ifknakTFpgNXPmW2YvmhqLQYMmrj4xJXXWYpDPS3xz7iAxn8L39njGVyuoseXz" +
			"U6rcxFLJ8HFsTjSyQbLYnMpCqE2VbFWc/0/*,pk(" + xprv + "/1/*))", []string{
			"512078bc707124daa551b65af74de2ec128b7525e10f374dc67b64e00ce0ab8b3e12", "512001f0a02a17808c20134b78faab80ef93ffb" +
				"a82261ccef0a2314f5d62b6438f11",
			"512021024954fcec88237a9386fce80ef2ced5f1e91b422b26c59ccfc174c8d1ad25",
		}},
		{"tr(a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd," +
			"pk(669b8afcec803a0d323e9a17f3ea8e68e8abe5a278020a929adbec52421adbd0))", []string{"512017cf18db381d836d8923b1bdb" +
			"246cfcd818da1a9f0e6e7907f187f0b2f937754"}},
		{"tr(a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd,multi_a(1," +
			"669b8afcec803a0d323e9a17f3ea8e68e8abe5a278020a929adbec52421adbd0))", []string{"5120eb5bd3894327d75093891cc3a625" +
			"06df7d58ec137fcd104cdd285d67816074f3"}},
	} {
		d := parse(t, test.text, mainNet)
		var got []string
		for index := uint32(0); len(got) < len(test.scripts); index++ {
			scripts, err := d.Expand(index)
			if err != nil {
				t.Fatalf("%s: %v", test.text, err)
			}
			for _, script := range scripts {
				got = append(got, hex.EncodeToString(script))
			}
		}
		if strings.Join(got, " ") != strings.Join(test.scripts, " ") {
			t.Errorf("%s\n got %v\nwant %v", test.text, got, test.scripts)
		}
	}
}

// bip341Tree is a script tree of the vectors: a leaf or a pair.
type bip341Tree struct {
	Script string `json:"script"`
	pair   []bip341Tree
}

// UnmarshalJSON reads an object as a leaf and an array as a pair.
func (b *bip341Tree) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, &b.pair)
	}
	type leaf bip341Tree
	return json.Unmarshal(raw, (*leaf)(b))
}

// text prints the tree, if its leaves have the form of pk(KEY).
func (b *bip341Tree) text() (string, bool) {
	if len(b.pair) == 2 {
		left, ok1 := b.pair[0].text()
		right, ok2 := b.pair[1].text()
		return "{" + left + "," + right + "}", ok1 && ok2
	}
	ok := len(b.Script) == 68 && strings.HasPrefix(b.Script, "20") && strings.HasSuffix(b.Script, "ac")
	if !ok {
		return "", false
	}
	return "pk(" + b.Script[2:66] + ")", true
}

// TestBIP341 computes the output keys of the BIP's wallet test vectors.
func TestBIP341(t *testing.T) {
	raw, err := os.ReadFile("testdata/bip-0341-wallet-test-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		ScriptPubKey []struct {
			Given struct {
				InternalPubkey string
				ScriptTree     *bip341Tree
			}
			Expected struct{ ScriptPubKey, BIP350Address string }
		}
	}
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, v := range vectors.ScriptPubKey {
		text := "tr(" + v.Given.InternalPubkey + ")"
		if v.Given.ScriptTree != nil {
			tree, ok := v.Given.ScriptTree.text()
			if !ok {
				continue // leaves that no descriptor describes
			}
			text = "tr(" + v.Given.InternalPubkey + "," + tree + ")"
		}
		played++
		scripts, err := parse(t, text, mainNet).Expand(0)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(scripts[0]); got != v.Expected.ScriptPubKey {
			t.Errorf("%s: got %s, want %s", text, got, v.Expected.ScriptPubKey)
		}
		if got, _ := descriptor.AddressOf(scripts[0], mainNet); got != v.Expected.BIP350Address {
			t.Errorf("%s: got %s, want %s", text, got, v.Expected.BIP350Address)
		}
	}
	if played < 4 {
		t.Errorf("played only %d vectors", played)
	}
}

// TestMultipath has the examples of BIP389.
func TestMultipath(t *testing.T) {
	const xpub = "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB"
	branches, err := descriptor.Parse("wpkh("+xpub+"/<0;1>/*)", mainNet, descriptor.Options{})
	if err != nil || len(branches) != 2 {
		t.Fatal(len(branches), err)
	}
	for i, want := range []string{"/0/*)", "/1/*)"} {
		if got := branches[i].String(); !strings.Contains(got, want) {
			t.Errorf("branch %d: %s", i, got)
		}
	}
	if branches[0].String() == branches[1].String() {
		t.Error("branches are equal")
	}
}

func TestNeedsPrivateKey(t *testing.T) {
	const xpub = "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB"
	for _, text := range []string{"wpkh(" + xpub + "/0h)", "wpkh(" + xpub + "/*h)"} {
		d := parse(t, text, mainNet)
		if _, err := d.Expand(0); !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
			t.Errorf("%s: %v", text, err)
		}
		visit := func(uint32, [][]byte) error { return nil }
		if err := d.ExpandRange(t.Context(), 0, 5, 2, visit); !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
