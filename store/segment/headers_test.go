package segment

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Headers in any order, of several branches, are those of each block; one block that is not there
// is an error, and a record that is not the block's is damage.
func TestHeaders(t *testing.T) {
	s, entries := newStore(t, 60)
	branch := testBranch(entries[20], 1, 30)
	mustAppend(t, s, branch)
	all := append(slices.Clone(entries), branch...)
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		chosen := all
		if round > 0 {
			chosen = slices.Clone(all)
			rng.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
			chosen = chosen[:rng.IntN(len(all))]
		}
		got, err := s.Headers(blocksOf(chosen))
		if err != nil || len(got) != len(chosen) {
			t.Fatalf("%d of %d, %v", len(got), len(chosen), err)
		}
		for i := range chosen {
			if got[i] != chosen[i].Header {
				t.Fatalf("round %d: header %d is of another block", round, i)
			}
		}
	}
	if _, err := s.Headers([]chainhash.Hash{entries[3].Block, {1}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a block that is not there: %v", err)
	}
	at, err := positions(s, blocksOf(entries[4:6]))
	if err != nil {
		t.Fatal(err)
	}
	record, err := s.keys.db.Get(at[1].key(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, harm := range map[string]func() error{
		"another's": func() error { return s.keys.db.Put(at[0].key(), record, nil) },
		"short":     func() error { return s.keys.db.Put(at[0].key(), record[1:], nil) },
		"missing":   func() error { return s.keys.db.Delete(at[0].key(), nil) },
	} {
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Headers(blocksOf(entries[3:8])); !errors.Is(err, errKeys) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
