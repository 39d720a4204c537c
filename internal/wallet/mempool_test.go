package wallet_test

import (
	"context"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// TestMempool sends a coin on before it is confirmed, lets another payment win,
// and takes that back.
func TestMempool(t *testing.T) {
	w, err := wallet.Create(context.Background(), wallet.CreateParams{Params: smallPool(t), Seed: secretOf(1)})
	if err != nil {
		t.Fatal(err)
	}
	own := w.Keys().Scripts()
	genesis := messages.Tip{Hash: chainhash.Hash{1}}
	w.Txs().SetTip(genesis)

	coin := payment(1, own[0])
	foreign := payment(2, own[0]) // from outside, in the mempool
	send := spending(coin, 0, []byte{0x51}, own[2])
	rival := spending(coin, 0, []byte{0x52})

	block := &txs.Block{BlockRef: txs.BlockRef{Hash: chainhash.Hash{2}, Height: 1, Time: 10, MaxTime: 10}}
	block.Txs = []*wire.MsgTx{payment(9, []byte{0x53}), coin}
	w.Txs().ConnectBlock(block, 10)
	check := func(step string, trusted, pending btcutil.Amount, conflicts int) {
		t.Helper()
		if err := w.Verify(); err != nil {
			t.Errorf("%s: %v", step, err)
		}
		if b := w.Reports().Balances(messages.GetBalances{}); b.Trusted != trusted || b.Pending != pending {
			t.Errorf("%s: trusted %v, pending %v, want %v, %v", step, b.Trusted, b.Pending, trusted, pending)
		}
		id := send.TxHash()
		if details, err := w.Reports().Transaction(&id); err == nil && len(details.Tx.MempoolConflicts) != conflicts {
			t.Errorf("%s: %d conflicts, want %d", step, len(details.Tx.MempoolConflicts), conflicts)
		}
	}
	check("confirmed", 1000, 0, 0)
	w.Txs().AddMempoolTx(foreign, 11)
	check("a payment from outside", 1000, 1000, 0)
	w.Txs().AddMempoolTx(send, 12)
	check("sent on", 500, 1000, 0)
	w.Txs().RemoveMempoolTx(send)
	check("dropped", 0, 1000, 0)
	w.Txs().AddMempoolTx(rival, 13)
	check("replaced", 0, 1000, 1)
	if got := len(w.Txs().Unconfirmed()); got != 2 {
		t.Errorf("%d to submit again, want the payment and the rival", got)
	}
	w.Txs().RemoveMempoolTx(rival)
	w.Txs().AddMempoolTx(send, 14)
	check("sent on again", 500, 1000, 0)

	next := &txs.Block{BlockRef: txs.BlockRef{Hash: chainhash.Hash{3}, Height: 2, Time: 20, MaxTime: 20}}
	next.Txs = []*wire.MsgTx{payment(10, []byte{0x53}), rival}
	w.Txs().ConnectBlock(next, 20)
	check("the rival confirmed", 0, 1000, 0)
	if id := send.TxHash(); confirmations(t, w, &id) != -1 {
		t.Errorf("%d confirmations, want -1", confirmations(t, w, &id))
	}
	w.Txs().DisconnectBlock(next, messages.Tip{Hash: block.Hash, Height: 1}, 20)
	if id := send.TxHash(); confirmations(t, w, &id) != 0 {
		t.Errorf("%d confirmations, want 0", confirmations(t, w, &id))
	}
	check("the rival left the chain", 0, 1000, 0)
}

func confirmations(t *testing.T, w *wallet.Wallet, id *chainhash.Hash) int32 {
	t.Helper()
	details, err := w.Reports().Transaction(id)
	if err != nil {
		t.Fatal(err)
	}
	return details.Tx.Confirmations
}

// spending spends an output and pays 500 to each script.
func spending(t *wire.MsgTx, index uint32, scripts ...[]byte) *wire.MsgTx {
	spend := wire.NewMsgTx(2)
	spend.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: t.TxHash(), Index: index}})
	for _, pkScript := range scripts {
		spend.AddTxOut(&wire.TxOut{Value: 500, PkScript: pkScript})
	}
	return spend
}
