package coinfile_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/coinfile"
)

var (
	magic = [4]byte{0xfa, 0xbf, 0xb5, 0xda}
	block = chainhash.Hash{0xbb}
)

// written has a writer add two transactions, whose outputs come in another order.
func written(w *coinfile.Writer) error {
	for _, c := range []struct {
		tx    byte
		index uint32
		coin  blockfile.Coin
	}{
		{1, 300, blockfile.Coin{Height: 5, Amount: 100_000_000, Script: []byte{0x51}}},
		{1, 0, blockfile.Coin{Height: 5, Coinbase: true, Amount: 1, Script: []byte{0x51, 0x52}}},
		{2, 7, blockfile.Coin{Height: 200, Script: append(append([]byte{0xa9, 20}, make([]byte, 20)...), 0x87)}},
	} {
		if err := w.Add(&wire.OutPoint{Hash: chainhash.Hash{c.tx}, Index: c.index}, c.coin); err != nil {
			return err
		}
	}
	return nil
}

// The bytes are those of the format: checked by hand against Bitcoin Core's serialization.
var want = "7574786fff" + "0200" + "fabfb5da" + "bb" + strings.Repeat("00", 31) + "0300000000000000" +
	"01" + strings.Repeat("00", 31) + "02" +
	"00" + "0b" + "01" + "08" + "5152" + // index 0; height 5, coinbase; 1 satoshi; a script of 2
	"fd2c01" + "0a" + "09" + "07" + "51" + // index 300; height 5; a whole coin
	"02" + strings.Repeat("00", 31) + "01" +
	"07" + "8210" + "00" + "01" + strings.Repeat("00", 20)

func TestFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coins")
	if err := os.WriteFile(path+coinfile.Incomplete, bytes.Repeat([]byte{1}, 10_000), 0o600); err != nil {
		t.Fatal(err) // what a kill has left
	}
	w, err := coinfile.Create(vfs.OS, path, magic, &block)
	if err == nil {
		err = written(w)
	}
	if err != nil {
		t.Fatal(err)
	}
	if w.Count() != 3 {
		t.Errorf("%d outputs", w.Count())
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil || hex.EncodeToString(content) != want {
		t.Errorf("got  %x, %v\nwant %s", content, err, want)
	}
	if _, err := coinfile.Create(vfs.OS, path, magic, &block); !errors.Is(err, coinfile.ErrExists) {
		t.Errorf("again: %v", err)
	}
	if _, err := coinfile.Create(vfs.OS, filepath.Join(path, "x"), magic, &block); !errors.Is(err, coinfile.ErrCreate) {
		t.Errorf("below a file: %v", err)
	}
}

// Transactions out of order would give a file with another hash than its outputs have.
func TestOrder(t *testing.T) {
	w, err := coinfile.Create(vfs.OS, filepath.Join(t.TempDir(), "coins"), magic, &block)
	if err != nil {
		t.Fatal(err)
	}
	coin := blockfile.Coin{Script: []byte{0x51}}
	if err := w.Add(&wire.OutPoint{Hash: chainhash.Hash{2}}, coin); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(&wire.OutPoint{Hash: chainhash.Hash{1}}, coin); err == nil {
		t.Error("taken")
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
}

// Whichever call fails, once or with all calls after it, and wherever the power is lost,
// the file has its name only when it is whole. After Finish without an error the whole file
// is there.
func TestFaults(t *testing.T) {
	broken := errors.New("injected")
	faults := map[string]func(int, error) func(faultfs.Op) error{"one": faultfs.Nth, "all": faultfs.From}
	for name, fault := range faults {
		for nth := range 12 {
			disk, path := faultfs.New(), filepath.Join(t.TempDir(), "coins")
			disk.Inject(fault(nth, broken))
			w, err := coinfile.Create(disk, path, magic, &block)
			if err == nil {
				if err = written(w); err == nil {
					err = w.Finish()
				}
			}
			disk.Inject(nil)
			if nth > 1 { // the name is durable by then
				if lost := disk.PowerLoss(rand.New(rand.NewPCG(1, uint64(nth)))); lost != nil {
					t.Fatal(lost)
				}
			}
			content, missing := os.ReadFile(path)
			if (err == nil || missing == nil) && hex.EncodeToString(content) != want {
				t.Errorf("%s from call %d: %v, then %x, %v", name, nth, err, content, missing)
			}
			if _, left := os.Stat(path + coinfile.Incomplete); name == "one" && err != nil && nth <= 1 && left == nil {
				t.Errorf("call %d: an incomplete file is left", nth)
			}
		}
	}
}
