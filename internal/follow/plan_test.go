package follow_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// Plan is held against the lists of ancestors of both blocks.
func TestPlan(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	chain := chaintest.New(&chaincfg.RegressionNetParams)
	blocks := []*chainview.Block{nil, chain.Active().Tip()}
	for range 60 {
		parent := blocks[max(1, len(blocks)-1-rnd.IntN(6))]
		blocks = append(blocks, chain.MineOn(parent, chaintest.Template{}))
	}
	active := chain.Active()
	for _, at := range blocks {
		var disconnect, connect []*chainview.Block
		for b := at; b != nil && !active.Contains(b); b = b.Parent {
			disconnect = append(disconnect, b)
		}
		for b := active.Tip(); b != nil && (at == nil || at.Ancestor(b.Height) != b); b = b.Parent {
			connect = append(connect, b)
		}
		slices.Reverse(connect)
		for limit := 1; limit < 30; limit++ {
			gotDisconnect, gotConnect := follow.Plan(active, at, limit)
			wantConnect := connect[:min(limit, len(connect))]
			if len(disconnect) > limit {
				wantConnect = nil
			}
			wantDisconnect := disconnect[:min(limit, len(disconnect))]
			if !slices.Equal(gotDisconnect, wantDisconnect) || !slices.Equal(gotConnect, wantConnect) {
				t.Fatalf("limit %d: %d and %d blocks, want %d and %d",
					limit, len(gotDisconnect), len(gotConnect), len(disconnect), len(connect))
			}
		}
	}
}

// lockKeeper remembers the prune locks that it was told.
type lockKeeper struct {
	locks []nodemsg.SetPruneLock
	held  chan struct{} // nil: it answers at once
	fails int           // so many times it panics instead of taking a lock
}

func (k *lockKeeper) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[nodemsg.SetPruneLock, messages.Done]:
		if k.held != nil {
			<-k.held
		}
		if k.fails > 0 {
			k.fails--
			panic("boom")
		}
		k.locks = append(k.locks, m.Req)
		m.Answer(messages.Done{}, nil)
	default:
		ask.Unhandled(c)
	}
}

// Blocks are kept from the first block that the target has yet to read. It is an error if one
// of them is gone.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 20)
		keeper := &lockKeeper{}
		ref := r.sys.Spawn("keeper", func() actor.Actor { return keeper })
		hold := func(locks *ask.Ref) error {
			from, err := follow.Next(r.chain, r.disk)
			if err != nil {
				t.Fatal(err)
			}
			return follow.Hold(t.Context(), locks, r.chain, "test", from)
		}
		for h := range int32(8) {
			r.disk.blocks = append(r.disk.blocks, r.chain.Active().At(h).Hash)
		}
		pruned := func(height int32) {
			b := r.chain.Active().At(height)
			r.chain.SetStatus(b, b.Status()|chainview.Pruned)
		}
		pruned(7)
		if err := hold(ref); err != nil {
			t.Error(err)
		}
		r.disk.blocks = append(r.disk.blocks, chainhash.Hash{1})
		r.disk.reset = func(error) error { r.disk.blocks = r.disk.blocks[:8]; return nil }
		if err := hold(ref); err != nil { // ahead of the chain
			t.Error(err)
		}
		pruned(8)
		if err := hold(ref); !errors.Is(err, chainview.ErrPruned) {
			t.Error(err)
		}
		if err := hold(ask.Absent("keeper")); err != nil {
			t.Error(err)
		}
		r.disk.blocks = nil
		if from, err := follow.Next(r.chain, r.disk); from != 0 || err != nil {
			t.Errorf("an empty target begins at height %d, %v", from, err)
		}
		if err := hold(ref); !errors.Is(err, chainview.ErrPruned) {
			t.Error(err)
		}
		want := nodemsg.SetPruneLock{Name: "test", Height: 7}
		if !slices.Equal(keeper.locks, []nodemsg.SetPruneLock{want, want}) {
			t.Errorf("locks %v", keeper.locks)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := follow.Hold(ctx, ref, r.chain, "test", 20); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A target at a position that the chain does not know is reset first; an error follows where that does not help.
func TestNextOfUnknown(t *testing.T) {
	r := newRig(t, 9)
	r.disk.blocks = []chainhash.Hash{{1}}
	if from, err := follow.Next(r.chain, r.disk); from != 0 || err != nil || len(r.disk.resets) != 1 ||
		!errors.Is(r.disk.resets[0], follow.ErrUnknown) {
		t.Errorf("emptied: from %d, %v, after %v", from, err, r.disk.resets)
	}
	r.disk.blocks = []chainhash.Hash{{1}}
	r.disk.reset = func(error) error { return errBroken }
	if _, err := follow.Next(r.chain, r.disk); !errors.Is(err, errBroken) {
		t.Errorf("not reset: %v", err)
	}
	r.disk.reset = func(error) error { return nil }
	if _, err := follow.Next(r.chain, r.disk); !errors.Is(err, follow.ErrUnknown) {
		t.Errorf("as before: %v", err)
	}
	applied := appliedReset{r.disk, nil}
	if from, err := follow.Next(r.chain, &applied); from != 0 || err != nil {
		t.Errorf("applied: from %d, %v", from, err)
	}
	r.disk.blocks, applied.err = []chainhash.Hash{{1}}, errBroken
	if _, err := follow.Next(r.chain, &applied); !errors.Is(err, errBroken) {
		t.Errorf("not applied: %v", err)
	}
}

// appliedReset is a disk that is emptied in the actor.
type appliedReset struct {
	*disk
	err error
}

func (d *appliedReset) Reset(chainview.Reader, error) (func() error, error) {
	return func() error { d.blocks = nil; return d.err }, nil
}

func byHeight(a, b nodemsg.SetPruneLock) int { return int(a.Height - b.Height) }

// A lock that is moved while it is being set is set again: requests do not overtake each
// other.
func TestPruneLocksInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 12)
		keeper := &lockKeeper{held: make(chan struct{})}
		r.cfg.PruneLocks = r.sys.Spawn("keeper", func() actor.Actor { return keeper })
		r.cfg.Target, r.cfg.SyncAtTip = durableDisk{r.disk}, true
		r.start()
		r.mine(1)
		r.mine(1)
		close(keeper.held)
		synctest.Wait()
		var heights []int32
		for _, lock := range keeper.locks {
			heights = append(heights, lock.Height)
		}
		if !slices.Equal(heights, []int32{12, 14}) {
			t.Errorf("locks at %v", heights)
		}
	})
}

