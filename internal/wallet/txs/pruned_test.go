package txs

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/walletfile"
)

// A transaction that is removed was never there: its coins are gone, what it spent is there
// again, and its record is deleted. Imported again, it counts as before.
func TestRemoveAndImport(t *testing.T) {
	r := newRig(0, scriptOf(1), scriptOf(2))
	r.ConnectBlock(blockOf(0), 1)
	in := txOf(1, []wire.OutPoint{foreign(1)}, pay(10, 1))
	out := txOf(2, []wire.OutPoint{outOf(in, 0)}, pay(4, 2), pay(3, 1), pay(1, 9))
	r.ConnectBlock(blockOf(1, in), 1)
	block := blockOf(2, out)
	r.ConnectBlock(block, 1)
	r.log.Take()
	wantRefusal(t, r.spending.Remove(chainhash.Hash{1}), -4,
		"Transaction 0000000000000000000000000000000000000000000000000000000000000001 does not belong to this wallet")
	if err := r.spending.Remove(out.TxHash()); err != nil {
		t.Fatal(err)
	}
	changes := r.log.Take()
	record := walletfile.Tx{ID: out.TxHash()}
	if len(changes) != 1 || !changes[0].Delete || string(changes[0].Key) != string(record.Key()) {
		t.Errorf("changes %+v", changes)
	}
	check := func(trusted int64, count int) {
		t.Helper()
		if b := r.balances(1); int64(b.Trusted) != trusted || r.Count() != count {
			t.Errorf("%d transactions, balances %+v; want %d, %d", r.Count(), b, count, trusted)
		}
		if err := r.Verify(); err != nil {
			t.Error(err)
		}
	}
	check(10, 1)
	if got := r.reports.Groupings(); len(got) != 1 {
		t.Errorf("addresses %+v", got)
	}
	wantRefusal(t, r.spending.Import(txOf(9, []wire.OutPoint{foreign(9)}, pay(1, 9)), block.BlockRef, 0, 1), -5,
		"No addresses in wallet correspond to included transaction")
	if err := r.spending.Import(out, block.BlockRef, 0, 1); err != nil {
		t.Fatal(err)
	}
	check(7, 2)
	if at, found := r.BlockOf(out.TxHash()); !found || at.Hash != block.Hash {
		t.Errorf("in block %v", at)
	}
}

// Of two transactions in conflict the other one still spends when one is removed.
func TestRemoveConflict(t *testing.T) {
	r := newRig(0, scriptOf(1))
	r.ConnectBlock(blockOf(0), 1)
	in := txOf(1, []wire.OutPoint{foreign(1)}, pay(10, 1))
	r.ConnectBlock(blockOf(1, in), 1)
	one, other := txOf(2, []wire.OutPoint{outOf(in, 0)}, pay(4, 1)), txOf(3, []wire.OutPoint{outOf(in, 0)}, pay(5, 1))
	r.AddMempoolTx(one, 1)
	r.RemoveMempoolTx(one)
	r.AddMempoolTx(other, 1)
	if err := r.spending.Remove(one.TxHash()); err != nil {
		t.Fatal(err)
	}
	if b := r.balances(0); b.Trusted != 5 {
		t.Errorf("balances %+v", b)
	}
	r.RemoveMempoolTx(other)
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
}
