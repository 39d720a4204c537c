package scanner_test

import (
	"bytes"
	"errors"
	"os"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// flip damages the stored filter of a block on the active chain.
func (r *rig) flip(tb testing.TB, height int32) chainhash.Hash {
	tb.Helper()
	block := r.chain.Active().At(height).Hash
	entry, err := r.store.ByHash(&block)
	if err != nil {
		tb.Fatal(err)
	}
	for _, info := range r.store.Segments() {
		content, err := os.ReadFile(info.Path)
		if err != nil {
			tb.Fatal(err)
		}
		// The filter's own bytes, which are those of its key and block, may
		// lie there more than once only if it is tiny: flip every place.
		at, found := 0, false
		for {
			next := bytes.Index(content[at:], entry.Filter)
			if next < 0 {
				break
			}
			at += next
			content[at+len(entry.Filter)-1] ^= 0x10
			at, found = at+1, true
		}
		if !found {
			continue
		}
		// Written in place: the store has the file mapped.
		f, err := os.OpenFile(info.Path, os.O_WRONLY, 0)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := f.WriteAt(content, 0); err != nil {
			tb.Fatal(err)
		}
		if err := f.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	if _, err := r.store.ByHash(&block); err == nil {
		tb.Fatalf("the filter at height %d is not damaged", height)
	}
	return block
}

// Damaged filters are re-made while the scan runs, and it finds everything,
// however many workers meet them.
func TestDamageIsRepaired(t *testing.T) {
	const height = 250
	everything := order{to: height}
	for n := range reused {
		everything.scripts = append(everything.scripts, script(n))
	}
	for _, test := range []struct {
		name    string
		workers int
		flips   []int32 // heights of filters to damage
		cut     int     // a segment to cut; 0: none
		size    int64   // to which
	}{
		{"one filter, one worker", 1, []int32{100}, 0, 0},
		{"one filter, many workers", 8, []int32{3}, 0, 0},
		{"many filters, one worker", 1, []int32{0, 1, 2, 50, 99, 100, 249, height}, 0, 0},
		{"many filters, many workers", 8, []int32{0, 1, 2, 50, 99, 100, 249, height}, 0, 0},
		{"a file that was cut", 2, nil, 1, 100},
		{"an empty file", 2, nil, 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, height)
			if len(r.store.Segments()) < 3 {
				t.Fatalf("%d segments are too few", len(r.store.Segments()))
			}
			ref := r.spawn(options{workers: test.workers})
			for _, height := range test.flips {
				r.flip(t, height)
			}
			if test.cut != 0 {
				if err := os.Truncate(r.store.Segments()[test.cut].Path, test.size); err != nil {
					t.Fatal(err)
				}
			}
			result, err := r.run(t.Context(), ref, everything)
			r.check(t, answer{result, err}, everything)
			if result := do(t, r.indexer, messages.VerifyIndex{}); result.Rebuilt != 0 {
				t.Errorf("%d segments were still damaged", result.Rebuilt)
			}
		})
	}
}

// Every worker that meets damage before the repair, in an old view, has it
// repaired once more, and none takes the damage of another for a failure.
func TestDamageWhileOthersWork(t *testing.T) {
	const height = 150
	r := newRig(t, height)
	damaged := r.flip(t, 0)
	probe := r.sys.Probe("slow indexer")
	var units atomic.Int32
	ref := r.spawn(options{workers: 4, indexer: probe.Ref, hook: func(heights) { units.Add(1) }})
	o := order{scripts: [][]byte{script(1), script(0)}, to: height}
	answers := r.begin(t.Context(), t, ref, o)
	actortest.Expect[*ask.Call[messages.WaitIndexed, messages.Done]](probe).Answer(messages.Done{}, nil)
	call := actortest.Expect[*ask.Call[messages.RepairFilter, messages.Done]](probe)
	if call.Req.Block != damaged {
		t.Errorf("asks to repair %v, want %v", call.Req.Block, damaged)
	}
	for units.Load() < 3 { // the others go on
		if status := do(t, ref, messages.GetScanStatus{}); !status.Running || status.Height != 0 {
			t.Fatalf("status %+v over a hole at height 0", status)
		}
	}
	do(t, r.indexer, call.Req)
	call.Answer(messages.Done{}, nil)
	r.check(t, <-answers, o)
}

