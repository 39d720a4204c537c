package pruning_test

import (
	"context"
	"errors"
	"log/slog"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
)

// fileSize is that of each file of the tests; a file has one block.
const fileSize = 1 << 20

// files is a store with a file for each block of a chain, numbered by its height.
type files struct {
	tree    *chainview.Tree
	removed []int
	pruned  []chainhash.Hash // by an earlier process
	calls   *[]string
	loading bool
}

func (f *files) Files() (list []chaindb.BlockFile, used int64) {
	active := f.tree.Active()
	for h := range active.Height() { // the tip's file is being filled
		if !slices.Contains(f.removed, int(h)) {
			list = append(list, chaindb.BlockFile{
				Number: int(h), Size: fileSize, Blocks: []chainhash.Hash{active.At(h).Hash},
			})
		}
	}
	return list, f.Used()
}

func (f *files) Used() int64 {
	return int64(int(f.tree.Active().Height())+1-len(f.removed)) * fileSize
}

func (f *files) Pruned(visit func(*chainhash.Hash)) error {
	for i := range f.pruned {
		visit(&f.pruned[i])
	}
	return nil
}

func (f *files) Prune(numbers []int) error {
	*f.calls = append(*f.calls, "remove")
	f.removed = append(f.removed, numbers...)
	return nil
}

func (f *files) Reloading() bool { return f.loading }

// last is the highest block that was removed, after a look that all below it were.
func (f *files) last(t *testing.T) int32 {
	t.Helper()
	slices.Sort(f.removed)
	for i, n := range f.removed {
		if i != n {
			t.Fatalf("removed were %v", f.removed)
		}
	}
	active := f.tree.Active()
	for h := range active.Height() + 1 {
		if marked := active.At(h).Status()&chainview.Pruned != 0; marked != (int(h) < len(f.removed)) {
			t.Errorf("block %d: marked as pruned: %v, removed are %d", h, marked, len(f.removed))
		}
	}
	return int32(len(f.removed)) - 1
}

var now = time.Unix(1_700_000_000, 0)

// tree is a chain of blocks, the last of them just found.
func tree(height int32) *chainview.Tree {
	genesis := wire.BlockHeader{Timestamp: now}
	t := chainview.NewTree(&genesis, big.NewInt(1))
	grow(t, t.Active().Tip(), height, 0)
	return t
}

// grow adds blocks on one, which become the active chain.
func grow(t *chainview.Tree, on *chainview.Block, n int32, nonce uint32) {
	for range n {
		header := wire.BlockHeader{PrevBlock: on.Hash, Timestamp: now, Nonce: nonce}
		b, err := t.Add(&header, big.NewInt(1), 0)
		if err != nil {
			panic(err)
		}
		on = b
	}
	t.SetActive(on)
}

type rig struct {
	*pruning.Pruner

	files *files
	calls []string
	flush error
	later time.Duration // of the clock, after the blocks
	lines []string      // of the log
}

// Enabled, Handle, WithAttrs and WithGroup keep what is logged.
func (*rig) Enabled(context.Context, slog.Level) bool { return true }

func (r *rig) Handle(_ context.Context, record slog.Record) error {
	r.lines = append(r.lines, record.Message)
	return nil
}
func (r *rig) WithAttrs([]slog.Attr) slog.Handler { return r }
func (r *rig) WithGroup(string) slog.Handler      { return r }

