package wallets_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// again loads the wallet of a rig once more.
func again(t *testing.T, r *rig) *ask.Ref {
	t.Helper()
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	return r.wallet(t, "w")
}

// A transaction that is given up stays so, and its coin is there again.
func TestAbandon(t *testing.T) {
	r, ref := rich(t, setup{}, "bech32")
	sent := do(t, ref, pay(60_000_000))
	_, err := try(t, ref, pay(60_000_000))
	refusal(t, err, -6, "Insufficient funds")
	do(t, ref, messages.AbandonTx{TxID: sent.TxID})
	_, err = try(t, ref, messages.AbandonTx{TxID: chainhash.Hash{1}})
	refusal(t, err, -5, "Invalid or non-wallet transaction id")
	if tx := do(t, ref, messages.GetTransaction{TxID: sent.TxID}).Tx; !tx.Abandoned {
		t.Errorf("got %+v", tx)
	}
	if tx := do(t, again(t, r), messages.GetTransaction{TxID: sent.TxID}).Tx; !tx.Abandoned {
		t.Errorf("loaded again: %+v", tx)
	}
}

// Where the file cannot be written a transaction is not given up.
func TestAbandonFullDisk(t *testing.T) {
	var full atomic.Bool
	_, ref := rich(t, setup{fail: func() error {
		if full.Load() {
			return errors.New("no space left on device")
		}
		return nil
	}}, "bech32")
	sent := do(t, ref, pay(60_000_000))
	full.Store(true)
	if _, err := try(t, ref, messages.AbandonTx{TxID: sent.TxID}); err == nil {
		t.Fatal("abandoned")
	}
	full.Store(false)
	if tx := do(t, ref, messages.GetTransaction{TxID: sent.TxID}).Tx; tx.Abandoned {
		t.Error("abandoned all the same")
	}
}

func TestSetWalletFlag(t *testing.T) {
	r, ref := rich(t, setup{}, "bech32")
	set := func(ref *ask.Ref, flag string, value bool) error {
		_, err := try(t, ref, messages.SetWalletFlag{Flag: flag, Value: value})
		return err
	}
	refusal(t, set(ref, "nonsense", true), -8, "Unknown wallet flag: nonsense")
	refusal(t, set(ref, "blank", true), -8, "Wallet flag is immutable: blank")
	refusal(t, set(ref, "avoid_reuse", false), -8, "Wallet flag is already set to false: avoid_reuse")
	for _, value := range []bool{true, false} {
		if err := set(ref, "avoid_reuse", value); err != nil {
			t.Fatal(err)
		}
		ref = again(t, r)
		if got := do(t, ref, messages.GetWalletInfo{}).AvoidReuse; got != value {
			t.Errorf("avoids reuse: %v, want %v", got, value)
		}
	}
}

func TestSimulate(t *testing.T) {
	_, ref := rich(t, setup{}, "bech32")
	coin := do(t, ref, messages.ListUnspent{MaxConf: 1, IncludeUnsafe: true})[0]
	at := wire.OutPoint{Hash: coin.TxID, Index: coin.Index}
	out := wire.OutPoint{Hash: chainhash.Hash{3}}
	tx := func(to []byte, amount int64, spent ...wire.OutPoint) *wire.MsgTx {
		tx := wire.NewMsgTx(2)
		for i := range spent {
			tx.AddTxIn(wire.NewTxIn(&spent[i], nil, nil))
		}
		tx.AddTxOut(wire.NewTxOut(amount, to))
		return tx
	}
	away := tx(foreign, 90_000_000, at)
	back := tx(coin.Script, 80_000_000, wire.OutPoint{Hash: away.TxHash()})
	in := tx(coin.Script, 70_000_000, out)
	on := tx(foreign, 60_000_000, wire.OutPoint{Hash: in.TxHash()})
	known := map[wire.OutPoint]bool{at: true, out: true}
	for _, c := range []struct {
		txs  []*wire.MsgTx
		want btcutil.Amount
	}{
		{nil, 0},
		{[]*wire.MsgTx{away}, -100_000_000},
		{[]*wire.MsgTx{away, back}, -20_000_000},
		{[]*wire.MsgTx{in}, 70_000_000},
		{[]*wire.MsgTx{in, on}, 0},
	} {
		if got := do(t, ref, messages.SimulateTxs{Txs: c.txs, Known: known}); got != c.want {
			t.Errorf("%d transactions: %v, want %v", len(c.txs), got, c.want)
		}
	}
	_, err := try(t, ref, messages.SimulateTxs{Txs: []*wire.MsgTx{away, away}, Known: known})
	refusal(t, err, -8, "Transaction(s) are spending the same output more than once")
	_, err = try(t, ref, messages.SimulateTxs{Txs: []*wire.MsgTx{back}, Known: known})
	refusal(t, err, -8, "One or more transaction inputs are missing or have been spent already")
}

func TestListGroupings(t *testing.T) {
	_, ref := rich(t, setup{}, "bech32", "bech32")
	do(t, ref, pay(150_000_000))
	groups := do(t, ref, messages.ListGroupings{})
	if len(groups) != 1 || len(groups[0]) != 3 {
		t.Errorf("got %+v, want one group of both addresses and the change", groups)
	}
}

// A transaction of a block is imported and removed; both changes outlast a restart of the wallet.
func TestImportTx(t *testing.T) {
	r, ref := rich(t, setup{}, "bech32")
	coin := do(t, ref, messages.ListUnspent{MaxConf: 1, IncludeUnsafe: true})[0]
	tip := r.current.Open().Active().Tip().Hash
	tx := payment(coin.Script, 77)
	_, err := try(t, ref, messages.ImportTx{Tx: tx, Block: chainhash.Hash{1}, Index: new(uint32)})
	refusal(t, err, -5, "Block not found in chain")
	_, err = try(t, ref, messages.ImportTx{Tx: tx, Block: tip})
	refusal(t, err, -5, "Transaction given doesn't exist in proof")
	_, err = try(t, ref, messages.ImportTx{Tx: payment(foreign, 1), Block: tip, Index: new(uint32)})
	refusal(t, err, -5, "No addresses in wallet correspond to included transaction")
	do(t, ref, messages.ImportTx{Tx: tx, Block: tip, Index: new(uint32(3))})
	ref = again(t, r)
	if b := do(t, ref, messages.GetBalances{}); b.Trusted != 100_000_000 {
		t.Errorf("balances %+v", b)
	}
	if got := do(t, ref, messages.GetTransaction{TxID: tx.TxHash()}).Tx; got.BlockHash != tip || got.BlockIndex != 3 {
		t.Errorf("got %+v", got)
	}
	do(t, ref, messages.RemoveTx{TxID: tx.TxHash()})
	ref = again(t, r)
	if b := do(t, ref, messages.GetBalances{}); b.Trusted != 0 {
		t.Errorf("after it was removed: %+v", b)
	}
	_, err = try(t, ref, messages.RemoveTx{TxID: tx.TxHash()})
	refusal(t, err, -4, "Transaction "+tx.TxHash().String()+" does not belong to this wallet")
}
