package scanner_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// Any scan finds the same blocks as matching every filter with btcutil, in ascending height.
func TestScanAgreesWithBtcutil(t *testing.T) {
	const height = 200
	r := newRig(t, height)
	refs := []*ask.Ref{
		r.spawn(options{workers: 1, name: "1"}), r.spawn(options{workers: 2, name: "2"}),
		r.spawn(options{workers: 7, name: "7"}),
	}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 4), rapid.IntRange(500, 1500)).Draw(rt, "scripts")
		o := order{from: rapid.Int32Range(0, height).Draw(rt, "from")}
		o.to = rapid.Int32Range(o.from, height).Draw(rt, "to")
		first := rapid.IntRange(0, 1200).Draw(rt, "first") // of which some are on the chain
		for i := range n {
			o.scripts = append(o.scripts, script(first+i))
		}
		ref := refs[rapid.IntRange(0, len(refs)-1).Draw(rt, "scanner")]
		result, err := r.run(t.Context(), ref, o)
		r.check(rt, answer{result, err}, o)
	})
}

// An abort is answered at once, with the result up to the frontier. The status never goes back, and
// the slot is free although the workers have not stopped.
func TestAbort(t *testing.T) {
	const height = 300
	r := newRig(t, height)
	o := order{scripts: [][]byte{script(3), script(8)}, from: 5, to: height}
	full := r.expected(t, o)
	held, turn := make(chan struct{}), make(chan struct{})
	var stuck atomic.Bool
	ref := r.spawn(options{workers: 3, hook: func(at heights) {
		if at.to > 150 || stuck.Load() {
			stuck.Store(true)
			<-held
			return
		}
		<-turn
	}})
	defer close(turn)
	defer close(held)
	answers := r.begin(t.Context(), t, ref, o)
	last := messages.ScanStatus{Running: true}
	for !stuck.Load() {
		select {
		case turn <- struct{}{}:
		default:
		}
		status := do(t, ref, messages.GetScanStatus{})
		if !status.Running || status.Height < last.Height || status.Progress < last.Progress || status.Progress > 100 {
			t.Fatalf("status went from %+v to %+v", last, status)
		}
		last = status
	}
	if !do(t, ref, messages.AbortScan{}) {
		t.Error("nothing was aborted")
	}
	got := <-answers
	if got.err != nil || got.result.Completed || got.result.From != 5 || got.result.To < last.Height ||
		got.result.To >= height {
		t.Errorf("answer %+v", got)
	}
	n := len(got.result.Blocks)
	if n > len(full) || !slices.Equal(got.result.Blocks, full[:n]) {
		t.Errorf("found %d blocks, which are not the first of %d", n, len(full))
	}
	for i, hash := range full {
		if h := r.chain.Lookup(&hash).Height; h <= got.result.To != (i < n) {
			t.Errorf("the block at height %d, up to %d were scanned", h, got.result.To)
		}
	}
	if do(t, ref, messages.AbortScan{}) {
		t.Error("aborted twice")
	}
	do(t, ref, messages.ReserveScan{})
}

// An abort while the scripts are prepared is told to the holder of the slot, who keeps it until it
// runs the scan or gives the slot back. A scan in the aborted slot is answered as if it was aborted
// before its start.
func TestAbortOfAReservation(t *testing.T) {
	r := newRig(t, 10)
	ref := r.spawn(options{})
	for _, runs := range []bool{true, false} {
		slot := do(t, ref, messages.ReserveScan{})
		select {
		case <-slot.Aborted:
			t.Fatal("aborted before the abort")
		default:
		}
		for range 2 {
			if !do(t, ref, messages.AbortScan{}) {
				t.Error("nothing was aborted")
			}
		}
		<-slot.Aborted
		if _, err := ask.Ask(t.Context(), ref, messages.ReserveScan{}); !errors.Is(err, messages.ErrScanBusy) {
			t.Errorf("a second scan before the first has ended: %v", err)
		}
		if !runs {
			do(t, ref, messages.ReleaseScan{Slot: slot.ID})
		}
		request := r.request(slot, order{scripts: [][]byte{script(1)}, from: 2, to: 10})
		got, err := ask.Ask(t.Context(), ref, request)
		if !runs {
			if !errors.Is(err, messages.ErrNoSuchScan) {
				t.Errorf("after the release: %+v, %v", got, err)
			}
		} else if err != nil || got.Completed || len(got.Blocks) != 0 || got.From != 2 || got.To != 2 {
			t.Errorf("got %+v, %v", got, err)
		}
		if do(t, ref, messages.AbortScan{}) {
			t.Error("aborted again after the end")
		}
	}
}

