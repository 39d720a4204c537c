package coinfile_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/coinfile"
)

func readMark(t *testing.T, m coinfile.Mark) *chainhash.Hash {
	t.Helper()
	block, ok, err := m.Read()
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return nil
	}
	return &block
}

// A mark is what Bitcoin Core has of a block, is replaced, and leaves nothing behind.
func TestMark(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "chainstate_snapshot")
	m := coinfile.Mark{FS: vfs.OS, Dir: dir}
	if got := readMark(t, m); got != nil {
		t.Errorf("read %v", got)
	}
	if err := m.Remove(); err != nil {
		t.Error(err)
	}
	for _, block := range []chainhash.Hash{{1}, {2}} {
		if err := m.Write(&block); err != nil {
			t.Fatal(err)
		}
		if got := readMark(t, m); got == nil || *got != block {
			t.Errorf("read %v, want %v", got, block)
		}
		content, err := os.ReadFile(filepath.Join(dir, "base_blockhash"))
		if err != nil || chainhash.Hash(content) != block {
			t.Errorf("%x, %v", content, err)
		}
	}
	for _, wrong := range []string{"", "short", string(make([]byte, 33))} {
		if err := os.WriteFile(filepath.Join(dir, "base_blockhash"), []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := readMark(t, m); got != nil {
			t.Errorf("%q is read as %v", wrong, got)
		}
	}
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("a file of others: %v", err)
	}
	if err := errors.Join(os.Remove(other), m.Remove()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder stays: %v", err)
	}
	none := coinfile.Mark{FS: vfs.OS}
	if err := errors.Join(none.Write(&chainhash.Hash{1}), none.Remove()); err != nil || readMark(t, none) != nil {
		t.Errorf("without a folder: %v", err)
	}
}

// Whichever call fails, the mark is the old one or the new one, and what was written stays after a loss of
// power.
func TestMarkFails(t *testing.T) {
	old, next := chainhash.Hash{1}, chainhash.Hash{2}
	for n := 1; ; n++ {
		disk := faultfs.New()
		m := coinfile.Mark{FS: disk, Dir: filepath.Join(t.TempDir(), "mark")}
		if err := m.Write(&old); err != nil {
			t.Fatal(err)
		}
		disk.Inject(faultfs.Nth(n, syscall.EIO))
		wrote := m.Write(&next)
		removed := m.Remove()
		disk.Inject(nil)
		got := readMark(t, m)
		switch {
		case removed == nil && got != nil, got != nil && *got != old && *got != next:
			t.Fatalf("call %d: read %v after %v, %v", n, got, wrote, removed)
		case wrote == nil && removed == nil:
			return
		}
		if err := m.Remove(); err != nil || readMark(t, m) != nil {
			t.Fatalf("call %d: %v", n, err)
		}
	}
}

func TestMarkAfterPowerLoss(t *testing.T) {
	for seed := range uint64(20) {
		disk := faultfs.New()
		m := coinfile.Mark{FS: disk, Dir: filepath.Join(t.TempDir(), "mark")}
		want := chainhash.Hash{byte(seed)}
		if err := m.Write(&want); err != nil {
			t.Fatal(err)
		}
		if err := disk.PowerLoss(rand.New(rand.NewPCG(seed, 1))); err != nil {
			t.Fatal(err)
		}
		if got := readMark(t, m); got == nil || *got != want {
			t.Fatalf("seed %d: read %v", seed, got)
		}
	}
}
