package poolorder

import (
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// words are the events that wait.
func (n *Queue) words() string {
	var list []string
	for _, e := range n.Events {
		switch {
		case e.To != nil:
			list = append(list, fmt.Sprint("to ", e.To.Height))
		case e.Change != nil:
			list = append(list, fmt.Sprint("tx ", e.Change.Number))
		case e.Reset:
			list = append(list, "reset")
		case e.Alone:
			list = append(list, "alone")
		default:
			list = append(list, "run")
		}
	}
	return strings.Join(list, ", ")
}

// Blocks are in their places among the changes, and of several in a row the last is enough.
func TestQueuedNews(t *testing.T) {
	chain := chaintest.New(&chaincfg.RegressionNetParams)
	chain.MineN(9)
	step := func(height int32, connected bool, after int) messages.PoolStep {
		b := chain.Active().At(height)
		return messages.PoolStep{Tip: messages.Tip{Hash: b.Hash, Height: height}, Connected: connected, After: after}
	}
	changes := func(numbers ...uint64) (list []messages.PoolChange) {
		for _, n := range numbers {
			list = append(list, messages.PoolChange{Number: n})
		}
		return list
	}
	var n Queue
	add := func(m messages.PoolChanged, want string) {
		t.Helper()
		if n.Add(&m, chain); n.words() != want {
			t.Errorf("waiting: %s\nwant %s", n.words(), want)
		}
	}
	add(messages.PoolChanged{Announce: make([]messages.RelayTx, 2)}, "")
	add(messages.PoolChanged{
		Changes: changes(1, 2, 3), Blocks: []messages.PoolStep{step(5, true, 0), step(6, true, 2), step(7, true, 2)},
	}, "to 5, tx 1, tx 2, to 7, tx 3")
	back := []messages.PoolStep{step(7, false, 0), step(6, false, 0)}
	add(messages.PoolChanged{Blocks: back}, "to 5, tx 1, tx 2, to 7, tx 3, to 5")
	add(messages.PoolChanged{Blocks: []messages.PoolStep{step(6, true, 7)}, Alone: true},
		"to 5, tx 1, tx 2, to 7, tx 3, to 6, alone")
	add(messages.PoolChanged{Reset: true}, "to 5, tx 1, tx 2, to 7, tx 3, to 6, alone, reset")
	if n.Last != 5 || n.After(0) != 0 || n.After(1) != 0 || n.After(2) != 5 || n.After(4) != 7 || n.After(9) != 8 {
		t.Errorf("%d announcements; of them %d, %d, %d events", n.Last, n.After(2), n.After(4), n.After(9))
	}
	n.Insert(&Contents{PoolTxs: messages.PoolTxs{Published: 2, At: messages.Tip{Height: 4}}})
	if want := "to 5, tx 1, tx 2, to 7, tx 3, to 4, run, to 6, alone, reset"; n.words() != want {
		t.Errorf("waiting: %s\nwant %s", n.words(), want)
	}
	n.Begin(&Contents{PoolTxs: messages.PoolTxs{Published: 4, Alone: true, At: messages.Tip{Height: 3}}})
	if want := "to 3, run, alone, reset"; n.words() != want {
		t.Errorf("waiting: %s\nwant %s", n.words(), want)
	}
	unknown := []messages.PoolStep{{Tip: messages.Tip{Hash: chainhash.Hash{1}, Height: 9}}}
	add(messages.PoolChanged{Blocks: unknown}, "to 3, run, alone, reset, to 0")
}

// A wallet goes to where the pool is, on any branch, also back. It goes to the active tip
// where that is not known, and where the pool is far behind.
func TestTargetOfNews(t *testing.T) {
	chain := chaintest.New(&chaincfg.RegressionNetParams)
	fork := chain.MineN(10)
	chain.MineN(maxBack + 20)
	stale := chain.MineOn(fork, chaintest.Template{Version: 4})
	tip := chain.Active().Tip()
	for i, c := range []struct{ pool, wallet, want *chainview.Block }{
		{nil, fork, tip},
		{fork, fork, fork},
		{tip, fork, tip},
		{fork, tip, tip},
		{fork, tip.Ancestor(fork.Height + maxBack), fork},
		{fork, tip.Ancestor(fork.Height + maxBack + 1), tip},
		{stale, tip, stale},
		{stale, fork, stale},
	} {
		var n Queue
		if c.pool != nil {
			n.At = messages.Tip{Hash: c.pool.Hash, Height: c.pool.Height}
		}
		if got := n.Target(chain, messages.Tip{Hash: c.wallet.Hash, Height: c.wallet.Height}); got != c.want {
			t.Errorf("%d: to height %d, want %d", i, got.Height, c.want.Height)
		}
	}
	lost := Queue{At: messages.Tip{Hash: chainhash.Hash{1}, Height: 4}}
	if got := lost.Target(chain, messages.Tip{Hash: fork.Hash, Height: fork.Height}); got != tip {
		t.Errorf("unknown: to height %d", got.Height)
	}
}
