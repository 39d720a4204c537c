package txindex_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/store/txindex"
)

func open(t *testing.T, dir string) *txindex.Store {
	t.Helper()
	s, err := txindex.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, _, ok := s.Best(); ok {
		t.Error("a new index has a best block")
	}
	block := func(n byte) *chainhash.Hash { return &chainhash.Hash{n} }
	tx := func(n byte) chainhash.Hash { return chainhash.Hash{n, 1} }
	for _, step := range []func() error{
		func() error { return s.Add(block(1), 0, []chainhash.Hash{tx(1)}) },
		func() error { return s.Add(block(2), 1, []chainhash.Hash{tx(2), tx(3), tx(4)}) },
		func() error { return s.Back(block(1), 0) },
		func() error { return s.Add(block(5), 1, []chainhash.Hash{tx(5), tx(4)}) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if hash, height, ok := s.Best(); hash != *block(5) || height != 1 || !ok {
			t.Errorf("best block %v at %d", hash, height)
		}
		for n, want := range map[byte]struct{ block, index byte }{1: {1, 0}, 2: {2, 0}, 3: {2, 1}, 4: {5, 1}, 5: {5, 0}} {
			hash := tx(n)
			got, index, err := s.Find(&hash)
			if err != nil || got != *block(want.block) || index != int(want.index) {
				t.Errorf("transaction %d: block %v, index %d, %v", n, got, index, err)
			}
		}
		if _, _, err := s.Find(&chainhash.Hash{9}); !errors.Is(err, txindex.ErrNotFound) {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, dir)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := txindex.Open(dir); !errors.Is(err, txindex.ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
}
