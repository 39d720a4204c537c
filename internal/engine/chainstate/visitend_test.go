package chainstate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// A look through the unspent outputs can be stopped, also where nothing of them is written: before the first of few,
// and soon in the midst of many. The error is the cause.
func TestVisitEnds(t *testing.T) {
	const soon = 1024
	net := quick(t)
	chain := genesis(t).chainOn(2)
	last := chain[1].on([]*wire.MsgTx{paysMany(chain[0].txs[0], 3*soon)})
	e := open(t, t.TempDir(), net)
	for _, b := range chain {
		must(t, e.Accept(b.raw))
	}
	cause := errors.New("enough")
	for _, after := range []int{0, 1, soon + 1} {
		if after == 1 {
			must(t, e.Accept(last.raw))
		}
		set, err := e.Coins()
		must(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		if after == 0 {
			cancel(cause)
		}
		n := 0
		err = set.Visit(ctx, 0, 0xffff, func(*messages.SetCoin) error {
			if n++; n == after {
				cancel(cause)
			}
			return nil
		})
		if !errors.Is(err, cause) || n > after+soon || after == 0 && n > 0 {
			t.Errorf("stopped at %d: %d were visited, %v", after, n, err)
		}
		cancel(nil)
		set.Release()
	}
	must(t, e.Close())
}
