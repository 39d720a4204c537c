package follower_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/follower"
	"github.com/seed61375155/trawl/messages"
)

// Core changes its chain in any way, has any of the interfaces, and is stopped often, as
// is the engine. After each call of Follow the engine's chain is Core's, and its blocks
// and their spent outputs are Core's.
func TestFollowsEveryChange(t *testing.T) {
	seeds := uint64(1)
	if os.Getenv("TRAWL_SOAK") != "" {
		seeds = 60
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		core := newFakeCore(t)
		cfg := core.config(t, t.TempDir())
		e := open(t, cfg)
		tips := []*chainview.Block{core.Active().Tip()}
		for step := range 60 {
			switch r.IntN(10) {
			case 0, 1, 2, 3: // a branch from anywhere not far below, of any length
				from := tips[r.IntN(len(tips))]
				from = from.Ancestor(max(0, from.Height-int32(r.IntN(40))))
				tip := core.mine(from, 1+r.IntN(60), byte(r.IntN(200)))
				if tip.Height > 3 {
					tip = core.mineSpending(tip, tip.Ancestor(1+r.Int32N(tip.Height-1)), byte(r.IntN(200)))
				}
				tips = append(tips, tip)
				core.goTo(tip)
			case 4, 5: // another branch, or back
				tip := tips[r.IntN(len(tips))]
				core.goTo(tip.Ancestor(max(0, tip.Height-int32(r.IntN(10)))))
			case 6:
				core.set(func(f *fakeCore) { f.rest = r.IntN(2) == 0; f.spent = r.IntN(2) == 0 })
			case 7:
				core.set(func(f *fakeCore) { f.down = true })
				if err := e.Follow(t.Context()); !errors.Is(err, messages.ErrNodeAway) {
					t.Fatalf("seed %d step %d: Core is away: %v", seed, step, err)
				}
				core.set(func(f *fakeCore) { f.down = false })
			default:
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
				e = open(t, cfg)
			}
			if err := e.Follow(t.Context()); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			compare(t, core, e, r)
		}
	}
}

// compare holds the engine's chain against Core's.
func compare(t *testing.T, core *fakeCore, e *follower.Engine, r *rand.Rand) {
	t.Helper()
	reader := e.Reader()
	active := reader.Active()
	if active.Tip().Hash != core.tip.Hash {
		t.Fatalf("tip %v at %d, want %v at %d", active.Tip().Hash, active.Height(), core.tip.Hash, core.tip.Height)
	}
	for h := range core.tip.Height + 1 {
		if got, want := active.At(h).Hash, core.tip.Ancestor(h).Hash; got != want {
			t.Fatalf("block %v at height %d, want %v", got, h, want)
		}
	}
	for range 3 {
		hash := active.At(r.Int32N(active.Height() + 1)).Hash
		raw, err := reader.Raw(&hash)
		want, _ := core.Raw(&hash)
		if err != nil || !reflect.DeepEqual(raw, want) {
			t.Fatalf("block %v: %d bytes, want %d: %v", hash, len(raw), len(want), err)
		}
		scripts, err := reader.SpentScripts(&hash)
		wantScripts, _ := core.SpentScripts(&hash)
		if err != nil || len(scripts)+len(wantScripts) > 0 && !reflect.DeepEqual(scripts, wantScripts) {
			t.Fatalf("block %v spends %x, want %x: %v", hash, scripts, wantScripts, err)
		}
		spent, err := reader.Spent(&hash)
		wantSpent, _ := core.Spent(&hash)
		if err != nil || len(spent)+len(wantSpent) > 0 && !reflect.DeepEqual(spent, wantSpent) {
			t.Fatalf("block %v spends %v, want %v: %v", hash, spent, wantSpent, err)
		}
		size, txs, err := reader.Size(&hash)
		wantSize, wantTxs, _ := core.Size(&hash)
		if err != nil || size != wantSize || txs != wantTxs {
			t.Fatalf("block %v: %d bytes, %d transactions, want %d, %d: %v", hash, size, txs, wantSize, wantTxs, err)
		}
	}
}
