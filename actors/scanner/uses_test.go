package scanner_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// runUses scans all blocks for scripts, and for which of them each block has.
func (r *rig) runUses(t *testing.T, ref *ask.Ref, scripts [][]byte) (messages.ScanResult, error) {
	t.Helper()
	slot := do(t, ref, messages.ReserveScan{})
	q := r.request(slot, order{to: r.chain.Active().Height(), checkBlocks: true})
	q.Set, q.Uses = filters.NewQuery(scripts), true
	return ask.Ask(t.Context(), ref, q)
}

// A scan tells which scripts each block has, in whichever way it looks into blocks: as whole blocks show.
func TestUses(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 120)
			var scripts [][]byte
			for n := range 60 {
				scripts = append(scripts, script(n), script(1000+2*n))
			}
			got, err := r.runUses(t, r.spawn(options{way: way}), scripts)
			if err != nil || len(got.Blocks) != len(got.Uses) || !got.Completed {
				t.Fatalf("%d blocks, %d uses, %v", len(got.Blocks), len(got.Uses), err)
			}
			found := map[chainhash.Hash][]uint32{}
			for i, b := range got.Blocks {
				found[b] = got.Uses[i]
			}
			several := 0
			for h := range int(r.chain.Active().Height()) + 1 {
				hash := r.chain.Active().At(int32(h)).Hash
				all, err := r.chain.SpentScripts(&hash)
				if err != nil {
					t.Fatal(err)
				}
				for _, tx := range r.block(t, h).Transactions {
					for _, out := range tx.TxOut {
						all = append(all, out.PkScript)
					}
				}
				var want []uint32
				for place, s := range scripts {
					if slices.ContainsFunc(all, func(other []byte) bool { return string(other) == string(s) }) {
						want = append(want, uint32(place))
					}
				}
				if !slices.Equal(found[hash], want) {
					t.Errorf("block %d has %v, want %v", h, found[hash], want)
				}
				several += len(want) / 2
			}
			if several == 0 {
				t.Error("no block has more than one")
			}
		})
	}
}

// One slot serves one scan after the other, as long as each keeps it.
func TestScansOfOneSlot(t *testing.T) {
	r := newRig(t, 20)
	ref := r.spawn(options{})
	slot := do(t, ref, messages.ReserveScan{})
	for n := range 3 {
		q := r.request(slot, order{scripts: [][]byte{script(n + 1)}, to: 20, checkBlocks: true})
		q.Hold = true
		if got := do(t, ref, q); len(got.Blocks) == 0 || got.Blocks[0] != r.chain.Active().At(int32(n+1)).Hash {
			t.Fatalf("scan %d: %+v", n, got)
		}
		if _, err := ask.Ask(t.Context(), ref, messages.ReserveScan{}); !errors.Is(err, messages.ErrScanBusy) {
			t.Fatalf("between scans: %v", err)
		}
	}
	if !do(t, ref, messages.AbortScan{}) {
		t.Error("nothing to abort")
	}
	q := r.request(slot, order{scripts: [][]byte{script(1)}, to: 20})
	q.Hold = true
	if got := do(t, ref, q); got.Completed || len(got.Blocks) > 0 {
		t.Errorf("after the abort: %+v", got)
	}
	do(t, ref, messages.ReleaseScan{Slot: slot.ID})
	if _, err := ask.Ask(t.Context(), ref, q); !errors.Is(err, messages.ErrNoSuchScan) {
		t.Errorf("after the release: %v", err)
	}
}

// Of pruned blocks, a script that a block may spend without showing it counts as used where the filter has it.
func TestUsesOfPrunedBlocks(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			r, raws := prunedRig(t)
			do(t, r.indexer, messages.WaitIndexed{Block: r.chain.Active().Tip().Hash})
			ref, _ := r.spawnPruned(t, raws, nil, match.SchedulerConfig{Source: filter.NewSource(r.store), Way: way})
			got, err := r.runUses(t, ref, [][]byte{taproot(9), taproot(2), script(4), segwit(1)})
			want := [][]uint32{{3}, {1}, {3}, {1, 2}} // block 4 pays script(4), and spends taproot(2) by its key
			if err != nil || !slices.EqualFunc(got.Uses, want, slices.Equal[[]uint32]) {
				t.Errorf("got %v, %v; want %v", got.Uses, err, want)
			}
			if _, err := r.runUses(t, ref, [][]byte{taproot(2)}); !errors.Is(err, chainview.ErrPruned) {
				t.Errorf("nothing but what is not shown: %v", err)
			}
		})
	}
}
