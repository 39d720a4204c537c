package wallets_test

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/messages"
)

// A transaction that leaves the pool because of a block is announced to -walletnotify. An
// abandoned transaction is announced to other listeners alone.
func TestAnnouncements(t *testing.T) {
	r := small(t, setup{pool: func() []messages.PoolTx { return nil }})
	hearer := r.sys.Probe("hearer")
	r.sys.Spawn("listener", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *actor.Started:
				r.txs.Subscribe(c)
			case messages.WalletTxChanged:
				hearer.Tell(m)
			}
		})
	})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	script := scriptOf(t, do(t, ref, messages.NewAddress{Type: "bech32"}))
	heard := func(tx *wire.MsgTx, quiet bool) {
		t.Helper()
		got := actortest.Expect[messages.WalletTxChanged](hearer)
		if want := (messages.WalletTxChanged{Wallet: "w", TxID: tx.TxHash(), Quiet: quiet}); got != want {
			t.Errorf("heard %+v, want %+v", got, want)
		}
	}
	change := func(tx *wire.MsgTx, added bool, reason messages.PoolReason) {
		r.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{
			{Tx: tx, ID: tx.TxHash(), Added: added, Reason: reason},
		}})
	}
	first, second, foreign := payment(script, 1), payment(script, 2), payment([]byte{0x51}, 3)
	change(first, true, 0)
	heard(first, false)
	change(foreign, true, 0)
	change(foreign, false, messages.PoolConflict)
	change(first, false, messages.PoolConflict)
	heard(first, false)
	change(second, true, 0)
	heard(second, false)
	change(second, false, messages.PoolExpiry)
	do(t, r.ref, messages.SyncWallets{})
	do(t, ref, messages.AbandonTx{TxID: second.TxHash()})
	heard(second, true)
}
