package descriptor

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

func readVectors(tb testing.TB, name string, into any) {
	tb.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		tb.Fatal(err)
	}
}

func unhex(tb testing.TB, texts []string) (all [][]byte) {
	tb.Helper()
	for _, text := range texts {
		raw, err := hex.DecodeString(text)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, raw)
	}
	return all
}

func TestAggregate(t *testing.T) {
	var vectors struct {
		Pubkeys        []string
		ValidTestCases []struct {
			KeyIndices []int `json:"key_indices"`
			Expected   string
		} `json:"valid_test_cases"`
		ErrorTestCases []struct {
			KeyIndices []int `json:"key_indices"`
			Error      struct{ Contrib string }
		} `json:"error_test_cases"`
	}
	readVectors(t, "bip-0327-key_agg_vectors.json", &vectors)
	keys := unhex(t, vectors.Pubkeys)
	pick := func(indices []int) (picked [][]byte) {
		for _, i := range indices {
			picked = append(picked, keys[i])
		}
		return picked
	}
	for _, v := range vectors.ValidTestCases {
		got, err := aggregateInOrder(pick(v.KeyIndices))
		if err != nil || strings.ToUpper(hex.EncodeToString(got[1:])) != v.Expected {
			t.Errorf("%v: got %x, %v, want %s", v.KeyIndices, got, err, v.Expected)
		}
	}
	for _, v := range vectors.ErrorTestCases {
		if v.Error.Contrib != "pubkey" {
			continue // about tweaks
		}
		if got, err := aggregateInOrder(pick(v.KeyIndices)); !errors.Is(err, errMusigKey) {
			t.Errorf("%v: got %x, %v", v.KeyIndices, got, err)
		}
	}
	if len(vectors.ValidTestCases) < 4 || len(vectors.ErrorTestCases) < 3 {
		t.Error("vectors are missing")
	}
}

func TestSort(t *testing.T) {
	var vectors struct {
		Pubkeys []string
		Sorted  []string `json:"sorted_pubkeys"`
	}
	readVectors(t, "bip-0327-key_sort_vectors.json", &vectors)
	got, want := unhex(t, vectors.Pubkeys), unhex(t, vectors.Sorted)
	sortKeys(got)
	if len(want) == 0 || !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestChainCode(t *testing.T) {
	if want := sha256.Sum256([]byte("MuSig2MuSig2MuSig2")); musigChainCode != want {
		t.Errorf("got %x, want %x", musigChainCode, want)
	}
}