// An abort over a hole ends before it.
func TestAbortOverDamage(t *testing.T) {
	r := newRig(t, 100)
	r.flip(t, 60)
	probe := r.sys.Probe("slow indexer")
	ref := r.spawn(options{workers: 2, indexer: probe.Ref})
	answers := r.begin(t.Context(), t, ref, order{scripts: [][]byte{script(59), script(61)}, to: 100})
	actortest.Expect[*ask.Call[messages.WaitIndexed, messages.Done]](probe).Answer(messages.Done{}, nil)
	actortest.Expect[*ask.Call[messages.RepairFilter, messages.Done]](probe)
	if !do(t, ref, messages.AbortScan{}) {
		t.Error("nothing was aborted")
	}
	if got := <-answers; got.err != nil || got.result.Completed || got.result.To >= 60 {
		t.Errorf("answer %+v", got)
	}
}

// A filter that cannot be re-made fails the scan.
func TestDamageThatStays(t *testing.T) {
	o := order{scripts: [][]byte{script(1)}, to: 100}
	isFilterError := func(t *testing.T, got answer, block chainhash.Hash) {
		t.Helper()
		var failed *messages.FilterError
		if !errors.As(got.err, &failed) || failed.Block != block || got.result.Completed {
			t.Errorf("got %+v, want a FilterError of %v", got, block)
		}
	}
	t.Run("unreadable block", func(t *testing.T) {
		r := newRig(t, 100)
		damaged := r.flip(t, 42)
		r.chain.Fail(r.chain.Active().At(42), errBroken)
		ref := r.spawn(options{})
		got, err := r.run(t.Context(), ref, o)
		isFilterError(t, answer{got, err}, damaged)
		if !errors.Is(err, errBroken) {
			t.Errorf("the cause is lost: %v", err)
		}
		// It is no concern of a scan of other blocks.
		below := order{scripts: o.scripts, to: 41}
		got, err = r.run(t.Context(), ref, below)
		r.check(t, answer{got, err}, below)
	})
	t.Run("damaged again", func(t *testing.T) {
		r := newRig(t, 100)
		block := r.chain.Active().At(10).Hash
		ref := r.spawn(options{fault: func(at heights) any {
			if at.from <= 10 && 10 < at.to {
				return error(&match.DamagedError{Block: block, Err: errBroken})
			}
			return nil
		}})
		got, err := r.run(t.Context(), ref, o)
		isFilterError(t, answer{got, err}, block)
	})
	t.Run("not the filter that was stored", func(t *testing.T) {
		r := newRig(t, 100)
		ref := r.spawn(options{fault: func(at heights) any {
			return func(batch []filters.Filter) {
				if at.from <= 10 && 10 < at.to {
					batch[10-at.from].Data = []byte{0xff}
				}
			}
		}})
		got, err := r.run(t.Context(), ref, o)
		isFilterError(t, answer{got, err}, r.chain.Active().At(10).Hash)
	})
	t.Run("other error", func(t *testing.T) {
		r := newRig(t, 100)
		ref := r.spawn(options{fault: func(heights) any { return errBroken }})
		if got, err := r.run(t.Context(), ref, o); !errors.Is(err, errBroken) || got.Completed {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// A fault of the memory while it is matched is damage like any other.
func TestFaultWhileMatching(t *testing.T) {
	r := newRig(t, 100)
	var first atomic.Bool
	ref := r.spawn(options{fault: func(heights) any {
		if first.CompareAndSwap(false, true) {
			return guardFault{errBroken}
		}
		return nil
	}})
	o := order{scripts: [][]byte{script(1), script(70)}, to: 100}
	got, err := r.run(t.Context(), ref, o)
	r.check(t, answer{got, err}, o)
}
