package indexer_test

import (
	"runtime"
	"testing"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/rangefilter"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// waitProbes waits until no filter lacks its probe lines.
func (r *rig) waitProbes(tb testing.TB) {
	tb.Helper()
	for do(tb, r.Ref, messages.GetIndexStatus{}).WithoutProbes > 0 {
		runtime.Gosched()
	}
}

// checkLines compares the lines of all filters with those that they should have.
func (r *rig) checkLines(tb testing.TB) {
	tb.Helper()
	v := r.store.View()
	defer v.Release()
	var got segment.Stored
	for height := range v.Tip() + 1 {
		if err := v.Stored(height, nil, &got); err != nil {
			tb.Fatal(err)
		}
		lines, n, err := filters.AppendLines(nil, got.Block, got.Filter)
		if err != nil {
			tb.Fatal(err)
		}
		if got.Items != n || string(got.Lines) != string(lines) {
			tb.Fatalf("wrong lines at height %d", height)
		}
	}
}

// An index that was made without probe lines gets them when it is in step, new
// blocks get theirs, and lost ones come again.
func TestLines(t *testing.T) {
	chain := newChain(2100)
	r := newRig(t, chain)
	r.spawn()
	r.announce(t)
	if got := do(t, r.Ref, messages.GetIndexStatus{}); got.WithoutProbes != 0 {
		t.Errorf("%d filters wait for lines that are not kept", got.WithoutProbes)
	}
	r.Stop(t.Context())
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}

	r.lines = filters.AppendLines
	r.openStore(t)
	r.flip(t, 3)
	r.spawn()
	r.announce(t)
	r.waitProbes(t)
	r.checkLines(t)

	chain.MineN(3)
	r.announce(t)
	r.waitProbes(t)
	r.checkLines(t)

	tip := chain.Active().At(40).Hash
	r.store.DropLines(&tip)
	r.waitProbes(t)
	r.checkLines(t)
	if err := r.failures(); err != nil {
		t.Error(err)
	}
}

// After a failure, missing lines are tried again with the next block.
func TestLinesAfterAFailure(t *testing.T) {
	chain := newChain(2100)
	r := newRig(t, chain)
	r.spawn()
	r.announce(t)
	r.Stop(t.Context())
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	r.lines = filters.AppendLines
	r.openStore(t)
	r.flip(t, 3)
	failed := make(chan struct{})
	r.view.Set(hookedReader{chain, once(chain, 3, func() error { close(failed); return errBroken })})
	r.spawn()
	r.announce(t)
	<-failed
	for do(t, r.Ref, messages.GetIndexStatus{}).WithoutProbes > 0 {
		chain.MineN(1)
		r.announce(t)
	}
	r.checkLines(t)
	if err := r.failures(); err != nil {
		t.Error(err)
	}
}

// Range filters are made of all indexed blocks, and have all scripts of these blocks.
func TestRangeFilters(t *testing.T) {
	chain := newChain(2100)
	r := newRig(t, chain)
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	r.ranges = true
	r.openStore(t)
	r.spawn()
	r.announce(t)
	for made := false; !made; runtime.Gosched() {
		_, _, left := r.store.NextRange()
		made = !left
	}
	v := r.store.View()
	defer v.Release()
	got, to, ok := v.Range(0)
	if !ok || to != 2048 {
		t.Fatalf("filter %v up to %d", ok, to)
	}
	filter, err := rangefilter.Parse(got.Data)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := r.store.RangeKey()
	key := rangefilter.Key(secret)
	for height := range to {
		hash := chain.Active().At(height).Hash
		raw, err := chain.Raw(&hash)
		if err != nil {
			t.Fatal(err)
		}
		spent, err := chain.SpentScripts(&hash)
		if err != nil {
			t.Fatal(err)
		}
		err = filters.EachOutputScript(raw, filters.HeaderLen, func(script []byte) bool {
			spent = append(spent, script)
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, script := range spent {
			if !filter.Has(key.Hash(script)) {
				t.Fatalf("height %d: script %x is missing", height, script)
			}
		}
	}
}
