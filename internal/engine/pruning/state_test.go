package pruning_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/pruning"
)

// resume makes the pruner of a chain that is opened again.
func resume(t *testing.T, state pruning.State, tree *chainview.Tree, config *pruning.Config) *rig {
	t.Helper()
	next := &rig{}
	next.files = &files{tree: tree, calls: &next.calls}
	var err error
	next.Pruner, err = pruning.New(pruning.Chain{
		DB: next.files, Tree: tree, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
	}, config)
	if err != nil {
		t.Fatal(err)
	}
	if err := next.ResumePruning(state); err != nil {
		t.Fatal(err)
	}
	return next
}

// Locks hold in the next pruner too, on whatever branch its chain is. A lock that is
// set afterwards replaces the lock of its name.
func TestLocksAreResumed(t *testing.T) {
	for _, test := range []struct {
		name string
		tree func(*chainview.Tree) *chainview.Tree
		want int32
	}{
		{"the same chain", func(t *chainview.Tree) *chainview.Tree { return t }, 589},
		{"a longer one", func(t *chainview.Tree) *chainview.Tree { grow(t, t.Active().Tip(), 5, 0); return t }, 589},
		{"another branch", func(t *chainview.Tree) *chainview.Tree {
			grow(t, t.Active().At(550), 500, 7)
			return t
		}, 539},
		{"a part of it", func(t *chainview.Tree) *chainview.Tree { t.SetActive(t.Active().At(900)); return t }, 589},
		{"one that lost blocks", func(*chainview.Tree) *chainview.Tree { return tree(590) }, 302},
		{"another chain", func(*chainview.Tree) *chainview.Tree {
			other := tree(0)
			grow(other, other.Active().Tip(), 400, 9)
			return other
		}, 112},
	} {
		t.Run(test.name, func(t *testing.T) {
			first := newRig(t, 1000, &pruning.Config{}, nil)
			first.SetPruneLock("index", 600)
			first.SetPruneLock("other", 700)
			state := first.PruneState()
			r := resume(t, state, test.tree(first.files.tree), &pruning.Config{})
			if err := r.Prune(1000); err != nil || r.files.last(t) != test.want {
				t.Errorf("pruned up to %d, want %d (%v)", r.files.last(t), test.want, err)
			}
		})
	}
	first := newRig(t, 1000, &pruning.Config{}, nil)
	first.SetPruneLock("index", 600)
	state := first.PruneState()
	r := resume(t, state, first.files.tree, &pruning.Config{})
	first.SetPruneLock("index", 100) // which the other does not know
	r.SetPruneLock("index", 650)
	if err := r.Prune(1000); err != nil || r.files.last(t) != 639 {
		t.Errorf("pruned up to %d (%v)", r.files.last(t), err)
	}
}

// Where blocks were lost, what has a lock may have lost them too: it holds from there.
func TestLocksOfLostBlocks(t *testing.T) {
	first := newRig(t, 1000, &pruning.Config{}, nil)
	first.SetPruneLock("index", 600)
	shorter := tree(550)
	r := resume(t, first.PruneState(), shorter, &pruning.Config{})
	grow(shorter, shorter.Active().Tip(), 450, 3)
	if err := r.Prune(1000); err != nil || r.files.last(t) != 539 {
		t.Errorf("pruned up to %d (%v)", r.files.last(t), err)
	}
}

// A pruner that had begun goes on at once; any other waits to be started.
func TestBeginningIsResumed(t *testing.T) {
	for _, started := range []bool{false, true} {
		config := &pruning.Config{Target: 1}
		first := newRig(t, 1000, config, nil)
		first.SetPruneLock("index", 600)
		if started {
			if err := first.StartPruning(); err != nil {
				t.Fatal(err)
			}
		}
		r := resume(t, first.PruneState(), tree(1000), config)
		if got := r.files.last(t); (got == 589) != started || (got == -1) == started {
			t.Errorf("started before: %v; pruned up to %d", started, got)
		}
	}
}

// Nothing is resumed from the first.
func TestNothingToResume(t *testing.T) {
	r := newRig(t, 1000, &pruning.Config{Target: 1}, nil)
	if err := r.ResumePruning(pruning.State{}); err != nil || r.files.last(t) != -1 {
		t.Errorf("pruned up to %d (%v)", r.files.last(t), err)
	}
	r.SetPruneLock("index", 600)
	if err := r.StartPruning(); err != nil || r.files.last(t) != 589 {
		t.Errorf("pruned up to %d (%v)", r.files.last(t), err)
	}
}
