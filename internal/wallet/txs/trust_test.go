package txs

import (
	"testing"

	"github.com/btcsuite/btcd/wire"
)

// Trust is decided once for each transaction, however many paths lead to it: each of
// these spends both outputs of the one before.
func TestTrustOfManyPaths(t *testing.T) {
	for name, own := range map[string]bool{"own": true, "foreign": false} {
		r := newRig(0, scriptOf(1))
		first := txOf(1, []wire.OutPoint{foreign(1)}, pay(60, 1), pay(40, 1))
		if own {
			r.ConnectBlock(blockOf(0, coinbaseOf(9), first), 1)
		} else {
			r.ConnectBlock(blockOf(0), 1)
			r.AddMempoolTx(first, 1)
		}
		last := first
		for n := range uint32(60) {
			last = txOf(2+n, []wire.OutPoint{outOf(last, 0), outOf(last, 1)}, pay(60, 1), pay(40, 1))
			r.AddMempoolTx(last, 1)
		}
		b := r.balances(0)
		if trusted := b.Trusted == 100; trusted != own || b.Trusted+b.Pending != 100 {
			t.Errorf("%s: %+v", name, b)
		}
		got, err := r.reports.Transaction(hashOf(last)) // it asks all ancestors whether they may be replaced
		if err != nil || got.Tx.Replaceable != "no" {
			t.Errorf("%s: replaceable: %q, %v", name, got.Tx.Replaceable, err)
		}
	}
}

// A transaction that also spends a foreign output is not trusted, and neither are
// its descendants.
func TestMixedSpend(t *testing.T) {
	r := newRig(0, scriptOf(1))
	paid := txOf(1, []wire.OutPoint{foreign(1)}, pay(60, 1), pay(40, 1))
	r.ConnectBlock(blockOf(0, coinbaseOf(9), paid), 1)
	mixed := txOf(2, []wire.OutPoint{outOf(paid, 0), foreign(2)}, pay(70, 1))
	r.AddMempoolTx(mixed, 1)
	r.AddMempoolTx(txOf(3, []wire.OutPoint{outOf(mixed, 0), outOf(paid, 1)}, pay(30, 1), pay(80, 1)), 1)
	if b := r.balances(0); b.Trusted != 0 || b.Pending != 110 {
		t.Errorf("%+v", b)
	}
}
