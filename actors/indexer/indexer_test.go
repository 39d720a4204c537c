package indexer_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// The recorded chain, and the branch that takes over, have the filters and filter
// headers of btcutil and of Core. Filters of blocks that left the chain stay.
func TestRecordedChain(t *testing.T) {
	chain := recorded(t, enginetest.Chain)
	r := newRig(t, chain)
	r.spawn()
	r.announce(t)
	old := chain.Active().Tip()
	r.check(t, chain, old)
	first, err := r.store.ByHeight(1)
	if err != nil {
		t.Fatal(err)
	}
	const core = "6a783793083db14048d9ec598bb4d47a560e6a160f153f3e3dc96c15055eeb2a" // getblockfilter
	if got := first.Header.String(); got != core {
		t.Errorf("filter header at height 1 is %s, want %s", got, core)
	}
	addAll(t, chain, enginetest.Branch)
	if tip := chain.Active().Tip(); tip.Height != 361 {
		t.Fatalf("branch ends at height %d", tip.Height)
	}
	r.announce(t)
	r.check(t, chain, chain.Active().Tip())
	r.check(t, chain, old)
	if want := 355 + 361 - 336; r.store.Len() != want {
		t.Errorf("%d filters, want %d", r.store.Len(), want)
	}
}

// The index follows the real chain through invalidations and back.
func TestInvalidateAndReconsider(t *testing.T) {
	engine, err := enginetest.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Close() }()
	mine := func(script byte, n int) {
		t.Helper()
		for range n {
			tries := uint64(1 << 20)
			raw, err := engine.Mine(t.Context(), []byte{script}, nil, 0, &tries)
			if err == nil {
				err = engine.Accept(raw)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	chain := engine.Reader()
	mine(0x51, 30)
	r := newRig(t, chain)
	r.spawn()
	r.announce(t)
	old := chain.Active().Tip()
	if err := engine.Invalidate(&old.Ancestor(10).Hash); err != nil {
		t.Fatal(err)
	}
	r.announce(t) // at height 9
	mine(0x52, 5)
	r.announce(t)
	other := chain.Active().Tip()
	if err := engine.Reconsider(&old.Ancestor(10).Hash); err != nil {
		t.Fatal(err)
	}
	r.announce(t)
	if chain.Active().Tip() != old {
		t.Errorf("at height %d", chain.Active().Height())
	}
	r.check(t, chain, old)
	r.check(t, chain, other)
}

// After an unclean stop the chain may have lost blocks that the index has. The
// index goes back, and forward again without building anything twice.
func TestIndexAheadOfTheChain(t *testing.T) {
	whole := newChain(50)
	r := newRig(t, whole)
	r.spawn()
	r.announce(t)
	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	short := newChain(30)
	r.view.Set(short)
	r.spawn()
	r.announce(t)
	if r.store.Len() != 51 {
		t.Errorf("%d filters, want 51", r.store.Len())
	}
	for h := int32(31); h <= 50; h++ {
		raw, err := whole.Raw(&whole.Active().At(h).Hash)
		if err != nil {
			t.Fatal(err)
		}
		b, err := short.Add(raw)
		if err != nil {
			t.Fatal(err)
		}
		short.Fail(b, errBroken) // nobody needs to read it
	}
	r.announce(t)
	r.check(t, whole, whole.Active().Tip())
}

// An index whose building was stopped in the middle goes on from there.
func TestStoppedInTheMiddle(t *testing.T) {
	const height = 3000 // several batches
	chain := newChain(height)
	r := newRig(t, chain)
	reached := make(chan struct{})
	r.view.Set(hookedReader{chain, once(chain, 1500, func() error { close(reached); return nil })})
	r.spawn()
	<-reached
	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := r.store.Len(); n < 1024 || n > height {
		t.Errorf("%d filters were kept", n)
	}
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	r.openStore(t)
	kept := r.store.Len()
	r.view.Set(hookedReader{chain, func(hash *chainhash.Hash) error {
		if h := chain.Lookup(hash).Height; int(h) < kept {
			t.Errorf("height %d is built again", h)
		}
		return nil
	}})
	r.spawn()
	r.announce(t)
	if got := do(t, r.Ref, messages.GetIndexStatus{}); !got.Synced || got.Height != height {
		t.Errorf("status %+v", got)
	}
	r.check(t, chain, chain.Active().Tip())
}

func TestWaitIndexed(t *testing.T) {
	chain := newChain(20)
	r := newRig(t, chain)
	r.spawn()
	r.announce(t)
	side := chain.Active().At(10)
	for range 3 {
		side = chain.MineOn(side, chaintest.Template{Script: []byte{0x53}})
	}
	header := chain.AddHeader(chain.Active().Tip())
	broken := chain.MineOn(side, chaintest.Template{})
	chain.FailUndo(broken, errBroken)
	for _, test := range []struct {
		name  string
		block chainhash.Hash
		want  error
	}{
		{"genesis", chain.Active().At(0).Hash, nil},
		{"tip", chain.Active().Tip().Hash, nil},
		{"never active", side.Hash, nil},
		{"again", side.Hash, nil},
		{"never active and unreadable", broken.Hash, errBroken},
		{"unknown", chainhash.Hash{1}, messages.ErrBlockNotFound},
		{"header only", header.Hash, chainview.ErrNotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ask.Ask(t.Context(), r.Ref, messages.WaitIndexed{Block: test.block})
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if test.want == nil && !r.store.Has(&test.block) {
				t.Error("there is no filter")
			}
		})
	}
	r.check(t, chain, side)
	if height, hash, _ := r.store.Tip(); hash != chain.Active().Tip().Hash {
		t.Errorf("the index moved to height %d", height)
	}
	if errs := r.failures(); len(errs) != 0 {
		t.Errorf("failed: %v", errs)
	}
}

// Callers wait for filters that are yet to be built. A caller that leaves is forgotten.
func TestWaitIndexedWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		chain := newChain(20)
		r := newRig(t, nil)
		held := make(chan struct{})
		r.view.Set(hookedReader{chain, func(*chainhash.Hash) error { <-held; return nil }})
		r.spawn()
		answers := make(chan error, 2)
		wait := func(ctx context.Context) {
			_, err := ask.Ask(ctx, r.Ref, messages.WaitIndexed{Block: chain.Active().Tip().Hash})
			answers <- err
		}
		ctx, leave := context.WithCancel(t.Context())
		go wait(ctx)
		go wait(t.Context())
		synctest.Wait()
		leave()
		if err := <-answers; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		synctest.Wait()
		if len(answers) != 0 {
			t.Fatalf("answered before it is built: %v", <-answers)
		}
		close(held)
		if err := <-answers; err != nil {
			t.Error(err)
		}
	})
}

