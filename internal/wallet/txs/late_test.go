package txs

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// A payment, what spends it and what replaces it end up the same whether the wallet hears of
// them before the block that confirms the replacement, or after it.
func TestReplacedInEitherOrder(t *testing.T) {
	paid := txOf(1, []wire.OutPoint{foreign(1)}, pay(20, 1))
	child := txOf(3, []wire.OutPoint{outOf(paid, 0)}, pay(18, 1))
	bumped := txOf(2, []wire.OutPoint{foreign(1)}, pay(19, 1))
	news := func(r *rig) {
		r.AddMempoolTx(paid, 1)
		r.AddMempoolTx(child, 1)
		r.RemoveMempoolTx(child)
		r.RemoveMempoolTx(paid)
		r.AddMempoolTx(bumped, 1)
	}
	late := func(r *rig) { // the child was there before
		r.AddMempoolTx(child, 1)
		news(r)
	}
	block := func(r *rig) { r.ConnectBlock(blockOf(1, coinbaseOf(9), bumped), 1) }
	for name, steps := range map[string][]func(*rig){
		"news first": {news, block}, "block first": {block, news}, "child first": {late, block, news},
		"child without parent": {block, late},
	} {
		r := newRig(0, scriptOf(1))
		r.book.SetLabel(scriptOf(1), "a", "receive")
		r.ConnectBlock(blockOf(0, coinbaseOf(8)), 1)
		for _, step := range steps {
			step(r)
		}
		for _, tx := range []*wire.MsgTx{paid, child} {
			if got := r.txs[tx.TxHash()]; got == nil || got.state.kind != conflicted || r.at.depth(got) != -1 {
				t.Errorf("%s: transaction %d is %+v", name, tx.LockTime, got)
			}
		}
		if got := r.reports.ListReceived(messages.ListReceived{}); len(got) != 1 || got[0].Amount != 19 {
			t.Errorf("%s: received %+v", name, got)
		}
		if err := r.Verify(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// oneBlock is a chain with one block that a wallet knows.
type oneBlock struct{ *Block }

func (c oneBlock) Find(hash *chainhash.Hash) (BlockRef, bool) { return c.BlockRef, *hash == c.Hash }

// A file that has replaced payments as unconfirmed is mended when it is loaded, and the
// mended state is written.
func TestReplacedInFile(t *testing.T) {
	paid := txOf(1, []wire.OutPoint{foreign(1)}, pay(20, 1))
	child := txOf(2, []wire.OutPoint{outOf(paid, 0)}, pay(18, 1))
	given := txOf(5, []wire.OutPoint{outOf(child, 0)}, pay(17, 1))
	bumped := txOf(3, []wire.OutPoint{foreign(1)}, pay(19, 1))
	waiting := txOf(4, []wire.OutPoint{foreign(2)}, pay(5, 1))
	block := blockOf(1, coinbaseOf(9), bumped)
	records := []*walletfile.Tx{
		{ID: child.TxHash(), Tx: child, OrderPos: 0}, // written before its parent
		{ID: paid.TxHash(), Tx: paid, OrderPos: 1},
		{ID: given.TxHash(), Tx: given, OrderPos: 2, State: walletfile.AbandonedState()},
		{ID: bumped.TxHash(), Tx: bumped, OrderPos: 3, State: walletfile.ConfirmedState(block.Hash, 1)},
		{ID: waiting.TxHash(), Tx: waiting, OrderPos: 4},
	}
	r := newRig(0, scriptOf(1))
	r.Load(&walletfile.Wallet{OrderPosNext: 5, Txs: records}, oneBlock{block})
	r.SetTip(messages.Tip{Hash: block.Hash, Height: block.Height})
	for _, tx := range []*wire.MsgTx{paid, child, given} {
		if got := r.txs[tx.TxHash()]; got.record.State != walletfile.ConflictedState(block.Hash) {
			t.Errorf("transaction %d is written as %+v", tx.LockTime, got.record.State)
		}
	}
	if got := r.Unconfirmed(); len(got) != 1 || got[0].TxHash() != waiting.TxHash() {
		t.Errorf("%d transactions wait to be confirmed, want one", len(got))
	}
	if written := r.log.Take(); len(written) != 3 {
		t.Errorf("%d records are written, want 3", len(written))
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	again := newRig(0, scriptOf(1))
	again.Load(&walletfile.Wallet{OrderPosNext: 5, Txs: records}, oneBlock{block})
	if written := again.log.Take(); len(written) != 0 {
		t.Errorf("%d records are written once more", len(written))
	}
}