func newRig(t *testing.T, height int32, config *pruning.Config, change func(*files)) *rig {
	t.Helper()
	r := &rig{}
	r.files = &files{tree: tree(height), calls: &r.calls}
	if change != nil {
		change(r.files)
	}
	var err error
	r.Pruner, err = pruning.New(pruning.Chain{
		DB: r.files, Tree: r.files.tree, Log: slog.New(r), Now: func() time.Time { return now.Add(r.later) },
		Flush: func() error { r.calls = append(r.calls, "flush"); return r.flush },
	}, config)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The last 288 blocks stay, and so does what a lock keeps, with ten blocks below it:
// each at its edge.
func TestByRequest(t *testing.T) {
	for _, test := range []struct {
		name          string
		height, prune int32
		locks         []int32
		want          int32
	}{
		{name: "as asked", height: 1000, prune: 500, want: 500},
		{name: "one below the last 288", height: 1000, prune: 711, want: 711},
		{name: "up to the last 288", height: 1000, prune: 712, want: 712},
		{name: "into the last 288", height: 1000, prune: 713, want: 712},
		{name: "all", height: 1000, prune: 1000, want: 712},
		{name: "a chain of 289", height: 289, prune: 289, want: 1},
		{name: "a chain of 288", height: 288, prune: 288, want: 0},
		{name: "a short chain", height: 100, prune: 100, want: 0},
		{name: "a lock far above", height: 1000, prune: 500, locks: []int32{900}, want: 500},
		{name: "a lock that just lets it", height: 1000, prune: 500, locks: []int32{511}, want: 500},
		{name: "a lock one lower", height: 1000, prune: 500, locks: []int32{510}, want: 499},
		{name: "the lowest of locks", height: 1000, prune: 500, locks: []int32{800, 300, 700}, want: 289},
		{name: "a lock at the beginning", height: 1000, prune: 500, locks: []int32{0}, want: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, test.height, &pruning.Config{}, nil)
			for i, height := range test.locks {
				r.SetPruneLock(string(rune('a'+i)), height)
			}
			if err := r.Prune(test.prune); err != nil {
				t.Fatal(err)
			}
			if got := r.files.last(t); got != test.want {
				t.Errorf("pruned up to %d, want %d", got, test.want)
			}
		})
	}
}

// A lock is as its name was set last.
func TestLockIsSetAnew(t *testing.T) {
	r := newRig(t, 1000, &pruning.Config{}, nil)
	r.SetPruneLock("index", 100)
	r.SetPruneLock("index", 600)
	if err := r.Prune(500); err != nil || r.files.last(t) != 500 {
		t.Errorf("pruned up to %d, %v", r.files.last(t), err)
	}
}

// Data that may need old blocks is written before they are removed; if the write
// fails the blocks stay.
func TestFlushBeforeRemoval(t *testing.T) {
	r := newRig(t, 1000, &pruning.Config{}, nil)
	if err := r.Prune(500); err != nil || !slices.Equal(r.calls, []string{"flush", "remove"}) {
		t.Errorf("calls %v, %v", r.calls, err)
	}
	r = newRig(t, 1000, &pruning.Config{}, nil)
	r.flush = errors.New("disk is full")
	if err := r.Prune(500); !errors.Is(err, r.flush) || r.files.last(t) != -1 {
		t.Errorf("pruned up to %d, %v", r.files.last(t), err)
	}
	r = newRig(t, 100, &pruning.Config{}, nil)
	r.SetPruneLock("index", 0)
	if err := r.Prune(-1); err != nil || len(r.calls) != 0 {
		t.Errorf("nothing to remove, and yet %v, %v", r.calls, err)
	}
}

// Files go, the oldest first, while all together are over the target less some room.
func TestByTarget(t *testing.T) {
	const room = 17 // files, that are made room for
	for _, test := range []struct {
		name          string
		height, after int32
		target        int64 // files
		less          int64 // bytes of the target
		lock          int32 // -1: none
		off           bool
		want          int32
	}{
		{name: "over", height: 1000, target: 900, lock: -1, want: 1000 - 900 + room + 1},
		{name: "just over", height: 1000, target: 1001 + room, lock: -1, want: 0},
		{name: "just under", height: 1000, target: 1002 + room, lock: -1, want: -1},
		{name: "half a file over", height: 1000, target: 1001 + room, less: fileSize / 2, lock: -1, want: 0},
		{name: "more than may go", height: 1000, target: 100, lock: -1, want: 712},
		{name: "more than a lock lets go", height: 1000, target: 100, lock: 400, want: 389},
		{name: "too early in the chain", height: 1000, after: 1000, target: 900, lock: -1, want: -1},
		{name: "late enough", height: 1000, after: 999, target: 900, lock: -1, want: 1000 - 900 + room + 1},
		{name: "not started", height: 1000, target: 900, lock: -1, off: true, want: -1},
		{name: "by request only", height: 1000, target: 0, lock: -1, want: -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, test.height, &pruning.Config{
				Target: test.target*fileSize - test.less, After: test.after,
			}, nil)
			if test.lock >= 0 {
				r.SetPruneLock("index", test.lock)
			}
			prune := r.StartPruning
			if test.off {
				prune = r.Auto
			}
			if err := prune(); err != nil {
				t.Fatal(err)
			}
			if got := r.files.last(t); got != test.want {
				t.Errorf("pruned up to %d, want %d", got, test.want)
			}
		})
	}
}

