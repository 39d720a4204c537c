package script

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/curve"
)

// Wycheproof's vectors are of ECDSA as Bitcoin relays it: strict in form, and S low.
func TestWycheproof(t *testing.T) {
	var file struct {
		NumberOfTests int
		TestGroups    []struct {
			PublicKey struct{ Uncompressed string }
			Tests     []struct {
				TcID                      int
				Comment, Msg, Sig, Result string
			}
		}
	}
	if err := json.Unmarshal(unpack(t, "ecdsa_secp256k1_sha256_bitcoin_test.json"), &file); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, group := range file.TestGroups {
		key := unhex(t, group.PublicKey.Uncompressed)
		for _, test := range group.Tests {
			tried++
			sig, hash := unhex(t, test.Sig), sha256.Sum256(unhex(t, test.Msg))
			form := (StrictEnc | LowS).checkSigEncoding(append(sig[:len(sig):len(sig)], hashAll))
			got := len(sig) > 0 && form == none && VerifyECDSA(key, sig, &hash)
			if got != (test.Result == "valid") {
				t.Errorf("%d (%s): %t", test.TcID, test.Comment, got)
			}
		}
	}
	if tried != file.NumberOfTests || tried != 463 {
		t.Errorf("%d vectors", tried)
	}
}

// BIP340's vectors, those of messages of other lengths too.
func TestBIP340(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(string(unpack(t, "bip340.csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		key, message, sig := unhex(t, row[2]), unhex(t, row[4]), unhex(t, row[5])
		if got := verifySchnorr(key, sig, message); got != (row[6] == "TRUE") {
			t.Errorf("%s (%s): %t", row[0], row[7], got)
		}
	}
	if len(rows) != 1+19 {
		t.Errorf("%d rows", len(rows))
	}
}

// libsecp256k1's keys at the edges: points, an x with another y, and no x of any.
func TestKeysAtEdges(t *testing.T) {
	text, err := os.ReadFile("testdata/libsecp256k1_keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	is := func(first byte, key []byte) bool {
		return new(curve.Point).SetPublicKey(append([]byte{first}, key...))
	}
	for line := range strings.Lines(string(text)) {
		kind, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		key := unhex(t, digits)
		whole, x, odd := kind == "point", kind != "none", key[63]&1 == 1
		for first, want := range map[byte]bool{
			4: whole, 6: whole && !odd, 7: whole && odd, 0: false, 2: false, 3: false, 5: false,
		} {
			if is(first, key) != want {
				t.Errorf("%x of %s: %t", first, line, !want)
			}
		}
		for first, want := range map[byte]bool{2: x, 3: x, 0: false, 1: false, 4: false, 5: false, 6: false, 7: false} {
			if is(first, key[:32]) != want {
				t.Errorf("%x of the x of %s: %t", first, line, !want)
			}
		}
	}
}
