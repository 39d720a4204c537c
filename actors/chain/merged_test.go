package chain_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/chain"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/opener"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// A mergedRig is a chain that is mined together with others.
type mergedRig struct {
	*ask.Ref
	t     *testing.T
	clock *clock.Clock
	view  *chainview.Current
	sys   *actortest.System
	armed atomic.Bool // the next template panics
}

const mergedStart = 1_800_000_000

// newMergedRig starts one where merge-mined blocks may come from height 2 on, named in display order from height 4 on.
func newMergedRig(t *testing.T, aux nodemsg.AuxBlocks) *mergedRig {
	t.Helper()
	n, err := dialect.Named(dialect.NameQbit, "regtest", dialect.Choices{
		Activation: map[string]int32{"cadence": 2, "auxpowcommitment": 4},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r := &mergedRig{
		t: t, clock: clock.At(time.Unix(mergedStart, 0)), view: new(chainview.Current), sys: actortest.New(t),
	}
	open := opener.New(opener.Config{
		Network: n, Clock: r.clock, Dir: filepath.Join(dir, "chainstate"), BlocksDir: filepath.Join(dir, "blocks"),
		Cache: 8 << 20, Log: r.sys.Log,
	})
	r.Ref = r.sys.Spawn("chain", chain.New(chain.Config{
		Open: func(ctx context.Context) (engine.Engine, error) {
			e, err := open.Open(ctx)
			return panicky{e, &r.armed}, err
		},
		Network: n, Aux: aux, Current: r.view, Tip: new(ask.Feed[messages.TipChanged]), Now: r.clock.Now,
		Log: r.sys.Log, OnFailed: func(err error) { t.Error(err) },
	}), chain.Requests...)
	if _, err := ask.Ask(t.Context(), r.Ref, messages.WaitOpen{}); err != nil {
		t.Fatal(err)
	}
	return r
}

// payTo are scripts that differ.
func payTo(i byte) []byte { return append([]byte{0x52, 0x20, i}, make([]byte, 31)...) }

func (r *mergedRig) tip() messages.Tip {
	r.t.Helper()
	tip, err := ask.Ask(r.t.Context(), r.Ref, messages.GetTip{})
	if err != nil {
		r.t.Fatal(err)
	}
	return tip
}

func (r *mergedRig) tryCreate(i byte) (messages.AuxBlock, error) {
	return ask.Ask(r.t.Context(), r.Ref, messages.CreateAuxBlock{Script: payTo(i), On: r.tip().Hash})
}

func (r *mergedRig) create(i byte) messages.AuxBlock {
	r.t.Helper()
	made, err := r.tryCreate(i)
	if err != nil {
		r.t.Fatal(err)
	}
	return made
}

// submit returns the reject reason.
func (r *mergedRig) submit(hash chainhash.Hash, payload []byte) string {
	r.t.Helper()
	_, err := ask.Ask(r.t.Context(), r.Ref, messages.SubmitAuxBlock{Hash: hash, Payload: payload})
	if reject, ok := errors.AsType[*messages.RejectError](err); ok {
		return reject.Reason
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return ""
}

// prove submits a block that waits with a proof of work, and returns the refusal.
func (r *mergedRig) prove(hash chainhash.Hash) string {
	return r.submit(hash, enginetest.Proof{Hash: hash}.Payload())
}

func (r *mergedRig) mine(n int) {
	r.t.Helper()
	if _, err := ask.Ask(r.t.Context(), r.Ref, messages.Generate{Script: payTo(0), Count: n, Tries: many}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *mergedRig) pass(d time.Duration) { r.clock.Set(r.clock.Now().Add(d)) }

const stale = "stale-prevblk"

// A block is made, refused without its proof, tried again, accepted, and forgotten.
func TestMergedMining(t *testing.T) {
	r := newMergedRig(t, nodemsg.AuxBlocks{Expiry: time.Hour, Limit: 10})
	if _, err := r.tryCreate(1); !errors.Is(err, messages.ErrNotMergeMined) {
		t.Errorf("before the height of the lanes: %v", err)
	}
	other := messages.CreateAuxBlock{Script: payTo(1), On: chainhash.Hash{1}}
	if _, err := ask.Ask(t.Context(), r.Ref, other); !errors.Is(err, messages.ErrTipMoved) {
		t.Errorf("on another block: %v", err)
	}
	r.mine(1)
	r.pass(time.Minute)
	for height := int32(2); height <= 5; height++ { // in byte order, then in display order
		made := r.create(byte(height))
		right := enginetest.Proof{Hash: made.Hash, Internal: height < 4}
		wrongOrder, unsolved := right, right
		wrongOrder.Internal = !right.Internal
		unsolved.Unsolved = true
		if made.Height != height || made.Parent != r.tip().Hash || made.Value != 210e8 || made.Bits != 0x207fffff {
			t.Errorf("made %+v", made)
		}
		for _, step := range []struct {
			hash    chainhash.Hash
			payload []byte
			want    string
		}{
			{chainhash.Hash{1}, right.Payload(), stale},
			{made.Hash, unsolved.Payload(), "bad-auxpow-parent-hash"},
			{made.Hash, wrongOrder.Payload(), "bad-auxpow-commitment"},
			{made.Hash, enginetest.Proof{}.Payload(), "bad-auxpow-commitment"},
			{made.Hash, right.Payload(), ""},
			{made.Hash, right.Payload(), stale}, // it is the tip now
		} {
			if got := r.submit(step.hash, step.payload); got != step.want {
				t.Errorf("height %d: %q, want %q", height, got, step.want)
			}
		}
		if tip := r.tip(); tip.Hash != made.Hash || tip.Height != height {
			t.Errorf("the tip is %+v, made %+v", tip, made)
		}
		b := r.view.Open().Active().Tip()
		if uint32(b.Version()) != 0x2f58c100 || b.Time().Unix() != r.clock.Now().Unix() {
			t.Errorf("version %08x, time %v", b.Version(), b.Time())
		}
		r.pass(time.Second)
	}
}

// A block is kept until its time is over, to the second.
func TestMergedMiningExpires(t *testing.T) {
	r := newMergedRig(t, nodemsg.AuxBlocks{Expiry: time.Minute})
	r.mine(3)
	again, late := r.create(1), r.create(2)
	unsolved := func(b *messages.AuxBlock) string {
		t.Helper()
		return r.submit(b.Hash, enginetest.Proof{Hash: b.Hash, Unsolved: true}.Payload())
	}
	r.pass(time.Minute)
	if got := unsolved(&late); got != "bad-auxpow-parent-hash" {
		t.Errorf("after a minute: %q", got)
	}
	r.clock.Set(time.Unix(mergedStart, 0))
	if same := r.create(1); same != again {
		t.Errorf("made again in the same second: %+v, before %+v", same, again)
	}
	r.pass(time.Minute + time.Second)
	if got := unsolved(&late); got != stale {
		t.Errorf("after a minute and a second: %q", got)
	}
}

// The oldest goes where there are too many; making one again renews it.
func TestMergedMiningLimit(t *testing.T) {
	r := newMergedRig(t, nodemsg.AuxBlocks{Limit: 2})
	r.mine(3)
	first, second := r.create(1), r.create(2)
	r.create(1)
	r.create(3)
	r.pass(1000 * time.Hour) // kept for ever
	if got := r.prove(second.Hash); got != stale {
		t.Errorf("the one before: %q", got)
	}
	if got := r.prove(first.Hash); got != "" {
		t.Errorf("the renewed one: %q", got)
	}
}

// Blocks that were made on another tip go, and do not come back with that tip.
func TestMergedMiningFollowsTip(t *testing.T) {
	r := newMergedRig(t, nodemsg.AuxBlocks{})
	r.mine(3)
	made := r.create(1)
	r.mine(1)
	top := r.tip()
	if got := r.submit(chainhash.Hash{1}, nil); got != stale { // looks at all
		t.Fatal(got)
	}
	if _, err := ask.Ask(t.Context(), r.Ref, messages.InvalidateBlock{Hash: top.Hash}); err != nil {
		t.Fatal(err)
	}
	if got := r.prove(made.Hash); got != stale {
		t.Errorf("on the tip of before: %q", got)
	}
	// Nobody has looked meanwhile.
	r.pass(time.Minute)
	made = r.create(2)
	r.mine(1)
	if _, err := ask.Ask(t.Context(), r.Ref, messages.InvalidateBlock{Hash: r.tip().Hash}); err != nil {
		t.Fatal(err)
	}
	if got := r.prove(made.Hash); got != "" {
		t.Errorf("on the tip again: %q", got)
	}
}

// A block that came in another way is known, and is kept until the tip is looked at.
func TestMergedMiningKnown(t *testing.T) {
	r := newMergedRig(t, nodemsg.AuxBlocks{})
	r.mine(3)
	made := r.create(1)
	invalidate := messages.InvalidateBlock{Hash: made.Hash}
	if _, err := ask.Ask(t.Context(), r.Ref, invalidate); !errors.Is(err, messages.ErrBlockNotFound) {
		t.Errorf("a block that waits is known: %v", err)
	}
	if got := r.prove(made.Hash); got != "" {
		t.Fatal(got)
	}
	if _, err := ask.Ask(t.Context(), r.Ref, messages.InvalidateBlock{Hash: made.Hash}); err != nil {
		t.Fatal(err)
	}
	if same := r.create(1); same != made {
		t.Fatalf("made %+v, before %+v", same, made)
	}
	if got := r.prove(made.Hash); got != "duplicate-invalid" {
		t.Errorf("a block that was invalidated: %q", got)
	}
}

// panicky panics once when it is armed and makes a template.
type panicky struct {
	engine.Engine
	armed *atomic.Bool
}

func (e panicky) Template(script []byte, txs [][]byte, fees btcutil.Amount) ([]byte, error) {
	if e.armed.CompareAndSwap(true, false) {
		panic("boom")
	}
	return e.Engine.Template(script, txs, fees)
}

// Blocks that were kept are gone after a panic and after the end; the next instance
// goes on.
func TestMergedMiningAfterPanic(t *testing.T) {
	r := newMergedRig(t, nodemsg.AuxBlocks{})
	r.mine(3)
	made := r.create(1)
	r.armed.Store(true)
	if _, err := r.tryCreate(2); !errors.Is(err, ask.ErrRestarted) {
		t.Errorf("over a panic: %v", err)
	}
	if _, err := ask.Ask(t.Context(), r.Ref, messages.WaitOpen{}); err != nil {
		t.Fatal(err)
	}
	if got := r.prove(made.Hash); got != stale {
		t.Errorf("after a panic: %q", got)
	}
	made = r.create(1)
	if got := r.prove(made.Hash); got != "" {
		t.Errorf("made after a panic: %q", got)
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone := messages.SubmitAuxBlock{Hash: made.Hash}
	if _, err := ask.Ask(t.Context(), r.Ref, gone); !errors.Is(err, ask.ErrStopped) {
		t.Errorf("after the end: %v", err)
	}
}
