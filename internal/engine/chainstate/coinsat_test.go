package chainstate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// The set as of an earlier block is the set of a chain that ends there. Asking for the
// set changes nothing else.
func TestCoinsAt(t *testing.T) {
	net := quick(t)
	chain := genesis(t).chainOn(6)
	for i := range 3 {
		last := chain[len(chain)-1]
		chain = append(chain, last.on([]*wire.MsgTx{spending(chain[i].txs[0], trueScript, 7)}))
	}
	dir := t.TempDir()
	e := open(t, dir, net)
	for _, b := range chain {
		wantSubmit(t, e, "block", b, "")
	}
	before := unspent(t, e)
	for n := range chain {
		set, err := e.CoinsAt(&chain[n].hash)
		must(t, err)
		if set.Tip().Hash != chain[n].hash {
			t.Errorf("block %d: of %v", n, set.Tip())
		}
		text := ""
		must(t, set.Visit(context.Background(), 0, 0xffff, func(c *messages.SetCoin) error {
			text += fmt.Sprintf("%v %d %v %d %x\n", c.Out, c.Height, c.Coinbase, c.Amount, c.Packed)
			return nil
		}))
		set.Release()
		if text != unspent(t, opened(t, net, chain[:n+1]...)) {
			t.Errorf("block %d: another set", n)
		}
		if unspent(t, e) != before {
			t.Fatalf("block %d: the set of the tip has changed", n)
		}
	}
	for what, hash := range map[string]chainhash.Hash{"unknown": {1}, "stale": chain[2].on(nil).hash} {
		if _, err := e.CoinsAt(&hash); !errors.Is(err, messages.ErrNoRollback) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// Without undo data it is refused, and the engine lives on.
	must(t, os.Remove(filepath.Join(dir, "blocks", "rev00000.dat")))
	if _, err := e.CoinsAt(&chain[2].hash); !errors.Is(err, messages.ErrNoRollback) {
		t.Errorf("no undo data: %v", err)
	}
	if unspent(t, e) != before {
		t.Error("the set of the tip has changed")
	}
	must(t, e.Close())
}
