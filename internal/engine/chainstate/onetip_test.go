package chainstate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/messages"
)

// words is a set in words.
func words(set messages.CoinSet) (string, error) {
	var text strings.Builder
	err := set.Visit(context.Background(), 0, 0xffff, func(c *messages.SetCoin) error {
		fmt.Fprintf(&text, "%v %d %v %d %x\n", c.Out, c.Height, c.Coinbase, c.Amount, c.Packed)
		return nil
	})
	return text.String(), err
}

// Sets that are read while blocks are connected, taken back and written are each of
// the tip at which they were handed out.
func TestSetsAreOfOneTip(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, network(t, "regtest"))
	main := genesis(t).chainOn(103)
	for _, b := range main {
		must(t, e.Accept(b.raw))
	}
	must(t, chainstate.Rest(e)) // part of it is stored, part is not
	last := main[len(main)-1]
	one := last.on([]*wire.MsgTx{spending(main[0].txs[0], trueScript, 1000)})
	two := one.on([]*wire.MsgTx{spending(one.txs[1], []byte{0x51, 0x51}, 1000)})
	other := last.on([]*wire.MsgTx{spending(main[1].txs[0], trueScript, 2000)})
	rest := other.chainOn(3)

	var readers sync.WaitGroup
	look := func(what string) {
		set, err := e.Coins()
		must(t, err)
		want := recomputed(t, e)
		tip := e.Reader().Active().Tip()
		for range 2 {
			readers.Go(func() {
				for range 20 {
					got, err := words(set)
					if err != nil || got != want {
						t.Errorf("%s: %v, got\n%swant\n%s", what, err, got, want)
						return
					}
				}
				if got := set.Tip(); got.Hash != tip.Hash || got.Height != tip.Height {
					t.Errorf("%s: tip %v", what, got)
				}
			})
		}
		t.Cleanup(set.Release)
	}
	for _, step := range []struct {
		what string
		do   func(*bitcoin.Engine) error
	}{
		{"stored", func(*bitcoin.Engine) error { return nil }},
		{"one more", func(e *bitcoin.Engine) error { return e.Accept(one.raw) }},
		{"two more", func(e *bitcoin.Engine) error { return e.Accept(two.raw) }},
		{"a branch", func(e *bitcoin.Engine) error { return e.Accept(other.raw) }},
		{"reorganised", func(e *bitcoin.Engine) error {
			for _, b := range rest {
				if err := e.Accept(b.raw); err != nil {
					return err
				}
			}
			return nil
		}},
		{"written", chainstate.Rest},
		{"invalidated", func(e *bitcoin.Engine) error { return e.Invalidate(&rest[0].hash) }},
		{"written again", chainstate.Rest},
		{"reconsidered", func(e *bitcoin.Engine) error { return e.Reconsider(&rest[0].hash) }},
	} {
		must(t, step.do(e))
		look(step.what)
	}
	readers.Wait()
}

// A set that nobody stops reading ends with its context, and is of no use once it was
// given up or the chain was closed.
func TestSetEnds(t *testing.T) {
	e := open(t, t.TempDir(), network(t, "regtest"))
	for _, b := range genesis(t).chainOn(103) {
		must(t, e.Accept(b.raw))
	}
	given, err := e.Coins()
	must(t, err)
	if parts := chainstate.PartsHeld(given); parts != 2 {
		t.Errorf("a set has %d parts", parts)
	}
	given.Release()
	if parts := chainstate.PartsHeld(given); parts != 0 {
		t.Errorf("a released set has %d parts", parts)
	}
	if _, err := words(given); err == nil {
		t.Error("a released set is read")
	}
	set, err := e.Coins()
	must(t, err)
	defer set.Release()
	enough := errors.New("enough")
	err = set.Visit(t.Context(), 0, 0xffff, func(*messages.SetCoin) error { return enough })
	if !errors.Is(err, enough) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := 0
	err = set.Visit(ctx, 0, 0xffff, func(*messages.SetCoin) error { n++; return nil })
	if n > 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d outputs after the end, %v", n, err)
	}
	must(t, e.Close())
	if text, err := words(set); err == nil {
		t.Errorf("read of a closed chain: %s", text)
	}
}
