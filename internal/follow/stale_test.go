package follow_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
)

// recorder is a target that remembers each block it has connected.
type recorder struct {
	*disk

	has   map[chainhash.Hash]int // how often it was connected
	asked int                    // how often Recorded was
}

func newRecorder(r *rig) *recorder {
	rec := &recorder{disk: r.disk, has: make(map[chainhash.Hash]int)}
	r.cfg.Target = rec
	return rec
}

func (r *recorder) Advance(ctx context.Context, s follow.Step) (func() error, error) {
	before, _ := r.Position()
	apply, err := r.disk.Advance(ctx, s)
	after, _ := r.Position()
	for _, b := range s.Connect {
		if b.Height <= after.Height && before != after {
			r.has[b.Hash]++
		}
	}
	return apply, err
}

func (r *recorder) Recorded(_ chainview.Reader, b *chainview.Block) (bool, error) {
	r.asked++
	return r.has[b.Hash] > 0, nil
}

// leave makes a branch on a block, which is active for a moment, and takes it back.
func (r *rig) leave(on *chainview.Block, blocks int) (gone []*chainview.Block) {
	before := r.chain.Active().Tip()
	for range blocks {
		on = r.chain.MineOn(on, chaintest.Template{Version: 0x20000000 + int32(r.starts) + int32(len(r.chain.Tips()))})
		gone = append(gone, on)
	}
	for _, b := range gone { // it was connected, however much work it has
		r.chain.SetStatus(b, b.Status()|chainview.Valid)
	}
	r.chain.SetActive(before)
	return gone
}

// invalidate is leave with blocks that were invalidated.
func (r *rig) invalidate(on *chainview.Block, blocks int) []*chainview.Block {
	gone := r.leave(on, blocks)
	for _, b := range gone {
		r.chain.SetStatus(b, b.Status()|chainview.Failed)
	}
	return gone
}

// A Recorder also gets blocks that left the chain before it could see them: after an announcement,
// without an announcement, while it lags, and after a restart of its actor. Each comes once, and
// is recorded before a wait for the tip ends.
func TestStaleBlocks(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 2))
			r := newRig(t, 20)
			rec := newRecorder(r)
			r.start()
			var connected []*chainview.Block
			for range 40 {
				tip := r.chain.Active().Tip()
				below := tip.Ancestor(tip.Height - rnd.Int32N(9))
				switch rnd.IntN(5) {
				case 0:
					connected = append(connected, r.invalidate(tip, 1+rnd.IntN(12))...)
				case 1:
					connected = append(connected, r.invalidate(below, 1+rnd.IntN(4))...)
				case 2:
					r.stop()
					connected = append(connected, r.invalidate(tip, 2)...)
					r.start()
				case 3: // a reorganisation
					on := tip.Ancestor(tip.Height - rnd.Int32N(4))
					for range 5 {
						on = r.chain.MineOn(on, chaintest.Template{})
						connected = append(connected, on)
					}
				default:
					r.mine(1 + rnd.IntN(3))
				}
				if rnd.IntN(3) == 0 {
					r.publish()
				}
			}
			if err := <-r.wait(); err != nil {
				t.Fatal(err)
			}
			r.disk.check(t, r.chain)
			for _, b := range connected {
				if b.Status()&chainview.Valid != 0 && rec.has[b.Hash] == 0 {
					t.Fatalf("seed %d: block %d %v is not recorded", seed, b.Height, b.Hash)
				}
			}
			r.mine(20) // more work than any branch has
			asked := rec.asked
			r.mine(3)
			r.disk.check(t, r.chain)
			if rec.asked != asked {
				t.Errorf("seed %d: a branch is looked at again", seed)
			}
		})
	}
}

// Left out are branches that were never connected, branches that begin far below the tip, and
// branches whose blocks are gone or cannot be read. The target goes on.
func TestStaleBlocksLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 300)
		rec := newRecorder(r)
		var leftOut []string
		r.cfg.LeftOut = func(b *chainview.Block, err error) { leftOut = append(leftOut, fmt.Sprint(b.Height, err)) }
		tip := r.chain.Active().Tip()
		never := r.leave(tip, 2)
		for _, b := range never {
			r.chain.SetStatus(b, chainview.HasData)
		}
		deep := r.invalidate(tip.Ancestor(5), 2)
		pruned := r.invalidate(tip, 1)
		r.chain.SetStatus(pruned[0], pruned[0].Status()|chainview.Pruned)
		half := r.invalidate(tip, 4)
		r.chain.SetStatus(half[3], chainview.HasData)
		broken := r.invalidate(tip, 3)
		r.disk.advance = func(s *follow.Step) error {
			for i, b := range s.Connect {
				if b == broken[1] {
					s.Connect = s.Connect[:i]
					return errBroken
				}
			}
			return nil
		}
		r.start()
		if err := <-r.wait(); err != nil {
			t.Fatal(err)
		}
		r.disk.check(t, r.chain)
		for _, b := range append(append(never, deep...), pruned[0], half[3], broken[1], broken[2]) {
			if rec.has[b.Hash] != 0 {
				t.Errorf("block %d was taken in", b.Height)
			}
		}
		if rec.has[half[2].Hash] != 1 {
			t.Error("the part of a branch that was connected is not recorded")
		}
		for range 5 {
			r.mine(1)
		}
		if len(leftOut) != 1 || leftOut[0] != fmt.Sprint(broken[2].Height, errBroken) {
			t.Errorf("left out %v", leftOut)
		}
		r.disk.check(t, r.chain)
		if status := r.status(); status.Err != nil || !status.Synced {
			t.Errorf("status %+v", status)
		}
	})
	t.Run("not on the disk yet", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 10)
			rec := newRecorder(r)
			r.start()
			next := r.leave(r.chain.Active().Tip(), 1)[0] // as while the chain connects it
			equal := r.leave(r.chain.Active().Tip().Parent, 1)[0]
			r.disk.advance = func(s *follow.Step) error {
				if len(s.Connect) > 0 && s.Connect[0] == equal {
					s.Connect = nil
					return chainview.ErrNotFound
				}
				return nil
			}
			r.publish()
			if rec.has[next.Hash] != 0 {
				t.Error("a block that the chain is about to connect was taken in")
			}
			r.disk.advance = nil
			r.mine(1)
			r.disk.check(t, r.chain)
			if rec.has[equal.Hash] != 1 {
				t.Error("a branch that could not be read at first is not recorded")
			}
		})
	})
	t.Run("damage", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 10)
			rec := newRecorder(r)
			r.start()
			gone := r.invalidate(r.chain.Active().Tip(), 2)
			damaged := false
			r.disk.advance = func(s *follow.Step) error {
				if !damaged && len(s.Connect) > 0 && s.Connect[0] == gone[0] {
					damaged, s.Connect = true, nil
					return follow.ErrDamaged
				}
				return nil
			}
			r.publish()
			for errors.Is(<-r.wait(), follow.ErrDamaged) {
				continue
			}
			r.disk.check(t, r.chain)
			if len(r.disk.resets) != 1 || rec.has[gone[1].Hash] == 0 {
				t.Errorf("%d resets, recorded %v", len(r.disk.resets), rec.has[gone[1].Hash] > 0)
			}
		})
	})
}
