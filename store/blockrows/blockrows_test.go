package blockrows_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/store/blockrows"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	s, best, err := blockrows.Open(dir)
	if err != nil || best != nil {
		t.Fatal(best, err)
	}
	a, b := chainhash.Hash{1}, chainhash.Hash{2}
	for _, put := range []struct {
		best blockrows.Best
		row  []byte
	}{
		{blockrows.Best{Block: a, Height: 0, State: []byte("one")}, []byte("row a")},
		{blockrows.Best{Block: b, Height: 1, State: []byte("two")}, []byte("row b")},
		{blockrows.Best{Block: a, Height: 0, State: []byte("one")}, nil},
	} {
		if err := s.Put(&put.best, put.row); err != nil {
			t.Fatal(err)
		}
	}
	for hash, want := range map[chainhash.Hash]string{a: "row a", b: "row b"} {
		if row, err := s.Row(&hash); err != nil || string(row) != want {
			t.Errorf("row %q, %v", row, err)
		}
	}
	if _, err := s.Row(&chainhash.Hash{9}); !errors.Is(err, blockrows.ErrNotFound) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, best, err = blockrows.Open(dir)
	if err != nil || best == nil || best.Block != a || best.Height != 0 || string(best.State) != "one" {
		t.Fatalf("%+v, %v", best, err)
	}
	if err := errors.Join(s.Forget(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if s, best, err = blockrows.Open(dir); err != nil || best != nil {
		t.Fatalf("%+v, %v", best, err)
	}
	if err := errors.Join(s.Close(), os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("nonsense"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := blockrows.Open(dir); !errors.Is(err, blockrows.ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
}
