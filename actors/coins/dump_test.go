package coins_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

func dump(t *testing.T, r *rig, q messages.DumpCoins) (messages.DumpedCoins, error) {
	t.Helper()
	return ask.Ask(t.Context(), r.ref, q)
}

func TestDump(t *testing.T) {
	r := newRig(t, newSet(300), 3)
	path := filepath.Join(t.TempDir(), "coins")
	got, err := dump(t, r, messages.DumpCoins{Path: path, At: &r.set.tip.Hash})
	if err != nil {
		t.Fatal(err)
	}
	sums := do(t, r.ref, messages.SumCoins{Hash: messages.HashSerialized})
	if got.Block != r.set.tip || got.Hash != sums.Hash || int64(got.Coins) != sums.Outputs {
		t.Errorf("got %+v, want %+v", got, sums)
	}
	if info, err := os.Stat(path); err != nil || info.Size() < 51+sums.Outputs*4 {
		t.Errorf("file: %v, %v", info, err)
	}
	if _, err := dump(t, r, messages.DumpCoins{Path: path}); !errors.Is(err, messages.ErrFileExists) {
		t.Errorf("again: %v", err)
	}
	if _, err := dump(t, r, messages.DumpCoins{Path: path + "/x"}); !errors.Is(err, messages.ErrNotCreated) {
		t.Errorf("below a file: %v", err)
	}
	other := chainhash.Hash{0xee}
	if _, err := dump(t, r, messages.DumpCoins{Path: path, At: &other}); !errors.Is(err, messages.ErrNoRollback) {
		t.Errorf("of another block: %v", err)
	}
}

// Nothing is left of a file when reading fails, or the caller leaves.
func TestDumpFails(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		r := newRig(t, newSet(300), 3)
		path := filepath.Join(t.TempDir(), "coins")
		ctx, cancel := context.WithCancel(t.Context())
		r.set.hook = func(reading context.Context, first byte) error {
			switch {
			case first < 100:
			case leaves:
				cancel()
				<-reading.Done() // a set as small as this one would be read before the actor hears of it
			default:
				return errBroken
			}
			return nil
		}
		if _, err := ask.Ask(ctx, r.ref, messages.DumpCoins{Path: path}); err == nil {
			t.Errorf("leaves %v: no error", leaves)
		}
		if err := r.ref.Stop(t.Context()); err != nil { // the worker has ended then
			t.Error(err)
		}
		for _, ending := range []string{"", ".incomplete"} {
			if _, err := os.Stat(path + ending); err == nil {
				t.Errorf("leaves %v: there is %s", leaves, path+ending)
			}
		}
		cancel()
	}
}