// WaitIndexIdle waits for blocks that were announced before, once the index has been in step.
func TestWaitIndexIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		chain := newChain(20)
		r := newRig(t, nil)
		held := make(chan struct{})
		r.view.Set(hookedReader{chain, func(*chainhash.Hash) error { <-held; return nil }})
		r.spawn()
		do(t, r.Ref, messages.WaitIndexIdle{}) // has not been in step
		held <- struct{}{}
		close(held)
		r.announce(t)

		again := make(chan struct{})
		r.view.Set(hookedReader{chain, func(*chainhash.Hash) error { <-again; return nil }})
		tip := chain.MineN(5)
		r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
		idle := make(chan error, 1)
		go func() { _, err := ask.Ask(t.Context(), r.Ref, messages.WaitIndexIdle{}); idle <- err }()
		synctest.Wait()
		if len(idle) != 0 {
			t.Fatal("idle while it builds")
		}
		close(again)
		if err := <-idle; err != nil {
			t.Error(err)
		}
		if height, _, _ := r.store.Tip(); height != 25 {
			t.Errorf("idle at height %d", height)
		}
	})
}

// The answers to each request before the chain is open, while the index is built and when it is
// in step.
func TestStates(t *testing.T) {
	chain := newChain(40)
	genesis, tip := chain.Active().At(0).Hash, chain.Active().Tip().Hash
	type state string
	const (
		noChain  state = "no chain"
		building state = "building"
		synced   state = "synced"
	)
	all := []state{noChain, building, synced}
	for _, test := range []struct {
		name   string
		ask    func(context.Context, *ask.Ref) error
		atOnce map[state]bool
		err    map[state]error
	}{
		{
			"GetIndexStatus", request(messages.GetIndexStatus{}),
			map[state]bool{noChain: true, building: true, synced: true},
			nil,
		},
		{"WaitIndexed", request(messages.WaitIndexed{Block: tip}), map[state]bool{synced: true}, nil},
		{
			"WaitIndexed, unknown block", request(messages.WaitIndexed{Block: chainhash.Hash{1}}),
			map[state]bool{building: true, synced: true},
			map[state]error{
				noChain: messages.ErrBlockNotFound, building: messages.ErrBlockNotFound,
				synced: messages.ErrBlockNotFound,
			},
		},
		{
			"WaitIndexIdle", request(messages.WaitIndexIdle{}),
			map[state]bool{noChain: true, building: true, synced: true},
			nil,
		},
		{
			"RepairFilter", request(messages.RepairFilter{Block: genesis}),
			map[state]bool{noChain: true, building: true, synced: true},
			map[state]error{noChain: segment.ErrNotFound, building: segment.ErrNotFound},
		},
		{
			"VerifyIndex", request(messages.VerifyIndex{}),
			map[state]bool{noChain: true, building: true, synced: true},
			nil,
		},
	} {
		for _, s := range all {
			t.Run(test.name+"/"+string(s), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					actortest.InBubble(t)
					r := newRig(t, nil)
					held := make(chan struct{})
					hooked := hookedReader{chain, func(*chainhash.Hash) error { <-held; return nil }}
					if s != noChain {
						r.view.Set(hooked)
					}
					r.spawn()
					if s == synced {
						close(held)
					}
					synctest.Wait()
					answer := make(chan error, 1)
					go func() { answer <- test.ask(t.Context(), r.Ref) }()
					synctest.Wait()
					if atOnce := len(answer) == 1; atOnce != test.atOnce[s] {
						t.Errorf("answered at once: %v", atOnce)
					}
					if s == noChain {
						r.view.Set(hooked)
						r.tip.Publish(messages.TipChanged{Hash: tip})
					}
					if s != synced {
						close(held)
					}
					if err := <-answer; !errors.Is(err, test.err[s]) {
						t.Errorf("got %v, want %v", err, test.err[s])
					}
					do(t, r.Ref, messages.WaitIndexed{Block: tip})
				})
			})
		}
	}
}

