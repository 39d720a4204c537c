package txs

import (
	"testing"

	"github.com/btcsuite/btcd/wire"
)

// Any other spender of a coin stands in the way of a replacement, unless it was replaced in turn, given up, or is
// in conflict with a block.
func TestRival(t *testing.T) {
	r := newRig(0, scriptOf(1), scriptOf(2))
	coinbase := coinbaseOf(1, pay(50, 1), pay(50, 1))
	r.ConnectBlock(blockOf(0), 1)
	r.ConnectBlock(blockOf(1, coinbase), 1)
	at := outOf(coinbase, 0)
	first := txOf(2, []wire.OutPoint{at}, pay(49, 9))
	second := txOf(3, []wire.OutPoint{at}, pay(48, 9))
	third := txOf(4, []wire.OutPoint{at}, pay(47, 9))
	r.spending.Commit(first, nil, 10)
	r.spending.Replace(second, first.TxHash(), nil, 11)
	r.spending.Replace(third, second.TxHash(), nil, 12)
	for i, old := range []*wire.MsgTx{third, second, first} {
		if by, there := r.spending.Rival(at, old.TxHash()); there != (i > 0) {
			t.Errorf("after %d of 3: %v, %v", 3-i, by, there)
		}
	}
	if _, there := r.spending.Rival(outOf(coinbase, 1), third.TxHash()); there {
		t.Error("nobody spends it")
	}
	delete(r.txs[first.TxHash()].record.Values, noteReplacedBy)
	if by, there := r.spending.Rival(at, third.TxHash()); !there || by != first.TxHash() {
		t.Errorf("one that does not know who replaced it: %v, %v", by, there)
	}
	for _, tx := range []*wire.MsgTx{first, third} {
		if err := r.spending.Abandon(tx.TxHash()); err != nil {
			t.Fatal(err)
		}
	}
	if by, there := r.spending.Rival(at, second.TxHash()); there {
		t.Errorf("given up: %v", by)
	}
	other := txOf(5, []wire.OutPoint{at}, pay(46, 9))
	r.ConnectBlock(blockOf(2, coinbaseOf(8), other), 1)
	if by, there := r.spending.Rival(at, second.TxHash()); there != (r.txs[other.TxHash()] != nil) {
		t.Errorf("in a block: %v, %v", by, there)
	}
}
