package txs

import (
	"fmt"
	"maps"
)

// Verify recomputes what the ledger keeps up to date, the slow way and for tests,
// and reports the first difference.
func (l *Ledger) Verify() error {
	if err := verifyBalances(l); err != nil {
		return err
	}
	for hash, txs := range l.states.byBlock {
		for _, t := range txs {
			if !t.state.inBlock() || t.state.block.Hash != hash {
				return fmt.Errorf("%v is filed under block %v", t.record.ID, hash)
			}
		}
	}
	for t := range l.states.pool {
		if t.state.kind != inMempool {
			return fmt.Errorf("%v is not in the mempool", t.record.ID)
		}
	}
	waiting := 0
	for _, t := range l.txs {
		if t.state.kind == inactive || t.state.kind == unrecognized {
			waiting++
			if !l.states.waiting[t] {
				return fmt.Errorf("%v is not among those that wait", t.record.ID)
			}
		}
	}
	if waiting != len(l.states.waiting) {
		return fmt.Errorf("%d transactions wait, want %d", len(l.states.waiting), waiting)
	}
	for _, p := range l.payees.byScript {
		if mine := l.cfg.Owner.IsMine(p.pkScript); mine != p.mine {
			return fmt.Errorf("script %x is the wallet's: %v, want %v", p.pkScript, p.mine, mine)
		}
	}
	return nil
}

func verifyBalances(l *Ledger) error {
	want := newBalances()
	inBlocks := 0
	for _, t := range l.txs {
		if t.state.inBlock() {
			inBlocks++
		}
		for _, out := range t.outs {
			if !out.to.mine || l.spends.spent(out) {
				continue
			}
			want.coins[out] = true
			if t.state.kind == confirmed {
				g := group{coinbase: t.coinbase(), used: l.cfg.Book.Used(out.to.dest)}
				want.add(place{counted: true, height: t.state.block.Height, group: g}, out.amount)
			}
		}
	}
	filed := 0
	for _, txs := range l.states.byBlock {
		filed += len(txs)
	}
	switch {
	case inBlocks != filed:
		return fmt.Errorf("%d transactions filed by block, want %d", filed, inBlocks)
	case !maps.Equal(want.coins, l.balances.coins):
		return fmt.Errorf("%d coins, want %d", len(l.balances.coins), len(want.coins))
	case !maps.Equal(want.total, l.balances.total):
		return fmt.Errorf("total %v, want %v", l.balances.total, want.total)
	case !maps.EqualFunc(want.heights, l.balances.heights, maps.Equal[sums]):
		return fmt.Errorf("by height %v, want %v", l.balances.heights, want.heights)
	}
	return nil
}