// Abort and status are served while all call slots are taken.
func TestControlAtAnyLoad(t *testing.T) {
	r := newRig(t, 20)
	probe := r.sys.Probe("waiting")
	ref := r.spawn(options{indexer: probe.Ref})
	answers := r.begin(t.Context(), t, ref, order{to: 20})
	actortest.Expect[*ask.Call[messages.WaitIndexed, messages.Done]](probe)
	if _, err := ask.Ask(t.Context(), ref, messages.GetScanStatus{}); err != nil {
		t.Error(err)
	}
	if aborted, err := ask.Ask(t.Context(), ref, messages.AbortScan{}); err != nil || !aborted {
		t.Error(aborted, err)
	}
	if got := <-answers; got.err != nil || got.result.Completed {
		t.Errorf("answer %+v", got)
	}
}

// A client that leaves ends nothing: the scan goes on to its end.
func TestClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		const height = 120
		r := newRig(t, height)
		held := make(chan struct{})
		var matched atomic.Int32
		ref := r.spawn(options{hook: func(at heights) {
			<-held
			matched.Add(at.to - at.from)
		}})
		ctx, leave := context.WithCancel(t.Context())
		answers := r.begin(ctx, t, ref, order{scripts: [][]byte{script(1)}, to: height})
		synctest.Wait()
		leave()
		if got := <-answers; !errors.Is(got.err, context.Canceled) {
			t.Errorf("the client got %v", got.err)
		}
		synctest.Wait()
		if status := do(t, ref, messages.GetScanStatus{}); !status.Running {
			t.Error("the scan has ended")
		}
		close(held)
		synctest.Wait()
		if n := matched.Load(); n != height+1 {
			t.Errorf("%d filters were matched, want %d", n, height+1)
		}
		if status := do(t, ref, messages.GetScanStatus{}); status.Running {
			t.Errorf("still running: %+v", status)
		}
	})
}

// The blocks of a scan are the ancestors of its stop block, though that leaves
// the active chain while the scan runs, or before.
func TestStopBlockLeavesTheChain(t *testing.T) {
	r := newRig(t, 60)
	o := order{scripts: [][]byte{script(30), script(55), script(60)}, to: 60}
	want := r.expected(t, o)
	held := make(chan struct{})
	reached := make(chan struct{}, 100)
	ref := r.spawn(options{hook: func(heights) { reached <- struct{}{}; <-held }})
	answers := r.begin(t.Context(), t, ref, o)
	<-reached
	tip := r.chain.Active().Tip()
	fork := r.chain.Active().At(50)
	for range 20 {
		fork = r.chain.MineOn(fork, chaintest.Template{Script: script(99)})
	}
	if r.chain.Active().Contains(tip) {
		t.Fatal("no reorganisation")
	}
	close(held)
	if got := <-answers; got.err != nil || !got.result.Completed || got.result.To != 60 ||
		!slices.Equal(got.result.Blocks, want) {
		t.Errorf("while it ran: %+v", got)
	}
	slot := do(t, ref, messages.ReserveScan{})
	got, err := ask.Ask(t.Context(), ref, messages.RunScan{Slot: slot.ID, Scripts: o.scripts, Stop: tip.Hash})
	if err != nil || !got.Completed || !slices.Equal(got.Blocks, want) {
		t.Errorf("before: %+v, %v", got, err)
	}
}