// Where the chain begins with a snapshot, the blocks that are yet to be validated stay with the last that
// are, and those behind the snapshot go as without one.
func TestSnapshot(t *testing.T) {
	for _, test := range []struct {
		name            string
		validated, base int32
		lock            int32 // -1: none
		want            []int // first and last removed, first and last
	}{
		{"early", 100, 900, -1, []int{0, 0, 901, 1712}},
		{"just begun", 289, 900, -1, []int{0, 1, 901, 1712}},
		{"on its way", 700, 900, -1, []int{0, 412, 901, 1712}},
		{"done", 900, 900, -1, []int{0, 612, 901, 1712}},
		{"a lock between", 700, 900, 1000, []int{0, 412, 901, 989}},
		{"a lock before", 700, 900, 300, []int{0, 289}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, 2000, &pruning.Config{Target: 1}, nil)
			active := r.files.tree.Active()
			r.files.tree.SetAssumed(&chainview.Assumed{
				Base: active.At(test.base), Validated: active.At(test.validated),
			})
			if test.lock >= 0 {
				r.SetPruneLock("index", test.lock)
			}
			if err := r.StartPruning(); err != nil {
				t.Fatal(err)
			}
			var got []int
			for i, n := range r.files.removed {
				if i == 0 || n != r.files.removed[i-1]+1 {
					got = append(got, n, n)
				}
				got[len(got)-1] = n
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("removed %v, want %v", got, test.want)
			}
		})
	}
}

// Without pruning nothing is removed, and while blocks are fed again neither.
func TestNotNow(t *testing.T) {
	r := newRig(t, 1000, nil, nil)
	if err := r.Prune(500); !errors.Is(err, messages.ErrNotPruning) {
		t.Error(err)
	}
	if err := r.StartPruning(); err != nil || r.files.last(t) != -1 {
		t.Errorf("pruned up to %d, %v", r.files.last(t), err)
	}
	r = newRig(t, 1000, &pruning.Config{Target: fileSize}, func(f *files) { f.loading = true })
	if err := errors.Join(r.StartPruning(), r.Prune(500)); err != nil || r.files.last(t) != -1 {
		t.Errorf("pruned up to %d, %v", r.files.last(t), err)
	}
}

// Blocks that were removed before are known, and a branch that needs such a block is
// not whole.
func TestRemovedBefore(t *testing.T) {
	var fork *chainview.Block
	r := newRig(t, 1000, &pruning.Config{}, func(f *files) {
		active := f.tree.Active()
		fork = active.At(600)
		grow(f.tree, fork, 3, 1) // a branch of it
		branch := f.tree.Active().Tip()
		f.tree.SetActive(active.Tip())
		f.pruned = []chainhash.Hash{active.At(10).Hash, branch.Parent.Hash}
	})
	active := r.files.tree.Active()
	if active.At(10).Status()&chainview.Pruned == 0 || active.At(11).Status()&chainview.Pruned != 0 {
		t.Error("other blocks are marked")
	}
	for _, tip := range r.files.tree.Tips() {
		if gone := tip.Parent.Status()&chainview.Pruned != 0; gone == (tip == active.Tip()) {
			t.Errorf("before the tip at %d: pruned %v", tip.Height, gone)
		}
	}
	r.SetPruneLock("index", 900)
	r.SetPruneLock("other", 500)
	for _, tip := range r.files.tree.Tips() {
		if tip != active.Tip() {
			r.MoveLocksBack(active.Tip(), tip)
		}
	}
	if err := r.Prune(1000); err != nil { // other is lower, and stays
		t.Fatal(err)
	}
	if got := len(r.files.removed) - 1; got != 489 {
		t.Errorf("pruned up to %d", got)
	}
	r.SetPruneLock("other", 1000)
	if err := r.Prune(1000); err != nil {
		t.Fatal(err)
	}
	if got := len(r.files.removed) - 1; got != 589 { // moved back to the fork at 600
		t.Errorf("pruned up to %d", got)
	}
}
