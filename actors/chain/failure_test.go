package chain_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

var errDisk = errors.New("disk is gone")

// A panic, wherever it happens, is at once the answer to waiting calls, and the
// next instance opens the chain again and goes on.
func TestPanic(t *testing.T) {
	for _, test := range []struct {
		name, method string
		ask          func(context.Context, *ask.Ref) error
	}{
		{"in Receive", "Reader", request(messages.GetTip{})},
		{"in the worker", "Mine", request(messages.Generate{Script: trueScript, Count: 1, Tries: many})},
		{"at the commit", "Sync", request(messages.SetMockTime{})},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := spawnIn(t, t.TempDir(), func(method string) error {
				if method == "Behind" {
					return errors.ErrUnsupported // else its work might meet the panic
				}
				return nil
			})
			before := f.generate(t, 3)
			f.onCall(once(test.method, func() error { panic("boom") }))
			if err := test.ask(t.Context(), f.Ref); !errors.Is(err, ask.ErrRestarted) {
				t.Errorf("got %v, want %v", err, ask.ErrRestarted)
			}
			if tip := do(t, f, messages.WaitOpen{}); tip != before {
				t.Errorf("after the restart at %v, want %v", tip, before)
			}
			if tip := f.generate(t, 1); tip.Height != 4 {
				t.Errorf("went on to height %d", tip.Height)
			}
			if f.opened != 2 {
				t.Errorf("opened %d times", f.opened)
			}
		})
	}
}

// The engine that is opened after a panic knows the prune locks, and that
// pruning has begun, whether or not the engine before came to be used.
func TestPruningAfterPanic(t *testing.T) {
	f := spawn(t)
	f.generate(t, 3)
	do(t, f, nodemsg.SetPruneLock{Name: "index", Height: 2})
	do(t, f, nodemsg.SetPruneLock{Name: "other", Height: 3})
	do(t, f, nodemsg.StartPruning{})
	want, first := f.engine.PruneState(), f.engine
	opening := 0
	f.onCall(func(method string) error {
		switch {
		case method == "Mine":
			panic("boom")
		case method == "Open":
			if opening++; opening == 1 {
				panic("while it is opened")
			}
		case method == "Reader" && opening == 2:
			opening++
			panic("when it is taken over")
		}
		return nil
	})
	_, err := ask.Ask(t.Context(), f.Ref, messages.Generate{Script: trueScript, Count: 1, Tries: many})
	if !errors.Is(err, ask.ErrRestarted) {
		t.Fatal(err)
	}
	for opened := false; !opened; { // each panic answers waiting calls
		_, err := ask.Ask(t.Context(), f.Ref, messages.WaitOpen{})
		if opened = err == nil; !opened && !errors.Is(err, ask.ErrRestarted) {
			t.Fatal(err)
		}
	}
	if got := f.engine.PruneState(); f.engine == first || opening != 4 || !reflect.DeepEqual(got, want) {
		t.Errorf("opening %d: %+v, want %+v", opening, got, want)
	}
}

// A panic while it opens costs one more try to open.
func TestPanicWhileOpening(t *testing.T) {
	f := spawnIn(t, t.TempDir(), once("Open", func() error { panic("boom") }))
	if _, err := ask.Ask(t.Context(), f.Ref, messages.WaitOpen{}); err != nil && !errors.Is(err, ask.ErrRestarted) {
		t.Fatal(err)
	}
	if tip := f.generate(t, 1); tip.Height != 1 {
		t.Errorf("at %v", tip)
	}
}

// A panic in the middle of an import reads the file again, and finds most of
// its blocks known.
func TestPanicWhileImporting(t *testing.T) {
	blocks := enginetest.Blocks(t, enginetest.Chain)[:60]
	calls := 0
	f := spawnIn(t, t.TempDir(), func(method string) error {
		if method == "Accept" {
			if calls++; calls == 30 {
				panic("boom")
			}
		}
		return nil
	}, blockFile(t, 0, blocks...))
	if _, err := ask.Ask(t.Context(), f.Ref, messages.WaitImported{}); err != nil && !errors.Is(err, ask.ErrRestarted) {
		t.Fatal(err)
	}
	do(t, f, messages.WaitImported{})
	if tip := do(t, f, messages.GetTip{}); tip.Height != 59 {
		t.Errorf("height %d, want 59", tip.Height)
	}
}

// An engine that breaks ends the actor for good, visibly: the caller gets the
// cause, OnFailed is told, Done is closed.
func TestBrokenEngine(t *testing.T) {
	for _, method := range []string{"Mine", "Accept", "Sync"} {
		t.Run(method, func(t *testing.T) {
			f := spawn(t)
			f.generate(t, 1)
			f.onCall(once(method, func() error { return errDisk }))
			_, err := ask.Ask(t.Context(), f.Ref, messages.Generate{Script: trueScript, Count: 1, Tries: many})
			if !errors.Is(err, errDisk) {
				t.Errorf("caller got %v", err)
			}
			<-f.Done()
			if errs := f.failures(); len(errs) != 1 || !errors.Is(errs[0], errDisk) {
				t.Errorf("OnFailed got %v", errs)
			}
		})
	}
}

func TestFailureToOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		held := make(chan struct{})
		f := spawnIn(t, t.TempDir(), once("Open", func() error { <-held; return errDisk }))
		answers := make(chan error)
		for _, test := range requests {
			if !test.opening {
				go func() { answers <- test.ask(t.Context(), f.Ref) }()
			}
		}
		synctest.Wait()
		close(held)
		for _, test := range requests {
			if test.opening {
				continue
			}
			if err := <-answers; !errors.Is(err, ask.ErrStopped) {
				t.Errorf("answered %v, want %v", err, ask.ErrStopped)
			}
		}
		<-f.Done()
		if errs := f.failures(); len(errs) != 1 || !errors.Is(errs[0], errDisk) {
			t.Errorf("OnFailed got %v", errs)
		}
	})
}

// Stopping answers everyone, whatever the actor is at, and leaves a chain that
// can be opened again at once.
func TestStop(t *testing.T) {
	for _, state := range []struct{ name, method string }{
		{"opening", "Open"}, {"importing", "Accept"}, {"mining", "Mine"},
	} {
		t.Run(state.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				actortest.InBubble(t)
				held := make(chan struct{})
				var files []string
				if state.method == "Accept" {
					files = []string{blockFile(t, 0, enginetest.Blocks(t, enginetest.Chain)[:20]...)}
				}
				f := spawnIn(t, dir, once(state.method, func() error { <-held; return nil }), files...)
				const callers = 5
				answers := make(chan error, callers)
				for range callers {
					go func() {
						answers <- request(messages.Generate{Script: trueScript, Count: 1, Tries: many})(
							t.Context(), f.Ref,
						)
					}()
				}
				synctest.Wait()
				stopped := make(chan error, 1)
				go func() { stopped <- f.Stop(t.Context()) }()
				synctest.Wait()
				close(held)
				if err := <-stopped; err != nil {
					t.Fatal(err)
				}
				for range callers {
					if err := <-answers; !errors.Is(err, ask.ErrStopped) {
						t.Errorf("answered %v, want %v", err, ask.ErrStopped)
					}
				}
				if errs := f.failures(); len(errs) != 0 {
					t.Errorf("failed: %v", errs)
				}
			})
			do(t, spawnIn(t, dir, func(string) error { return nil }), messages.WaitOpen{})
		})
	}
}

// Nothing is done for a caller that leaves before its turn.
func TestCallerLeavesBeforeItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		f := spawn(t)
		do(t, f, messages.WaitOpen{})
		held := make(chan struct{})
		f.onCall(once("Mine", func() error { <-held; return nil }))
		go func() { _ = request(messages.Generate{Script: trueScript, Count: 1, Tries: many})(t.Context(), f.Ref) }()
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { left <- request(messages.Generate{Script: trueScript, Count: 1, Tries: many})(ctx, f.Ref) }()
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(held)
		if tip := f.generate(t, 1); tip.Height != 2 {
			t.Errorf("height %d, want 2", tip.Height)
		}
	})
}

// Block files without metadata are fed to the engine before anything else.
func TestStoredBlocks(t *testing.T) {
	dir := t.TempDir()
	f := spawnIn(t, dir, func(string) error { return nil })
	before := f.generate(t, 50)
	if err := f.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "chainstate")); err != nil {
		t.Fatal(err)
	}
	f = spawnIn(t, dir, func(string) error { return nil })
	do(t, f, messages.WaitImported{})
	if tip := do(t, f, messages.GetTip{}); tip != before {
		t.Errorf("at %v, want %v", tip, before)
	}
}

// An error about a request ends nothing: what is asked next is answered.
func TestRefusalsEndNothing(t *testing.T) {
	f := spawn(t)
	_, err := ask.Ask(t.Context(), f.Ref, messages.Generate{
		Script: trueScript, Count: 1, Tries: many, On: new(chainhash.Hash),
	})
	if !errors.Is(err, messages.ErrTipMoved) {
		t.Errorf("blocks on another tip: %v", err)
	}
	for _, unknown := range []func() error{
		func() error { _, err := ask.Ask(t.Context(), f.Ref, messages.PreciousBlock{}); return err },
		func() error { _, err := ask.Ask(t.Context(), f.Ref, messages.ReconsiderBlock{}); return err },
	} {
		if err := unknown(); !errors.Is(err, messages.ErrBlockNotFound) {
			t.Errorf("unknown block: %v", err)
		}
	}
	if _, err := ask.Ask(t.Context(), f.Ref, messages.PruneBlocks{Height: 1}); !errors.Is(err, messages.ErrNotPruning) {
		t.Errorf("pruning: %v", err)
	}
	if tip := do(t, f, messages.GetTip{}); tip.Height != 0 {
		t.Errorf("at height %d", tip.Height)
	}
}
