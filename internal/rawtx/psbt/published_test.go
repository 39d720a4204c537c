package psbt_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// published are the packets that a BIP publishes.
type published struct {
	Valid, Invalid []string
	LockTimes      map[string][]string // by the lock time; "none" where there is none
}

func readPublished(tb testing.TB) map[string]published {
	tb.Helper()
	raw, err := os.ReadFile("testdata/bips.json")
	if err != nil {
		tb.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		tb.Fatal(err)
	}
	bips := make(map[string]published)
	for _, name := range []string{"bip174", "bip371", "bip373", "bip370"} {
		var p published
		if err := json.Unmarshal(all[name], &p); err != nil {
			tb.Fatal(err)
		}
		bips[name] = p
	}
	return bips
}

// The BIPs' valid packets are read with all their fields, and their invalid packets are refused.
func TestPublished(t *testing.T) {
	for name, bip := range readPublished(t) {
		if len(bip.Valid) < 6 || len(bip.Invalid) < 10 {
			t.Fatalf("%s: %d valid, %d invalid", name, len(bip.Valid), len(bip.Invalid))
		}
		for i, text := range bip.Valid {
			p, err := psbt.Decode(text)
			if err != nil {
				t.Errorf("%s, valid %d: %v", name, i, err)
				continue
			}
			again, err := psbt.Decode(p.Encode())
			if err != nil {
				t.Errorf("%s, valid %d, written: %v", name, i, err)
				continue
			}
			for k := range p.Inputs {
				sameKeys(t, p.Inputs[k], again.Inputs[k])
			}
			for k := range p.Outputs {
				sameKeys(t, p.Outputs[k], again.Outputs[k])
			}
			sameKeys(t, p.Global, again.Global)
		}
		for i, text := range bip.Invalid {
			if _, err := psbt.DecodeCore32(text); err == nil {
				t.Errorf("%s, invalid %d: read", name, i)
			}
			if _, err := psbt.Decode(text); err == nil && name != "bip370" { // see TestPublishedV2
				t.Errorf("%s, invalid %d: read", name, i)
			}
		}
	}
}

// sameKeys compares the keys of two maps.
func sameKeys(t *testing.T, a, b psbt.Map) {
	t.Helper()
	keys := func(m psbt.Map) []string {
		var all []string
		for _, e := range m {
			all = append(all, string(e.Key))
		}
		slices.Sort(all)
		return all
	}
	if !slices.Equal(keys(a), keys(b)) {
		t.Errorf("fields %x became %x", keys(a), keys(b))
	}
}

// hasLooseKey reports whether a map has a public key of MuSig2 that is none, for which nothing is written.
func hasLooseKey(m psbt.Map) bool {
	return slices.ContainsFunc(m, func(e psbt.Entry) bool {
		return bytes.Contains(e.Data, bytes.Repeat([]byte{0xff}, 33))
	})
}

// FuzzRoles: a packet can be written, and is the same when it is read again. Combined with itself it does
// not change. Joined with itself it is refused if it has inputs, and has all outputs twice otherwise.
func FuzzRoles(f *testing.F) {
	for _, bip := range readPublished(f) {
		for _, text := range slices.Concat(bip.Valid, bip.Invalid) {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := psbt.Decode(text)
		if err != nil {
			return
		}
		first := p.Encode()
		again, err := psbt.Decode(first)
		if err != nil {
			if !slices.ContainsFunc(slices.Concat(p.Inputs, p.Outputs), hasLooseKey) {
				t.Fatalf("%s is written as %s: %v", text, first, err)
			}
			return
		}
		if second := again.Encode(); second != first {
			t.Fatalf("%s is written as %s, then as %s", text, first, second)
		}
		if p.Combine(again) == p.NoTx || p.Encode() != first {
			t.Fatalf("%s combined with itself is %s", first, p.Encode())
		}
		for i := range p.Inputs {
			p.Coin(i)
		}
		if p.Version != 0 {
			return
		}
		joined, twice := psbt.Join([]*psbt.Packet{p, again})
		if (twice == nil) != (len(p.Tx.TxIn) == 0) {
			t.Fatalf("%s joined with itself: %v", first, twice)
		}
		if twice == nil && len(joined.Outputs) != 2*len(again.Outputs) {
			t.Fatalf("joined %d outputs with as many: %d", len(again.Outputs), len(joined.Outputs))
		}
	})
}
