package bip39_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/discover/bip39"
)

// The list is BIP39's English one.
func TestList(t *testing.T) {
	raw, err := os.ReadFile("english.txt")
	if err != nil {
		t.Fatal(err)
	}
	const want = "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda"
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != want {
		t.Errorf("the list has the hash %x, want %s", sum, want)
	}
}

// vectors are those that BIP39 names: entropy, words, seed with the passphrase TREZOR, master key.
func vectors(tb testing.TB) (list [][4]string) {
	tb.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil || len(list) != 24 {
		tb.Fatalf("%d vectors, %v", len(list), err)
	}
	return list
}

func TestVectors(t *testing.T) {
	net := descriptor.NetworkOf(&chaincfg.MainNetParams)
	for _, v := range vectors(t) {
		for _, words := range []string{v[1], "\t " + strings.ToUpper(strings.ReplaceAll(v[1], " ", "\n ")) + " "} {
			seed, err := bip39.Seed(words, "TREZOR")
			if err != nil || hex.EncodeToString(seed) != v[2] {
				t.Fatalf("%q: seed %x, %v; want %s", words, seed, err, v[2])
			}
			key, scalar, ok := descriptor.Master(seed)
			if text := descriptor.EncodeXPrv(key, &scalar, net); !ok || string(text) != v[3] {
				t.Errorf("%q: key %s, want %s", words, text, v[3])
			}
		}
	}
}

// All forms that Unicode has for a passphrase make the same seed.
func TestPassphrase(t *testing.T) {
	words := vectors(t)[0][1]
	seed := func(passphrase string) string {
		got, err := bip39.Seed(words, passphrase)
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	const composed, apart, wide = "Caf\u00e9", "Cafe\u0301", "\uff23af\u00e9"
	if seed(composed) != seed(apart) || seed(composed) != seed(wide) {
		t.Error("forms of a passphrase differ")
	}
	if seed(composed) == seed("Cafe") || seed("") == seed(" ") || seed("a") == seed("A") {
		t.Error("other passphrases are the same")
	}
}

func TestRefusals(t *testing.T) {
	const twelve = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
	for _, test := range []struct {
		words, text string
		is          error
	}{
		{"", "12, 15, 18, 21 or 24 words are needed, not 0", bip39.ErrCount},
		{"abandon", "12, 15, 18, 21 or 24 words are needed, not 1", bip39.ErrCount},
		{"abandon abandon about", "12, 15, 18, 21 or 24 words are needed, not 3", bip39.ErrCount},
		{twelve + " about", "12, 15, 18, 21 or 24 words are needed, not 13", bip39.ErrCount},
		{twelve + " " + twelve + " zoo zoo zoo", "12, 15, 18, 21 or 24 words are needed, not 27", bip39.ErrCount},
		{strings.Replace(twelve, "about", "abandon", 1), bip39.ErrChecksum.Error(), bip39.ErrChecksum},
		{strings.Replace(twelve, "about", "zoo", 1), bip39.ErrChecksum.Error(), bip39.ErrChecksum},
		{strings.Replace(twelve, "about", "abouts", 1), "word 12 is not in the English list of BIP39", nil},
		{"sekret " + twelve[8:], "word 1 is not in the English list of BIP39", nil},
	} {
		seed, err := bip39.Seed(test.words, "")
		if err == nil || err.Error() != test.text || seed != nil {
			t.Errorf("%q: %v, want %s", test.words, err, test.text)
		}
		if test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%q: %v is not %v", test.words, err, test.is)
		}
	}
	_, err := bip39.Seed("zoos "+twelve[8:], "")
	if w, ok := errors.AsType[*bip39.WordError](err); !ok || w.Place != 1 {
		t.Errorf("got %v", err)
	}
}

// Each number of words has as many checksums as are right: one of 2^checks last words, for each entropy.
func TestChecksums(t *testing.T) {
	raw, err := os.ReadFile("english.txt")
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Fields(string(raw))
	for n, want := range map[int]int{12: 128, 15: 64, 18: 32, 21: 16, 24: 8} {
		right := 0
		prefix := strings.Repeat("legal ", n-1)
		for _, last := range list {
			if bip39.Check(prefix+last) == nil {
				right++
			}
		}
		if right != want {
			t.Errorf("%d of 2048 last of %d words are right, want %d", right, n, want)
		}
	}
}

func FuzzSeed(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v[1], "TREZOR")
	}
	f.Add("zoo\xff \u00e9", "\x00")
	f.Fuzz(func(t *testing.T, words, passphrase string) {
		seed, err := bip39.Seed(words, passphrase)
		if (err == nil) != (len(seed) == 64) {
			t.Errorf("%d bytes, %v", len(seed), err)
		}
		long := func(word string) bool { return len(word) > 8 } // as no word of an error
		for _, word := range slices.DeleteFunc(strings.Fields(words), func(w string) bool { return !long(w) }) {
			if err != nil && strings.Contains(err.Error(), word) {
				t.Errorf("the error %q has a word", err)
			}
		}
	})
}
