package txs

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// otherChain has none of the blocks that a wallet's transactions are in.
type otherChain struct{}

func (otherChain) Find(*chainhash.Hash) (BlockRef, bool) { return BlockRef{}, false }

// A coinbase of a block that the chain does not have is given up when the wallet is loaded,
// with its descendants, and also in the file. Other transactions wait to be confirmed.
func TestLoadedCoinbaseIsGivenUp(t *testing.T) {
	coinbase := coinbaseOf(1, pay(50, 1))
	child := txOf(2, []wire.OutPoint{outOf(coinbase, 0)}, pay(49, 1))
	other := txOf(3, []wire.OutPoint{foreign(1)}, pay(10, 1))
	block := blockOf(1, coinbase)
	record := func(tx *wire.MsgTx, position int64, of state) *walletfile.Tx {
		return &walletfile.Tx{ID: tx.TxHash(), Tx: tx, OrderPos: position, State: of.stored()}
	}
	mined := state{kind: confirmed, block: block.BlockRef}
	r := newRig(0, scriptOf(1))
	r.Load(&walletfile.Wallet{OrderPosNext: 3, Txs: []*walletfile.Tx{
		record(child, 1, state{}), record(other, 2, mined),
		record(coinbase, 0, mined),
	}}, otherChain{})
	if b := r.balances(0); b.Trusted != 0 || b.Immature != 0 {
		t.Errorf("balances %+v", b)
	}
	for _, tx := range []*wire.MsgTx{coinbase, child} {
		if at := r.txs[tx.TxHash()]; at.record.State != walletfile.AbandonedState() {
			t.Errorf("transaction %d is written as %+v", tx.LockTime, at.record.State)
		}
	}
	if got := r.Unconfirmed(); len(got) != 1 || got[0].TxHash() != other.TxHash() {
		t.Errorf("%d transactions would be sent again, want one", len(got))
	}
	if written := r.log.Take(); len(written) != 2 {
		t.Errorf("%d records are written, want 2", len(written))
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
}

// Transactions that an address received are listed by their ids, in whatever order they
// came.
func TestReceivedByID(t *testing.T) {
	r := newRig(0, scriptOf(1))
	r.book.SetLabel(scriptOf(1), "a", "receive")
	var want []string
	for n := range uint32(20) {
		tx := txOf(n, []wire.OutPoint{foreign(byte(n))}, pay(1, 1))
		want = append(want, tx.TxHash().String())
		r.AddMempoolTx(tx, 1)
	}
	slices.Sort(want)
	var got []string
	for _, id := range r.reports.ListReceived(messages.ListReceived{})[0].TxIDs {
		got = append(got, id.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A transaction whose record has values that Core does not know is written anew, with these in a record of their own.
func TestNotesMoveOut(t *testing.T) {
	tx := txOf(3, []wire.OutPoint{foreign(1)}, pay(10, 1))
	written := walletfile.RecordOf(&walletfile.Tx{ID: tx.TxHash(), Tx: tx, State: new(state).stored()})
	const known, old = "\x0bfromaccount\x00", "\x0fidempotency_key\x01k"
	written.Value = bytes.Replace(written.Value, []byte(known), []byte(known+old), 1)
	written.Value[bytes.Index(written.Value, []byte(known))-1]++ // how many values there are
	entry, err := walletfile.Parse(written)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(0, scriptOf(1))
	r.Load(&walletfile.Wallet{OrderPosNext: 1, Txs: []*walletfile.Tx{entry.(*walletfile.Tx)}}, otherChain{})
	changes := r.log.Take()
	if len(changes) != 2 {
		t.Fatalf("%d records are written, want 2", len(changes))
	}
	own := []byte("idempotency")
	if bytes.Contains(changes[0].Value, own) || !bytes.Contains(changes[1].Value, own) {
		t.Errorf("written: %q, %q", changes[0].Value, changes[1].Value)
	}
	if _, values, found := r.spending.Find("idempotency_key", "k"); !found || values["idempotency_key"] != "k" {
		t.Error("the key is lost")
	}
}
