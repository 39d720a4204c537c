package txs

import (
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// unsent returns the balances with coins that only transactions spend which are not in sight.
func (r *rig) unsent(avoid bool) messages.Balances {
	b := r.reports.Balances(messages.GetBalances{Unsent: true, AvoidReuse: avoid})
	b.Last = messages.Tip{}
	return b
}

// A coin counts although a transaction of the wallet spends it, as long as that is neither in a block nor in the
// mempool; and it is said how much that is.
func TestUnsentBalance(t *testing.T) {
	r := newRig(0, scriptOf(1), scriptOf(2))
	r.ConnectBlock(blockOf(0), 1)
	coin := txOf(1, []wire.OutPoint{foreign(1)}, pay(10, 1), pay(4, 1))
	r.ConnectBlock(blockOf(1, coin), 1)
	pooled := txOf(2, []wire.OutPoint{foreign(2)}, pay(3, 1)) // not trusted
	r.AddMempoolTx(pooled, 1)
	first := txOf(3, []wire.OutPoint{outOf(coin, 0), outOf(pooled, 0)}, pay(12, 2))
	second := txOf(4, []wire.OutPoint{outOf(coin, 0)}, pay(9, 2))
	check := func(when string, want messages.Balances) {
		t.Helper()
		if got := r.unsent(false); got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
		plain := r.balances(0)
		if plain.Unsent != 0 || plain.Trusted+plain.Pending != want.Trusted+want.Pending+want.Unsent {
			t.Errorf("%s: without them %+v", when, plain)
		}
		if err := r.Verify(); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	check("nothing is spent", messages.Balances{Trusted: 14, Pending: 3})
	r.AddMempoolTx(first, 1)
	check("spent in the mempool", messages.Balances{Trusted: 4, Pending: 12})
	r.RemoveMempoolTx(first)
	check("not in the mempool any more", messages.Balances{Trusted: 14, Pending: 3, Unsent: -13})
	r.AddMempoolTx(second, 1)
	r.RemoveMempoolTx(second)
	check("spent twice out of sight", messages.Balances{Trusted: 14, Pending: 3, Unsent: -13})
	if err := r.spending.Abandon(first.TxHash()); err != nil {
		t.Fatal(err)
	}
	check("one is given up", messages.Balances{Trusted: 14, Pending: 3, Unsent: -10})
	r.ConnectBlock(blockOf(2, second), 1)
	check("the other is in a block", messages.Balances{Trusted: 13, Pending: 3})
}

// Where reused addresses are told apart, all such coins are on reused addresses: the wallet has spent from these.
func TestUnsentKinds(t *testing.T) {
	r := newRig(walletfile.AvoidReuse, scriptOf(1), scriptOf(2))
	r.ConnectBlock(blockOf(0), 1)
	coinbase := coinbaseOf(1, pay(50, 1))
	used := txOf(2, []wire.OutPoint{foreign(1)}, pay(5, 2), pay(6, 2))
	r.ConnectBlock(blockOf(1, coinbase, used), 1)
	spends := txOf(3, []wire.OutPoint{outOf(used, 0)}, pay(5, 9))
	r.ConnectBlock(blockOf(2, spends), 1)
	out := txOf(4, []wire.OutPoint{outOf(coinbase, 0), outOf(used, 1)}, pay(55, 9))
	r.AddMempoolTx(out, 1)
	r.RemoveMempoolTx(out)
	r.DisconnectBlock(blockOf(2, spends), messages.Tip{Hash: blockOf(1, coinbase, used).Hash, Height: 1}, 1)
	r.ConnectBlock(blockOf(2, spends), 1)
	if got := r.unsent(true); got.Unsent != -56 || got.Trusted+got.Immature != 0 || got.Used != 56 || got.Pending != 0 {
		t.Errorf("%+v", got)
	}
	if got := r.unsent(false); got.Unsent != -56 || got.Trusted+got.Immature != 56 {
		t.Errorf("with reused ones: %+v", got)
	}
}
