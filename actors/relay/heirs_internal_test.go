package relay

import (
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"
)

// An orphan that is to be judged again on behalf of a peer that leaves is judged on behalf of another.
func TestOrphanOfPeerThatLeaves(t *testing.T) {
	parent := transactionOf(1)
	child, other := transactionOf(2), transactionOf(3)
	for i, tx := range []*wire.MsgTx{child, other} {
		tx.TxIn[0].PreviousOutPoint = wire.OutPoint{Hash: parent.TxHash()}
		tx.TxOut[0].Value = int64(i)
	}
	o := newOrphanage(4)
	o.add(child, 1)
	o.add(other, 1)
	if peers := o.reconsider(parent); !slices.Equal(peers, []int64{1, 1}) {
		t.Fatalf("judged again for %v", peers)
	}
	o.add(child, 2)
	if heirs := o.dropPeer(1); !slices.Equal(heirs, []int64{2}) {
		t.Errorf("judged for %v in place of it", heirs)
	}
	if one := o.next(2); one == nil || one.wid != child.WitnessHash() || o.next(2) != nil {
		t.Errorf("judged %v", one)
	}
	o.add(other, 3)
	o.add(child, 3)
	if heirs := o.dropPeer(2); len(heirs) != 0 || o.next(3) != nil {
		t.Errorf("judged for %v, although it was judged before", heirs)
	}
}

func transactionOf(n int64) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: uint32(n)}})
	tx.AddTxOut(wire.NewTxOut(n, nil))
	return tx
}
