package poolfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/store/poolfile"
)

func content() *poolfile.Content {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: 1}, SignatureScript: []byte{}, Witness: wire.TxWitness{{1, 2}}})
	tx.AddTxOut(wire.NewTxOut(5, []byte{0x51}))
	return &poolfile.Content{
		Txs:         []poolfile.Tx{{Tx: tx, Time: 1_700_000_000, Delta: -7}},
		Deltas:      map[chainhash.Hash]int64{{3}: 9},
		Unbroadcast: []chainhash.Hash{tx.TxHash()},
	}
}

// What is saved is read back, in both formats, and nothing is left beside it.
func TestSaveAndLoad(t *testing.T) {
	for _, old := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "mempool.dat")
		for range 2 {
			if err := poolfile.Save(path, content(), old); err != nil {
				t.Fatal(err)
			}
		}
		got, err := poolfile.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		want := content()
		if got.Txs[0].Tx.WitnessHash() != want.Txs[0].Tx.WitnessHash() {
			t.Error("another transaction")
		}
		got.Txs[0].Tx = want.Txs[0].Tx
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if files, _ := os.ReadDir(dir); len(files) != 1 {
			t.Errorf("%d files", len(files))
		}
	}
}

// A file that is cut short yields what is whole, and an error.
func TestCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mempool.dat")
	if err := poolfile.Save(path, content(), false); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range raw {
		got, err := poolfile.Parse(append([]byte(nil), raw[:n]...))
		if !errors.Is(err, poolfile.ErrFormat) || len(got.Txs) > 1 {
			t.Fatalf("%d of %d bytes: %v", n, len(raw), err)
		}
	}
	if _, err := poolfile.Load(path + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Whatever a file holds, reading it ends, and takes no more memory than the file.
func FuzzParse(f *testing.F) {
	path := filepath.Join(f.TempDir(), "mempool.dat")
	for _, old := range []bool{false, true} {
		if err := poolfile.Save(path, content(), old); err != nil {
			f.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := poolfile.Parse(append([]byte(nil), raw...))
		if err == nil && len(c.Txs)+len(c.Deltas)+len(c.Unbroadcast) > len(raw) {
			t.Error("more than there was")
		}
	})
}