// A scan waits for filters that are yet to be built, and for no others.
func TestWaitsForTheIndex(t *testing.T) {
	r := newRig(t, 30)
	probe := r.sys.Probe("waiting")
	ref := r.spawn(options{indexer: probe.Ref})
	o := order{scripts: [][]byte{script(2)}, to: 20}
	answers := r.begin(t.Context(), t, ref, o)
	call := actortest.Expect[*ask.Call[messages.WaitIndexed, messages.Done]](probe)
	if want := r.chain.Active().At(20).Hash; call.Req.Block != want {
		t.Errorf("waits for %v, want %v", call.Req.Block, want)
	}
	if status := do(t, ref, messages.GetScanStatus{}); status != (messages.ScanStatus{Running: true}) {
		t.Errorf("status %+v", status)
	}
	call.Answer(messages.Done{}, nil)
	r.check(t, <-answers, o)

	answers = r.begin(t.Context(), t, ref, o)
	restarted := fmt.Errorf("ask indexer: %w", ask.ErrRestarted) // its next instance is asked
	actortest.Expect[*ask.Call[messages.WaitIndexed, messages.Done]](probe).Answer(messages.Done{}, restarted)
	actortest.Expect[*ask.Call[messages.WaitIndexed, messages.Done]](probe).Answer(messages.Done{}, errBroken)
	got := <-answers
	var failed *messages.FilterError
	if !errors.As(got.err, &failed) || failed.Block != r.chain.Active().At(20).Hash || !errors.Is(got.err, errBroken) {
		t.Errorf("a filter that cannot be built: %v", got.err)
	}

	answers = r.begin(t.Context(), t, ref, o)
	for range 3 { // then it fails over the request itself, perhaps
		actortest.Expect[*ask.Call[messages.WaitIndexed, messages.Done]](probe).Answer(messages.Done{}, restarted)
	}
	if got := <-answers; !errors.Is(got.err, ask.ErrRestarted) {
		t.Errorf("an indexer that fails again and again: %v", got.err)
	}
	do(t, ref, messages.ReserveScan{})
}

// CheckBlocks looks into the blocks that match: the genesis block's filter
// matches this script, which the block does not have.
func TestCheckBlocks(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) { checkCheckBlocks(t, way) })
	}
}

// ways are those in which a scan may look into blocks.
var ways = map[string]match.Way{"filters": match.WayFilters, "blocks": match.WayBlocks}

func checkCheckBlocks(t *testing.T, way match.Way) {
	t.Helper()
	r := newRig(t, 100)
	falsePositive, err := hex.DecodeString("001400000000000000000000000000000000000cadcb")
	if err != nil {
		t.Fatal(err)
	}
	ref := r.spawn(options{way: way})
	o := order{scripts: [][]byte{falsePositive, script(9), script(1010)}, to: 100}
	loose, err := r.run(t.Context(), ref, o)
	r.check(t, answer{loose, err}, o)
	if len(loose.Blocks) == 0 || loose.Blocks[0] != r.chain.Active().At(0).Hash {
		t.Fatal("the genesis block does not match")
	}
	o.checkBlocks = true
	strict, err := r.run(t.Context(), ref, o)
	if err != nil || !strict.Completed || !slices.Equal(strict.Blocks, loose.Blocks[1:]) {
		t.Errorf("checked: %d of %d blocks, %v", len(strict.Blocks), len(loose.Blocks), err)
	}

	// A block that cannot be read fails the scan that has to look into it, and
	// no other.
	r.chain.Fail(r.chain.Active().At(9), errBroken)
	if got, err := r.run(t.Context(), ref, o); !errors.Is(err, errBroken) || got.Completed {
		t.Errorf("unreadable block: %+v, %v", got, err)
	}
	r.chain.Fail(r.chain.Active().At(9), nil)
	r.chain.FailUndo(r.chain.Active().At(10), errBroken)
	if got, err := r.run(t.Context(), ref, o); !errors.Is(err, errBroken) || got.Completed {
		t.Errorf("unreadable undo data: %+v, %v", got, err)
	}
	o.scripts = o.scripts[:2]
	if _, err := r.run(t.Context(), ref, o); err != nil {
		t.Errorf("a scan that does not need it: %v", err)
	}
}

var errBroken = errors.New("disk is gone")

// A scan of blocks that have their filters waits for no indexer, and holds no filters
// afterwards.
func TestScanOfIndexedBlocks(t *testing.T) {
	r := newRig(t, 40)
	var held atomic.Int32
	busy := r.sys.Probe("busy indexer")
	ref := r.spawn(options{
		indexer: busy.Ref, indexed: true, source: countedSource{filter.NewSource(r.store), &held},
	})
	o := order{scripts: [][]byte{script(7)}, to: 40}
	got, err := r.run(t.Context(), ref, o)
	r.check(t, answer{got, err}, o)
	if n := held.Load(); n != 0 {
		t.Errorf("%d views are held", n)
	}
}
