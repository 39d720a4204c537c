package wallets_test

import (
	"fmt"
	"testing"

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
