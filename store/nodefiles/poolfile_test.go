package nodefiles_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/nodefiles"
)

func content() *nodefiles.PoolContent {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: 1}, SignatureScript: []byte{}, Witness: wire.TxWitness{{1, 2}},
	})
	tx.AddTxOut(wire.NewTxOut(5, []byte{0x51}))
	return &nodefiles.PoolContent{
		Txs:         []nodefiles.PoolTx{{Tx: tx, Time: 1_700_000_000, Delta: -7}},
		Deltas:      map[chainhash.Hash]int64{{3}: 9},
		Unbroadcast: []chainhash.Hash{tx.TxHash()},
	}
}

// load reads a file in small parts.
func load(path string) (*nodefiles.PoolContent, error) {
	r, err := nodefiles.OpenPool(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	all := &nodefiles.PoolContent{Deltas: make(map[chainhash.Hash]int64)}
	for {
		c, err := r.Next(1)
		all.Txs = append(all.Txs, c.Txs...)
		maps.Copy(all.Deltas, c.Deltas)
		all.Unbroadcast = append(all.Unbroadcast, c.Unbroadcast...)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

// A file without an end is read in a bounded amount of memory.
func TestEndlessFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mempool.dat")
	if err := nodefiles.SavePool(path, content(), true); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tx := raw[16 : len(raw)-(1+40+1+32)]
	binary.LittleEndian.PutUint64(raw[8:], 1<<40)
	r, err := nodefiles.NewPoolReader(io.MultiReader(bytes.NewReader(raw[:16]), &endless{of: tx}))
	if err != nil {
		t.Fatal(err)
	}
	const step = 1 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 12 {
		if c, err := r.Next(step); err != nil || len(c.Txs)*len(tx) < step {
			t.Fatalf("%d transactions, %v", len(c.Txs), err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("%d bytes more after 12 parts", grown)
	}
	for _, path := range []string{"/dev/zero", t.TempDir()} {
		if _, err := nodefiles.OpenPool(path); !errors.Is(err, vfs.ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// endless repeats bytes.
type endless struct {
	of []byte
	at int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.of[e.at]
		e.at = (e.at + 1) % len(e.of)
	}
	return len(p), nil
}

// A saved pool is read back, in both formats, and no other file is left beside
// it.
func TestSaveAndLoad(t *testing.T) {
	for _, old := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "mempool.dat")
		for range 2 {
			if err := nodefiles.SavePool(path, content(), old); err != nil {
				t.Fatal(err)
			}
		}
		got, err := load(path)
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
	if err := nodefiles.SavePool(path, content(), false); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range raw {
		got, err := nodefiles.ParsePool(append([]byte(nil), raw[:n]...))
		if !errors.Is(err, nodefiles.ErrPoolFormat) || len(got.Txs) > 1 {
			t.Fatalf("%d of %d bytes: %v", n, len(raw), err)
		}
	}
	if _, err := nodefiles.OpenPool(path + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Reading a file of any content ends, and takes no more memory than the file.
func FuzzParse(f *testing.F) {
	path := filepath.Join(f.TempDir(), "mempool.dat")
	for _, old := range []bool{false, true} {
		if err := nodefiles.SavePool(path, content(), old); err != nil {
			f.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := nodefiles.ParsePool(append([]byte(nil), raw...))
		if err == nil && len(c.Txs)+len(c.Deltas)+len(c.Unbroadcast) > len(raw) {
			t.Error("more than there was")
		}
	})
}
