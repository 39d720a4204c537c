package txs

import (
	"reflect"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// On chains whose history has fee entries, a transaction that pays change alone is listed by its fee, where change is
// not listed. Transactions that pay others, that others paid for, or that cost nothing have no such entry. Nor has a
// list of one label.
func TestFeeEntries(t *testing.T) {
	label := "a"
	for _, enabled := range []bool{false, true} {
		r, coinbase, _, _ := reported(0)
		r.cfg.FeeEntries = enabled
		r.ConnectBlock(blockOf(4), 1)
		self := txOf(4, []wire.OutPoint{outOf(coinbase, 0)}, pay(30, 3), pay(15, 3))
		free := txOf(5, []wire.OutPoint{outOf(self, 1)}, pay(15, 3))
		gift := txOf(6, []wire.OutPoint{foreign(7)}, pay(4, 3))
		before := r.balances(0)
		r.AddMempoolTx(self, 5001)
		if got := r.balances(0); got.Trusted != before.Trusted-5 {
			t.Errorf("%v trusted, want %v less the fee", got.Trusted, before.Trusted)
		}
		want := []messages.TxEntry{{Category: "send", NoOutput: true, Fee: -5, HasFee: true}}
		if !enabled {
			want = nil
		}
		check := func(name string, got []messages.TxEntry, want []messages.TxEntry) {
			t.Helper()
			got = slices.DeleteFunc(got, func(e messages.TxEntry) bool { return e.Tx.TxID != self.TxHash() })
			for i := range got {
				got[i].Tx = messages.WalletTx{}
			}
			if !reflect.DeepEqual(slices.Clip(got), want) && len(got)+len(want) > 0 {
				t.Errorf("%s, enabled %v: %+v, want %+v", name, enabled, got, want)
			}
		}
		list := messages.ListTransactions{Count: 99}
		check("listtransactions", r.reports.ListTransactions(list), want)
		list.Label = &label
		check("of a label", r.reports.ListTransactions(list), nil)
		details, err := r.reports.Transaction(hashOf(self))
		if err != nil || details.Fee != -5 || details.Amount != 0 {
			t.Errorf("%+v, %v", details, err)
		}
		check("gettransaction", details.Details, want)
		since := r.reports.SinceBlock(messages.ListSinceBlock{}, Since{})
		check("listsinceblock", since.Transactions, nil)
		since = r.reports.SinceBlock(messages.ListSinceBlock{IncludeChange: true}, Since{})
		if n := len(since.Transactions); n == 0 || since.Transactions[n-1].NoOutput {
			t.Errorf("with change: %+v", since.Transactions)
		}
		r.AddMempoolTx(free, 5002)
		r.AddMempoolTx(gift, 5003)
		for _, id := range []*chainhash.Hash{hashOf(free), hashOf(gift)} {
			details, err := r.reports.Transaction(id)
			if err != nil || slices.ContainsFunc(details.Details, func(e messages.TxEntry) bool { return e.NoOutput }) {
				t.Errorf("%+v, %v", details, err)
			}
		}
	}
}
