package indexer_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// clumsyReader panics the first time that it is asked for the active chain.
type clumsyReader struct {
	chainview.Reader
	first *sync.Once
}

func (r clumsyReader) Active() *chainview.Chain {
	r.first.Do(func() { panic("boom") })
	return r.Reader.Active()
}

// After a panic anywhere, waiting callers are answered at once, and the next instance goes on.
func TestPanic(t *testing.T) {
	t.Run("in Receive", func(t *testing.T) {
		chain := newChain(20)
		r := newRig(t, nil)
		r.spawn()
		do(t, r.Ref, messages.GetIndexStatus{})
		r.view.Set(clumsyReader{chain, new(sync.Once)})
		wait := messages.WaitIndexed{Block: chain.Active().Tip().Hash}
		if _, err := ask.Ask(t.Context(), r.Ref, wait); !errors.Is(err, ask.ErrRestarted) {
			t.Errorf("got %v, want %v", err, ask.ErrRestarted)
		}
		do(t, r.Ref, wait)
		r.check(t, chain, chain.Active().Tip())
	})
	t.Run("in the worker", func(t *testing.T) {
		chain := newChain(3000)
		r := newRig(t, nil)
		held := make(chan struct{})
		r.view.Set(hookedReader{chain, once(chain, 2000, func() error { <-held; panic("boom") })})
		r.spawn()
		wait := messages.WaitIndexed{Block: chain.Active().Tip().Hash}
		answer := make(chan error, 1)
		go func() { _, err := ask.Ask(t.Context(), r.Ref, wait); answer <- err }()
		for r.store.Len() < 1024 { // the first batch is not held up
			do(t, r.Ref, messages.GetIndexStatus{})
		}
		close(held)
		if err := <-answer; !errors.Is(err, ask.ErrRestarted) {
			t.Errorf("got %v, want %v", err, ask.ErrRestarted)
		}
		do(t, r.Ref, wait)
		r.check(t, chain, chain.Active().Tip())
	})
	t.Run("in a repair", func(t *testing.T) {
		chain := newChain(300)
		r := newRig(t, chain)
		r.spawn()
		r.announce(t)
		do(t, r.Ref, messages.VerifyIndex{})
		repair := messages.RepairFilter{Block: r.flip(t, 1)}
		r.view.Set(hookedReader{chain, once(chain, 0, func() error { panic("boom") })})
		if _, err := ask.Ask(t.Context(), r.Ref, repair); !errors.Is(err, ask.ErrRestarted) {
			t.Errorf("got %v, want %v", err, ask.ErrRestarted)
		}
		do(t, r.Ref, repair)
		chain.MineN(1)
		r.announce(t)
		r.check(t, chain, chain.Active().Tip())
	})
}

// A block that cannot be read ends the actor for good, visibly.
func TestUnreadableBlock(t *testing.T) {
	chain := newChain(20)
	chain.Fail(chain.Active().At(11), errBroken)
	r := newRig(t, nil)
	r.spawn()
	do(t, r.Ref, messages.GetIndexStatus{})
	r.view.Set(chain)
	_, err := ask.Ask(t.Context(), r.Ref, messages.WaitIndexed{Block: chain.Active().Tip().Hash})
	if !errors.Is(err, errBroken) {
		t.Errorf("caller got %v", err)
	}
	<-r.Done()
	if errs := r.failures(); len(errs) != 1 || !errors.Is(errs[0], errBroken) {
		t.Errorf("OnFailed got %v", errs)
	}
}

// When the chain's actor fails, it closes the chain beneath the indexer and
// opens it again. That is no failure of the index.
func TestChainIsOpenedAgain(t *testing.T) {
	for _, announced := range []string{"before", "after"} {
		t.Run("announced "+announced+" the batch has failed", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				actortest.InBubble(t)
				chain := newChain(20)
				r := newRig(t, nil)
				held := make(chan struct{})
				r.view.Set(hookedReader{chain, func(*chainhash.Hash) error {
					<-held
					return fmt.Errorf("%w: %w", chainview.ErrUnreadable, chainview.ErrClosed)
				}})
				r.spawn()
				answer := make(chan error, 1)
				tip := chain.Active().Tip()
				go func() {
					_, err := ask.Ask(t.Context(), r.Ref, messages.WaitIndexed{Block: tip.Hash})
					answer <- err
				}()
				synctest.Wait()
				reopen := func() {
					r.view.Set(chain)
					r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
					synctest.Wait()
				}
				if announced == "before" {
					reopen()
				}
				close(held)
				synctest.Wait()
				if announced == "after" {
					reopen()
				}
				if err := <-answer; err != nil {
					t.Error(err)
				}
				if errs := r.failures(); len(errs) != 0 {
					t.Errorf("failed: %v", errs)
				}
			})
		})
	}
}

// Stopping answers everyone, and leaves the store open: it is not the actor's.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		chain := newChain(20)
		r := newRig(t, nil)
		held := make(chan struct{})
		r.view.Set(hookedReader{chain, func(*chainhash.Hash) error { <-held; return nil }})
		r.spawn()
		const callers = 5
		answers := make(chan error, callers)
		for range callers {
			go func() {
				answers <- request(messages.WaitIndexed{Block: chain.Active().Tip().Hash})(t.Context(), r.Ref)
			}()
		}
		synctest.Wait()
		stopped := make(chan error, 1)
		go func() { stopped <- r.Stop(t.Context()) }()
		synctest.Wait()
		if len(stopped) != 0 {
			t.Error("stopped before its worker")
		}
		close(held)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		for range callers {
			if err := <-answers; !errors.Is(err, ask.ErrStopped) {
				t.Errorf("answered %v, want %v", err, ask.ErrStopped)
			}
		}
		if errs := r.failures(); len(errs) != 0 {
			t.Errorf("failed: %v", errs)
		}
		if err := r.store.Sync(); err != nil {
			t.Error(err)
		}
	})
}
