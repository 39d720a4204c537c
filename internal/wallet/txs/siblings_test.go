package txs

import (
	"testing"

	"github.com/btcsuite/btcd/wire"
)

// Of the transactions of version 3 that spend from an unconfirmed one the mempool has one:
// the others are in conflict with it, until it leaves.
func TestSiblings(t *testing.T) {
	for _, version := range []int32{2, 3} {
		r := newRig(0, scriptOf(1), scriptOf(2))
		r.ConnectBlock(blockOf(0), 1)
		of := func(tx *wire.MsgTx) *wire.MsgTx {
			tx.Version = version
			return tx
		}
		parent := of(txOf(1, []wire.OutPoint{foreign(1)}, pay(5, 1), pay(5, 9)))
		own := of(txOf(2, []wire.OutPoint{outOf(parent, 0)}, pay(4, 2)))
		other := of(txOf(3, []wire.OutPoint{outOf(parent, 1)}, pay(4, 9)))
		r.AddMempoolTx(parent, 1)
		r.AddMempoolTx(own, 1)
		r.RemoveMempoolTx(own)
		r.AddMempoolTx(other, 1)
		conflicts := r.txs[own.TxHash()].conflicts
		if got := conflicts[other.TxHash()]; got != (version == 3) {
			t.Errorf("version %d: in conflict: %v", version, got)
		}
		if got := r.spending.Unspent(outOf(parent, 0)); got != (version == 3) {
			t.Errorf("version %d: can be spent again: %v", version, got)
		}
		r.ConnectBlock(blockOf(1, parent, other), 1)
		if len(conflicts) != 0 || r.spending.Unspent(outOf(parent, 0)) {
			t.Errorf("version %d: %d conflicts are left", version, len(conflicts))
		}
		if err := r.Verify(); err != nil {
			t.Error(err)
		}
	}
}
