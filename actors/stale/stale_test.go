package stale_test

import (
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/stale"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// rig is the actor beside a chain in memory.
type rig struct {
	t       *testing.T
	net     *dialect.Network
	chain   *chaintest.Chain
	view    chainview.Current
	moved   ask.Feed[chainview.TipMoved]
	seen    ask.Feed[nodemsg.StaleBlock]
	initial *chainview.InitialDownload
	log     strings.Builder // read it when the actor rests
	tip     chainhash.Hash  // that was published last; zero: the chain was opened since
	mined   []chainhash.Hash
	lose    bool // the actor fails over the next event
	now     time.Time
	ref     *ask.Ref

	want messages.StaleStats
}

func newRig(t *testing.T) *rig {
	t.Helper()
	net, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		t: t, net: net, chain: chaintest.New(net.Params), now: time.Unix(5, 0),
		want: messages.StaleStats{Window: 1000, LastHeight: -1},
	}
	r.view.Set(r.chain)
	r.initial = chainview.NewInitialDownload(&r.view, "", 0, func() time.Time { return r.now }, func() {})
	r.tip = r.chain.Active().Tip().Hash
	sys := actortest.New(t)
	r.ref = sys.Spawn("stale", stale.New(stale.Config{
		View: &r.view, Initial: r.initial, Moved: &r.moved, Seen: &r.seen,
		Now: func() time.Time { return r.now }, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
	}), stale.Requests...)
	synctest.Wait()
	return r
}

// publish publishes the steps from the tip that was published last, or has the actor fail over them.
func (r *rig) publish(steps ...chainview.TipStep) {
	for i := range steps {
		steps[i].Initial = r.initial.Lasts(steps[i].To)
	}
	if r.lose {
		steps = []chainview.TipStep{{}} // it has no block
		r.lose = false
	}
	r.moved.Publish(chainview.TipMoved{From: r.tip, Steps: steps})
	r.tip = r.chain.Active().Tip().Hash
}

// mine extends the chain and publishes the steps.
func (r *rig) mine(n int) {
	steps := make([]chainview.TipStep, n)
	for i := range steps {
		steps[i].To = r.chain.Mine(chaintest.Template{})
		r.connected(steps[i].To)
	}
	r.publish(steps...)
}

func (r *rig) connected(b *chainview.Block) {
	r.mined = append(r.mined, b.Hash)
	r.want.Connected++
	r.want.Events++
}

// reorganize takes depth blocks back for a branch that is longer by more, and publishes the steps.
func (r *rig) reorganize(depth int32, more int) {
	old := r.chain.Active().Tip()
	fork := old.Ancestor(old.Height - depth)
	var steps []chainview.TipStep
	for b := old; b != fork; b = b.Parent {
		steps = append(steps, chainview.TipStep{To: b.Parent})
	}
	at := fork
	for i := range int(depth) + more {
		at = r.chain.MineOn(at, chaintest.Template{Time: at.Time().Add(time.Minute)})
		step := chainview.TipStep{To: at}
		if i == int(depth) { // it has more work than the branch before
			step.Left = old
		}
		steps = append(steps, step)
		r.connected(at)
	}
	r.want.Reorgs++
	r.want.DeepestFork = max(r.want.DeepestFork, depth)
	for range depth {
		r.want.Stale++
		r.want.Events++
		r.want.StaleEvents++
	}
	r.want.LastHeight, r.want.LastTime = old.Height, r.now.Unix()
	r.publish(steps...)
}

// reopen has the chain opened again, with a tree of its own. behind tells that it has yet to connect its
// last blocks again.
func (r *rig) reopen(behind int32) {
	again := chaintest.New(r.net.Params)
	for _, hash := range r.mined {
		raw, err := r.chain.Raw(&hash)
		if err != nil {
			r.t.Fatal(err)
		}
		if _, err := again.Add(raw); err != nil {
			r.t.Fatal(err)
		}
	}
	top := again.Active().Tip()
	r.chain, r.tip = again, chainhash.Hash{}
	low := top.Ancestor(max(0, top.Height-behind))
	again.SetActive(low)
	r.view.Set(again)
	r.publish(chainview.TipStep{To: low})
	var steps []chainview.TipStep
	for height := low.Height + 1; height <= top.Height; height++ {
		steps = append(steps, chainview.TipStep{To: top.Ancestor(height)})
	}
	again.SetActive(top)
	if len(steps) > 0 {
		r.publish(steps...)
	}
}

