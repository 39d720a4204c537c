package scanner_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// countedSource counts the views that are held.
type countedSource struct {
	match.Source
	held *atomic.Int32
}

func (s countedSource) View() match.View {
	s.held.Add(1)
	return &countedView{View: s.Source.View(), held: s.held}
}

type countedView struct {
	match.View
	held *atomic.Int32
	once sync.Once
}

func (v *countedView) Release() {
	v.once.Do(func() { v.held.Add(-1) })
	v.View.Release()
}

// After an abort the workers end with the filters that they are at, and give their
// views back.
func TestWorkersEndAfterAnAbort(t *testing.T) {
	const height, workers = 300, 2
	r := newRig(t, height)
	var held, read atomic.Int32
	entered, release := make(chan struct{}, height), make(chan struct{})
	ref := r.spawn(options{
		workers: workers, source: countedSource{filter.NewSource(r.store), &held},
		hook: func(heights) {
			read.Add(1)
			entered <- struct{}{}
			<-release
		},
	})
	answers := r.begin(t.Context(), t, ref, order{scripts: [][]byte{script(3)}, from: 1, to: height})
	for range workers {
		<-entered
	}
	do(t, ref, messages.AbortScan{})
	if got := <-answers; got.err != nil || got.result.Completed {
		t.Errorf("answer %+v", got)
	}
	close(release)
	for held.Load() > 0 && t.Context().Err() == nil {
		do(t, ref, messages.GetScanStatus{})
	}
	if n := read.Load(); n != workers {
		t.Errorf("%d units were read, %d of them after the abort", n, n-workers)
	}
}

// A scan that is held at its last block is not complete.
func TestAbortAtTheLastBlock(t *testing.T) {
	const height = 60
	r := newRig(t, height)
	for _, from := range []int32{height, height - 1, 1} {
		entered, release := make(chan struct{}, 100), make(chan struct{})
		ref := r.spawn(options{workers: 1, name: string('a' + from%26), hook: func(at heights) {
			if at.to > height {
				entered <- struct{}{}
				<-release
			}
		}})
		answers := r.begin(t.Context(), t, ref, order{
			scripts: [][]byte{script(height % reused)}, from: from, to: height,
		})
		<-entered
		do(t, ref, messages.AbortScan{})
		got := <-answers
		last := r.chain.Active().At(height).Hash
		if got.err != nil || got.result.Completed || slices.Contains(got.result.Blocks, last) {
			t.Errorf("from %d: answer %+v", from, got)
		}
		close(release)
		if err := ref.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// An abort of another slot ends nothing.
func TestAbortOfASlot(t *testing.T) {
	r := newRig(t, 3)
	ref := r.spawn(options{})
	slot := do(t, ref, messages.ReserveScan{})
	if do(t, ref, messages.AbortScan{Slot: slot.ID + 1}) {
		t.Error("another slot was aborted")
	}
	select {
	case <-slot.Aborted:
		t.Error("the slot was aborted")
	default:
	}
	if !do(t, ref, messages.AbortScan{Slot: slot.ID}) {
		t.Error("the slot was not aborted")
	}
	<-slot.Aborted
	do(t, ref, messages.ReleaseScan{Slot: slot.ID})
	if do(t, ref, messages.AbortScan{Slot: slot.ID}) {
		t.Error("a slot that was given back was aborted")
	}
}
