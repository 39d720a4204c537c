package wallets_test

import (
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/messages"
)

// A file may have a payment as unconfirmed, though an earlier block has a replacement that
// pays somebody else. Such a file is mended when it is loaded. A payment that only waits stays
// unchanged.
func TestExcludedPaymentInFile(t *testing.T) {
	chain := newChain()
	fork := chain.MineN(4)
	pool := emptyPool
	r := newRig(t, chain, setup{noFilters: true, pool: pool, clock: func() time.Time {
		return chain.Active().Tip().Time().Add(time.Minute)
	}})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	script := scriptOf(t, do(t, ref, messages.NewAddress{Type: "bech32"}))
	paid, waits := spend(chain, fork, script), spend(chain, fork.Parent, script)
	other := spend(chain, fork, anybody)
	chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{other}})
	chain.MineN(2)
	r.announce()
	do(t, ref, messages.GetBalances{})
	for _, tx := range []*wire.MsgTx{paid, waits} { // as from a pool that lags, and did not say so
		r.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{{Tx: tx, ID: tx.TxHash(), Added: true}}})
		r.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{
			{Tx: tx, ID: tx.TxHash(), Reason: messages.PoolReplaced},
		}})
	}
	confirmations := func(tx *wire.MsgTx) int32 {
		t.Helper()
		return do(t, r.wallet(t, "w"), messages.GetTransaction{TxID: tx.TxHash()}).Tx.Confirmations
	}
	if n := confirmations(paid); n != 0 {
		t.Fatalf("%d confirmations: the wallet was not written wrong", n)
	}
	chain.MineN(1)
	r.announce()
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	for range 1000 { // a worker looks for the block
		if confirmations(paid) != 0 {
			break
		}
	}
	if n := confirmations(paid); n != -4 {
		t.Errorf("the replaced payment has %d confirmations, want -4", n)
	}
	if n := confirmations(waits); n != 0 {
		t.Errorf("the payment that waits has %d confirmations", n)
	}
}