func (r *rig) stats() messages.StaleStats {
	r.t.Helper()
	got, err := ask.Ask(r.t.Context(), r.ref, nodemsg.GetStaleStats{})
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

func (r *rig) check(what string) {
	r.t.Helper()
	got := r.stats()
	want := r.want
	want.Alarm = want.Rate() > 0.10
	if got != want {
		r.t.Errorf("%s:\ngot  %+v\nwant %+v", what, got, want)
	}
}

// Blocks are counted once they are connected, and once more where a better branch takes their place.
func TestCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.check("at first")
		r.mine(3)
		r.check("three blocks")
		r.now = time.Unix(77, 0)
		r.reorganize(2, 3)
		r.check("reorganised")
		tip := r.chain.Active().Tip()
		for _, want := range []string{
			"Chain reorganization: depth=2\n", "Stale block detected: height=2 hash=",
			"Stale block detected: height=3 hash=", "(orphan rate: 25.0% over last 8 blocks)",
			"Stale block rate alert: rate=0.1429 stale=1 total=7 window=1000 threshold=0.10",
		} {
			if !strings.Contains(strings.ReplaceAll(r.log.String(), `"`, ""), want) {
				t.Errorf("no %q in %s", want, r.log.String())
			}
		}
		// It comes too late, twice.
		for range 2 {
			r.seen.Publish(nodemsg.StaleBlock{Hash: chainhash.Hash{1}, Height: tip.Height - 1})
		}
		r.want.Stale++
		r.want.Events++
		r.want.StaleEvents++
		r.want.LastHeight = tip.Height - 1
		r.check("a late block")
		// The operator invalidates the tip, and a branch that was stale is taken.
		r.chain.SetStatus(tip, tip.Status()|chainview.Failed)
		r.chain.SetActive(tip.Parent)
		r.publish(chainview.TipStep{To: tip.Parent})
		r.check("invalidated")
	})
}

// Blocks of the initial download do not count.
func TestInitialDownload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.view.SetImporting(true)
		r.mine(3)
		r.reorganize(1, 2)
		r.want = messages.StaleStats{Window: 1000, LastHeight: -1}
		r.check("in the initial download")
		r.lose = true
		r.mine(2)
		r.view.SetImporting(false)
		r.want = messages.StaleStats{Window: 1000, LastHeight: -1}
		synctest.Wait()
		r.mine(2)
		r.want.Connected, r.want.Events = 4, 4 // those that the instance before failed over
		r.check("after it")
	})
}

// Whether the actor fails, or the chain, in any order, no block is lost or counted twice.
func TestRestarts(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			r := newRig(t)
			r.mine(10)
			for range 25 {
				r.lose = rng.IntN(3) == 0
				time.Sleep(time.Hour) // an actor that fails too often is not started again
				what := "extended"
				switch rng.IntN(4) {
				case 0:
					what = "reorganised"
					r.reorganize(1+rng.Int32N(3), 1+rng.IntN(2))
				case 1:
					what = "opened again"
					r.reopen(rng.Int32N(4))
				default:
					r.mine(1 + rng.IntN(3))
				}
				if rng.IntN(2) == 0 {
					r.check(what)
				}
			}
			r.check("at the end")
		})
	}
}

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		r := newRig(t)
		return &actortest.Subject{
			Ref: r.ref, Served: stale.Requests,
			News: func() {
				r.mine(2)
				r.reorganize(1, 1)
			},
			Check: func() {
				r.mine(1)
				r.check("after a restart")
			},
		}
	})
}
