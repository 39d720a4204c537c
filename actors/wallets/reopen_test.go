package wallets_test

import (
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// A rescan that is under way goes on when the chain is opened again, with other blocks in memory.
func TestRescanOverReopenedChain(t *testing.T) {
	const keyPool = 24
	path, scripts := maker(t, keyPool)
	chain, again := newChain(), newChain()
	s, g := hold(keyPool)
	r := newRig(t, chain, s)
	do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	one := newWalk(5000, scripts)
	one.limit = keyPool
	one.mine(chain, chain.Active().Tip(), 40)
	two := newWalk(5000, scripts)
	two.limit = keyPool
	two.mine(again, again.Active().Tip(), 40)
	if chain.Active().Tip().Hash != again.Active().Tip().Hash {
		t.Fatal("the chains differ")
	}
	r.announce()
	ref := r.wallet(t, "w")
	done := make(chan error, 1)
	go func() {
		_, err := try(t, ref, messages.Rescan{})
		done <- err
	}()
	<-g.reached
	r.current.Set(again)
	r.announce()
	close(g.open)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A rescan that comes to a block while the chain is closed waits for it, also that of a wallet which is being loaded.
func TestRescanWaitsForTheChain(t *testing.T) {
	for _, loading := range []bool{false, true} {
		const keyPool = 24
		path, scripts := maker(t, keyPool)
		chain := newChain()
		s := setup{keyPool: keyPool, now: genesis, noFilters: true}
		r := newRig(t, chain, s)
		if !loading {
			do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
		}
		walk := newWalk(5000, scripts)
		walk.limit = keyPool
		walk.mine(chain, chain.Active().Tip(), 40)
		if loading {
			r.current.Set(chain)
		} else {
			r.announce()
			do(t, r.wallet(t, "w"), messages.GetBalances{})
		}
		closed, opened := &closedChain{Chain: chain, asked: make(chan struct{}, 1)}, chain
		r.current.Set(closed)
		done := make(chan error, 1)
		go func() {
			var err error
			if loading {
				_, err = try(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
			} else {
				_, err = try(t, r.wallet(t, "w"), messages.Rescan{})
			}
			done <- err
		}()
		<-closed.asked
		r.current.Set(opened)
		if err := <-done; err != nil {
			t.Errorf("loading %v: %v", loading, err)
		}
	}
}

// A closedChain is a chain whose actor has failed, and has not opened the chain again.
type closedChain struct {
	*chaintest.Chain

	asked chan struct{}
}

func (c *closedChain) Block(*chainhash.Hash) (*wire.MsgBlock, error) {
	select {
	case c.asked <- struct{}{}:
	default:
	}
	return nil, chainview.ErrClosed
}

// Wallets follow a chain that was opened again, and others are loaded.
func TestFollowReopenedChain(t *testing.T) {
	const keyPool = 24
	path, scripts := maker(t, keyPool)
	chain := newChain()
	r := newRig(t, chain, setup{keyPool: keyPool, now: genesis})
	do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	blocks := 0
	grow := func(n int) {
		blocks += n
		w := newWalk(5000, scripts)
		w.limit = keyPool
		w.mine(chain, chain.Active().Tip(), blocks)
		r.current.Set(chain)
		r.announce()
	}
	grow(20)
	for round := range 3 {
		chain = newChain()
		grow(5)
		name := fmt.Sprint("another", round)
		do(t, r.ref, messages.RestoreWallet{Name: name, Backup: path})
		want := do(t, r.wallet(t, name), messages.GetBalances{})
		if want.Trusted+want.Pending+want.Immature == 0 {
			t.Fatal("nothing was paid to the wallet")
		}
		if got := do(t, r.wallet(t, "w"), messages.GetBalances{}); got != want {
			t.Errorf("%d blocks: balances %v, want %v", blocks, got, want)
		}
	}
}