// A lock that its keeper has lost is set again.
func TestPruneLockIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 12)
		keeper := &lockKeeper{fails: 3}
		r.cfg.PruneLocks = r.sys.Spawn("keeper", func() actor.Actor { return keeper })
		r.cfg.Target, r.cfg.SyncAtTip = durableDisk{r.disk}, true
		r.start()
		if want := (nodemsg.SetPruneLock{Name: "test", Height: 12}); !slices.Equal(
			keeper.locks, []nodemsg.SetPruneLock{want},
		) || keeper.fails != 0 {
			t.Errorf("locks %v, %d failures to come", keeper.locks, keeper.fails)
		}
		if err := r.cfg.PruneLocks.Stop(t.Context()); err != nil { // and no keeper is asked for ever
			t.Fatal(err)
		}
		r.mine(1)
		r.disk.check(t, r.chain)
	})
}

// The locks follow what survives a loss of power, and go back when the target is reset.
func TestPruneLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 12)
		keeper := &lockKeeper{}
		r.cfg.PruneLocks = r.sys.Spawn("keeper", func() actor.Actor { return keeper })
		r.cfg.Target, r.cfg.SyncAtTip = durableDisk{r.disk}, true
		r.start()
		lastIs := func(height int32, n int) {
			t.Helper()
			synctest.Wait()
			if len(keeper.locks) != n || keeper.locks[n-1] != (nodemsg.SetPruneLock{Name: "test", Height: height}) {
				t.Errorf("locks %v, the last of %d should be at %d", keeper.locks, n, height)
			}
		}
		lastIs(12, 1) // none of the steps before the tip
		r.mine(3)
		lastIs(15, 2)
		if !slices.Equal(r.disk.syncs, []int{13, 16}) {
			t.Errorf("synced at %v blocks", r.disk.syncs)
		}
		r.disk.advance = func(*follow.Step) error { time.Sleep(6 * time.Second); return nil }
		r.mine(13) // in three steps, the second of which is due by time
		time.Sleep(time.Hour)
		lastIs(28, 4)
		if got := keeper.locks[2]; got.Height != 25 {
			t.Errorf("the lock on the way is at %d", got.Height)
		}
		r.disk.advance = nil
		r.ref.Tell(damaged{errTorn})
		synctest.Wait()
		again := keeper.locks[4:]
		if again[0].Height != 0 || again[len(again)-1].Height != 28 || !slices.IsSortedFunc(again, byHeight) {
			t.Errorf("the locks of a damaged target: %v", again)
		}
	})
}
