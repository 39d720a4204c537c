package wallet

import (
	"fmt"
	"maps"
)

// Verify recomputes what a wallet keeps up to date, the slow way, and reports
// the first difference.
func (w *Wallet) Verify() error {
	if err := w.verifyFunds(); err != nil {
		return err
	}
	for hash, txs := range w.byBlock {
		for _, t := range txs {
			if !t.state.inBlock() || t.state.block.Hash != hash {
				return fmt.Errorf("%v is filed under block %v", t.record.ID, hash)
			}
		}
	}
	for t := range w.pool {
		if t.state.kind != inMempool {
			return fmt.Errorf("%v is not in the mempool", t.record.ID)
		}
	}
	return w.book.Verify()
}

func (w *Wallet) verifyFunds() error {
	want := newFunds()
	inBlocks := 0
	for _, t := range w.txs {
		if t.state.inBlock() {
			inBlocks++
		}
		for _, out := range t.outs {
			if !out.script.mine() || w.spent(out) {
				continue
			}
			want.coins[out] = true
			if t.state.kind == confirmed {
				g := group{coinbase: t.coinbase(), used: w.book.Used(out.script.dest)}
				want.add(place{counted: true, height: t.state.block.Height, group: g}, out.amount)
			}
		}
	}
	filed := 0
	for _, txs := range w.byBlock {
		filed += len(txs)
	}
	switch {
	case inBlocks != filed:
		return fmt.Errorf("%d transactions filed by block, want %d", filed, inBlocks)
	case !maps.Equal(want.coins, w.funds.coins):
		return fmt.Errorf("%d coins, want %d", len(w.funds.coins), len(want.coins))
	case !maps.Equal(want.total, w.funds.total):
		return fmt.Errorf("total %v, want %v", w.funds.total, want.total)
	case !maps.EqualFunc(want.heights, w.funds.heights, maps.Equal[sums]):
		return fmt.Errorf("by height %v, want %v", w.funds.heights, want.heights)
	}
	return nil
}