func request[Q messages.Request[R], R any](q Q) func(context.Context, *ask.Ref) error {
	return func(ctx context.Context, ref *ask.Ref) error {
		_, err := ask.Ask(ctx, ref, q)
		return err
	}
}

// A plain protoactor request with the message by value is answered with a value
// or an error.
func TestPlainRequests(t *testing.T) {
	chain := newChain(10)
	r := newRig(t, chain)
	r.spawn()
	r.announce(t)
	tip := chain.Active().Tip().Hash
	for _, test := range []struct{ ask, want any }{
		{messages.GetIndexStatus{}, messages.IndexStatus{Synced: true, Height: 10, Hash: tip}},
		{messages.WaitIndexed{Block: tip}, messages.Done{}},
		{messages.WaitIndexIdle{}, messages.Done{}},
		{messages.RepairFilter{Block: tip}, messages.Done{}},
		{messages.VerifyIndex{}, messages.VerifyResult{Segments: len(r.store.Segments())}},
	} {
		got, err := r.sys.Root.RequestFuture(r.PID(), test.ask, 5*time.Second).Result()
		if err != nil || got != test.want {
			t.Errorf("%T: %v, %v", test.ask, got, err)
		}
	}
	got, err := r.sys.Root.RequestFuture(
		r.PID(), messages.WaitIndexed{Block: chainhash.Hash{1}}, 5*time.Second,
	).Result()
	if answer, ok := got.(error); err != nil || !ok || !errors.Is(answer, messages.ErrBlockNotFound) {
		t.Errorf("unknown block: %v, %v", got, err)
	}
}
