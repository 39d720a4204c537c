package follow_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// assume has a chain begin with a snapshot at height base, and its blocks up to height validated be validated.
func (r *rig) assume(base, validated int32) {
	active := r.chain.Active()
	r.chain.SetAssumed(&chainview.Assumed{Base: active.At(base), Validated: active.At(validated)})
}

// A target takes in only validated blocks of those before a snapshot. A wait for a later block
// ends with ErrNotYet.
func TestFollowsWhatIsValidated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 40)
		r.assume(30, 12)
		r.start()
		for _, validated := range []int32{12, 13, 29} {
			r.assume(30, validated)
			r.publish()
			s := r.status()
			if s.Height != validated || !s.Synced || !errors.Is(s.Err, chainview.ErrNotYet) {
				t.Errorf("with %d: %+v", validated, s)
			}
			if err, ok := got(r.wait()); !ok || !errors.Is(err, chainview.ErrNotYet) {
				t.Errorf("with %d: waiting callers get %v, %v", validated, err, ok)
			}
		}
		r.chain.SetAssumed(nil)
		if err, ok := got(r.wait()); !ok || err != nil {
			t.Errorf("waiting callers get %v, %v", err, ok)
		}
		r.disk.check(t, r.chain)
		if len(r.disk.resets) > 0 {
			t.Errorf("resets %v", r.disk.resets)
		}
		r.stop()
	})
}

// A snapshot on another branch than the target is at: the target leaves its blocks and waits.
func TestLeavesForSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 20)
		r.start()
		fork := r.chain.Active().At(15)
		at := fork
		for range 20 {
			at = r.chain.AddHeader(at)
		}
		r.chain.SetAssumed(&chainview.Assumed{Base: at, Validated: r.chain.Active().Tip()})
		r.chain.SetActive(at)
		r.publish()
		if got := r.status(); got.Hash != fork.Hash {
			t.Errorf("at height %d", got.Height)
		}
		r.stop()
	})
}

// A target that leaps goes on behind the snapshot.
func TestLeaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 40)
		r.cfg.Leaps = true
		r.disk.reset = func(error) error {
			r.disk.blocks = nil
			for h := range r.chain.Active().Height() + 1 {
				r.disk.blocks = append(r.disk.blocks, r.chain.Active().At(h).Hash)
			}
			return nil
		}
		r.assume(30, 12)
		r.start()
		r.disk.check(t, r.chain)
		r.mine(3)
		r.disk.check(t, r.chain)
		if want := []error{chainview.ErrNotYet}; !slices.Equal(r.disk.resets, want) {
			t.Errorf("resets %v", r.disk.resets)
		}
		if got := r.status(); got.Err != nil || !got.Synced {
			t.Errorf("status %+v", got)
		}
		r.stop()
	})
}

// A host is told of blocks before a snapshot as they are validated.
func TestHostFollowsWhatIsValidated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(40)
		active := h.chain.Active()
		h.chain.SetAssumed(&chainview.Assumed{Base: active.At(30), Validated: active.At(12)})
		a := &applied{t: t}
		ended := make(chan error, 1)
		go func() { ended <- h.Follow(t.Context(), messages.BlockID{}, a.take) }()
		synctest.Wait()
		if n := len(a.blocks); n != 13 {
			t.Errorf("%d blocks, want those that are validated", n)
		}
		h.chain.SetAssumed(nil)
		h.Tip.Publish(messages.TipChanged(messages.Tip{Hash: active.Tip().Hash, Height: 40}))
		synctest.Wait()
		if n := len(a.blocks); n != 41 {
			t.Errorf("%d blocks, want all", n)
		}
		close(h.ended)
		if err := <-ended; !errors.Is(err, errEnded) {
			t.Error(err)
		}
	})
}
