package pruning_test

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/pruning"
)

// Nothing is flushed where all that may go has gone before.
func TestNothingToRemove(t *testing.T) {
	r := newRig(t, 1000, &pruning.Config{}, nil)
	for _, height := range []int32{500, 500, 400} {
		if err := r.Prune(height); err != nil || len(r.calls) != 2 {
			t.Errorf("up to %d: %v, %v", height, r.calls, err)
		}
	}
}

// Locks above where the chain goes back to are taken along, and those of a chain that
// only grows are not.
func TestMoveLocksBack(t *testing.T) {
	for _, test := range []struct {
		name         string
		fork         int32 // of a chain of 1000
		lock, before int32 // the lock, and where it is afterwards
		lines        int
	}{
		{"one block back", 999, 1000, 999, 1},
		{"one block back, a lock far above", 999, 2000, 999, 1},
		{"one block back, a lock at the fork", 999, 999, 999, 0},
		{"three blocks back", 997, 1000, 997, 3},
		{"three blocks back, a lock on the way", 997, 998, 997, 1},
		{"none", 1000, 1001, 1001, 0},
		{"none, a lock far above", 1000, 2000, 2000, 0},
	} {
		r := newRig(t, 1000, &pruning.Config{}, nil)
		active := r.files.tree.Active()
		grow(r.files.tree, active.At(test.fork), 400, 5)
		to := r.files.tree.Active().Tip()
		r.files.tree.SetActive(active.Tip())
		r.SetPruneLock("index", test.lock)
		r.MoveLocksBack(active.Tip(), to)
		r.files.tree.SetActive(to)
		if len(r.lines) != test.lines {
			t.Errorf("%s: %q", test.name, r.lines)
		}
		if err := r.Prune(to.Height); err != nil {
			t.Fatal(err)
		}
		want := min(test.before-11, to.Height-288)
		if got := int32(len(r.files.removed)) - 1; got != want {
			t.Errorf("%s: pruned up to %d, want %d", test.name, got, want)
		}
	}
}

// While the chain is downloaded, room is made for the blocks of which the headers of the
// best chain to come are known.
func TestRoomForBlocksToCome(t *testing.T) {
	const target = 900
	files := func(bytes int64) int32 { return int32((bytes + fileSize - 1) / fileSize) }
	at := int32(1001 - target) // as much as is over the target
	for _, test := range []struct {
		name  string
		later time.Duration
		grow  func(tree *chainview.Tree, tip *chainview.Block)
		come  int64
	}{
		{"no headers", 24 * time.Hour, func(*chainview.Tree, *chainview.Block) {}, 0},
		{"of a day ago", 24 * time.Hour, func(tree *chainview.Tree, tip *chainview.Block) {
			headers(tree, tip, 10, 1, 1)
		}, 10},
		{"of less than a day ago", 24*time.Hour - 1, func(tree *chainview.Tree, tip *chainview.Block) {
			headers(tree, tip, 10, 1, 1)
		}, 0},
		{"the longer of two", 48 * time.Hour, func(tree *chainview.Tree, tip *chainview.Block) {
			headers(tree, tip, 20, 1, 1)
			headers(tree, tip, 7, 2, 1)
		}, 20},
		{"an invalid one", 48 * time.Hour, func(tree *chainview.Tree, tip *chainview.Block) {
			tree.SetStatus(headers(tree, tip, 20, 1, 1), chainview.FailedAncestor)
			headers(tree, tip, 7, 2, 1)
		}, 7},
		{"as much work as the tip", 48 * time.Hour, func(tree *chainview.Tree, tip *chainview.Block) {
			headers(tree, tip, 10, 1, 0)
		}, 0},
	} {
		r := newRig(t, 1000, &pruning.Config{Target: target * fileSize}, nil)
		r.later = test.later
		test.grow(r.files.tree, r.files.tree.Active().Tip())
		if err := r.StartPruning(); err != nil {
			t.Fatal(err)
		}
		got, want := int32(len(r.files.removed)), at+files((17<<20)+test.come*1_000_000)
		if got < want || got > want+1 {
			t.Errorf("%s: %d files are gone, want %d", test.name, got, want)
		}
	}
}

// headers adds headers on a block and returns the last.
func headers(tree *chainview.Tree, on *chainview.Block, n int, nonce uint32, work int64) *chainview.Block {
	for range n {
		header := wire.BlockHeader{PrevBlock: on.Hash, Timestamp: now, Nonce: nonce + 100}
		b, err := tree.Add(&header, big.NewInt(work), 0)
		if err != nil {
			panic(err)
		}
		on = b
	}
	return on
}

// Removed files and the locks that limit pruning are logged in Core's words.
func TestLog(t *testing.T) {
	r := newRig(t, 1000, &pruning.Config{Target: 900 * fileSize}, nil)
	r.SetPruneLock("coinstats", 900)
	r.SetPruneLock("filters", 105)
	if err := r.StartPruning(); err != nil {
		t.Fatal(err)
	}
	if err := r.Prune(50); err != nil {
		t.Fatal(err)
	}
	r.SetPruneLock("filters", 2000)
	if err := r.Prune(99); err != nil {
		t.Fatal(err)
	}
	r.SetPruneLock("coinstats", 2000)
	if err := r.Prune(200); err != nil {
		t.Fatal(err)
	}
	if want := []string{
		"filters limited pruning to height 94",
		"target=900MiB actual=906MiB diff=-6MiB min_height=0 max_prune_height=94 removed 95 blk/rev pairs",
		"filters limited pruning to height 94",
		"Prune (Manual): prune_height=50 removed 0 blk/rev pairs",
		"coinstats limited pruning to height 889",
		"Prune (Manual): prune_height=99 removed 5 blk/rev pairs",
		"Prune (Manual): prune_height=200 removed 101 blk/rev pairs",
	}; !slices.Equal(r.lines, want) {
		t.Errorf("got\n%q, want\n%q", r.lines, want)
	}
	active := r.files.tree.Active()
	grow(r.files.tree, active.At(997), 2, 9)
	branch := r.files.tree.Active().Tip()
	r.files.tree.SetActive(active.Tip())
	r.lines = nil
	r.SetPruneLock("coinstats", 999)
	r.MoveLocksBack(active.Tip(), branch)
	if want := []string{
		"filters prune lock moved back to 999", "coinstats prune lock moved back to 998",
		"filters prune lock moved back to 998", "coinstats prune lock moved back to 997",
		"filters prune lock moved back to 997",
	}; !slices.Equal(r.lines, want) {
		t.Errorf("got\n%q, want\n%q", r.lines, want)
	}
}
