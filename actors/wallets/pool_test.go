package wallets_test

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// emptyPool is the content of a pool that will publish news later.
func emptyPool() []messages.PoolTx { return nil }

// payment is an unconfirmed transaction to a script.
func payment(script []byte, from byte) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&chainhash.Hash{from}, 0), nil, nil))
	tx.AddTxOut(wire.NewTxOut(100_000_000, script))
	return tx
}

// When the wallets are said to be in step with the pool, the pool's transactions
// are in their files, whatever happens to the process.
func TestSyncedIsWritten(t *testing.T) {
	var full atomic.Bool
	var last atomic.Pointer[wire.MsgTx]
	content := func() []messages.PoolTx {
		if tx := last.Load(); tx != nil {
			return []messages.PoolTx{{Tx: tx}}
		}
		return nil
	}
	r := small(t, setup{pool: content, fail: func() error {
		if full.Load() {
			return errors.New("no space left on device")
		}
		return nil
	}})
	do(t, r.ref, messages.SyncWallets{}) // there are none
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	do(t, r.ref, messages.CreateWallet{Name: "other"})
	script := scriptOf(t, do(t, r.wallet(t, "w"), messages.NewAddress{Type: "bech32"}))
	for from := range byte(20) {
		tx := payment(script, from)
		r.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{{Tx: tx, Added: true}}})
		do(t, r.ref, messages.SyncWallets{})
		copied := filepath.Join(t.TempDir(), "wallets")
		if err := os.CopyFS(copied, os.DirFS(r.dir)); err != nil {
			t.Fatal(err)
		}
		if from%10 != 0 { // loading takes its time
			continue
		}
		next := small(t, setup{dir: copied})
		do(t, next.ref, messages.LoadWallet{Name: "w"})
		do(t, next.wallet(t, "w"), messages.GetTransaction{TxID: tx.TxHash()})
	}
	full.Store(true)
	last.Store(payment(script, 100))
	r.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{{Tx: last.Load(), Added: true}}})
	if _, err := try(t, r.ref, messages.SyncWallets{}); err == nil {
		t.Error("a wallet that cannot write is in step")
	}
}

// A transaction of the pool that a wallet has told is in its file already, whatever
// happens to the process then.
func TestToldIsWritten(t *testing.T) {
	r := small(t, setup{pool: emptyPool})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	script := scriptOf(t, do(t, ref, messages.NewAddress{Type: "bech32"}))
	for from := range byte(20) {
		tx := payment(script, from)
		r.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{{Tx: tx, Added: true}}})
		for {
			if _, err := try(t, ref, messages.GetTransaction{TxID: tx.TxHash()}); err == nil {
				break
			}
		}
		copied := filepath.Join(t.TempDir(), "wallets")
		if err := os.CopyFS(copied, os.DirFS(r.dir)); err != nil {
			t.Fatal(err)
		}
		if from%5 != 0 { // loading takes its time
			continue
		}
		next := small(t, setup{dir: copied})
		do(t, next.ref, messages.LoadWallet{Name: "w"})
		do(t, next.wallet(t, "w"), messages.GetTransaction{TxID: tx.TxHash()})
	}
}

// A wallet that gets a script also takes the script's transactions that are already
// in the pool: after an import, and after a rescan up to the tip.
func TestScansThePool(t *testing.T) {
	const desc = "wpkh(02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5)#wg9vgf99"
	script, err := hex.DecodeString("001406afd46bcdfd22ef94ac122aa11f241244a37ecc")
	if err != nil {
		t.Fatal(err)
	}
	in := payment(script, 1)
	var pool atomic.Pointer[wire.MsgTx]
	r := small(t, setup{pool: func() []messages.PoolTx {
		if tx := pool.Load(); tx != nil {
			return []messages.PoolTx{{Tx: tx}}
		}
		return nil
	}})
	do(t, r.ref, messages.CreateWallet{Name: "w", DisablePrivateKeys: true, Blank: true})
	ref := r.wallet(t, "w")
	pool.Store(in)
	results := do(
		t, ref, messages.ImportDescriptors{Items: []messages.ImportItem{{Desc: desc, Timestamp: genesis.Unix()}}},
	)
	if results[0].Err != nil {
		t.Fatal(results[0].Err)
	}
	if got := do(t, ref, messages.GetTransaction{TxID: in.TxHash()}); got.Tx.Confirmations != 0 {
		t.Errorf("imported: %+v", got.Tx)
	}
	second := payment(script, 2)
	pool.Store(second)
	stop := int32(3)
	do(t, ref, messages.Rescan{Stop: &stop})
	if _, err := try(t, ref, messages.GetTransaction{TxID: second.TxHash()}); err == nil {
		t.Error("a rescan that ends before the tip does not reach the pool")
	}
	do(t, ref, messages.Rescan{})
	do(t, ref, messages.GetTransaction{TxID: second.TxHash()})
}
