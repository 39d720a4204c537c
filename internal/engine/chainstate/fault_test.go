package chainstate_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/messages"
)

// session is what a node lives through: blocks, spends, a reorganisation, blocks that
// are invalidated and reconsidered. It ends with the first error.
func session(e *bitcoin.Engine, blocks []*made) error {
	accept := func(list ...*made) error {
		for _, b := range list {
			if err := e.Accept(b.raw); err != nil {
				return err
			}
		}
		return nil
	}
	last := blocks[len(blocks)-1]
	one := last.on([]*wire.MsgTx{spending(blocks[0].txs[0], trueScript, 1000)})
	two := one.on([]*wire.MsgTx{spending(blocks[1].txs[0], trueScript, 1000)})
	other := last.on([]*wire.MsgTx{spending(blocks[1].txs[0], []byte{0x51, 0x51}, 2000)})
	rest := other.chainOn(3)
	for _, step := range []func() error{
		func() error { return accept(one, two) },
		e.Sync,
		func() error { return accept(other) },
		func() error { return accept(rest...) },
		func() error { return e.Invalidate(&rest[1].hash) },
		func() error { return chainstate.Rest(e) },
		func() error { return e.Reconsider(&rest[1].hash) },
		e.Sync,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// unspent is the whole set in words.
func unspent(tb testing.TB, e *bitcoin.Engine) (text string) {
	tb.Helper()
	set, err := e.Coins()
	must(tb, err)
	defer set.Release()
	must(tb, set.Visit(context.Background(), 0, 0xffff, func(c *messages.SetCoin) error {
		text += fmt.Sprintf("%v %d %v %d %x\n", c.Out, c.Height, c.Coinbase, c.Amount, c.Packed)
		return nil
	}))
	return text
}

// recomputed is the set of a fresh engine that takes the blocks of another engine's
// active chain in their order.
func recomputed(tb testing.TB, e *bitcoin.Engine) string {
	tb.Helper()
	other := fresh(tb)
	r := e.Reader()
	for h := int32(1); h <= r.Active().Height(); h++ {
		raw, err := r.Raw(&r.Active().At(h).Hash)
		must(tb, err)
		must(tb, other.Accept(raw))
	}
	return unspent(tb, other)
}

// Whichever write fails, nothing half done is ever written: the next start begins at
// a tip that was committed, with its unspent outputs.
func TestEveryWriteFails(t *testing.T) {
	blocks := genesis(t).chainOn(103)
	for n := 0; ; n++ {
		dir := t.TempDir()
		e := open(t, dir, network(t, "regtest"))
		for _, b := range blocks {
			must(t, e.Accept(b.raw))
		}
		must(t, e.Close())
		e = open(t, dir, network(t, "regtest"))
		left, failed := n, false
		must(t, chainstate.FailWrites(e, 8<<20, func() error {
			if left--; left < 0 && !failed {
				failed = true
				return syscall.ENOSPC
			}
			return nil
		}))
		err := session(e, blocks)
		if failed != (err != nil) {
			t.Fatalf("write %d: %v", n, err)
		}
		if err != nil {
			if again := e.Accept(blocks[0].raw); again == nil {
				t.Errorf("write %d: the engine goes on", n)
			}
		}
		_ = e.Close()
		e = open(t, dir, network(t, "regtest"))
		if got, want := unspent(t, e), recomputed(t, e); got != want {
			t.Errorf("write %d: wrong unspent outputs at height %d", n, e.Reader().Active().Height())
		}
		if err := session(e, blocks); err != nil {
			t.Errorf("write %d: afterwards: %v", n, err)
		}
		must(t, e.Close())
		if !failed {
			if n < 10 {
				t.Errorf("only %d writes", n)
			}
			return
		}
	}
}
