package txs

import "github.com/btcsuite/btcd/btcutil"

// place says where an output is counted among the balances: nowhere, or with the
// coins that a block confirmed.
type place struct {
	counted bool
	height  int32
	group   group
}

// group tells coins apart that balances treat differently.
type group struct {
	coinbase bool
	used     bool // its address was spent from
}

// balances sums up the coins that are confirmed, by the height of their block, so
// that a balance needs only look at the last blocks.
type balances struct {
	tip     int32
	top     int32 // no coin is higher; the tip is lower while the chain is rebuilt
	total   sums
	heights map[int32]sums
	coins   map[*output]bool // unspent ones, confirmed or not
}

// sums are amounts by group.
type sums map[group]btcutil.Amount

func newBalances() balances {
	return balances{total: make(sums), heights: make(map[int32]sums), coins: make(map[*output]bool)}
}

// refresh counts an output where it belongs.
func (l *Ledger) refresh(out *output) {
	unspent := out.to.mine && !l.spends.spent(out)
	if unspent {
		l.balances.coins[out] = true
	} else {
		delete(l.balances.coins, out)
	}
	var to place
	if t := out.tx; unspent && t.state.kind == confirmed {
		to = place{counted: true, height: t.state.block.Height}
		to.group = group{coinbase: t.coinbase(), used: l.cfg.Book.Used(out.to.dest)}
	}
	if to != out.place {
		l.balances.add(out.place, -out.amount)
		l.balances.add(to, out.amount)
		out.place = to
	}
}

func (b *balances) add(at place, amount btcutil.Amount) {
	if !at.counted {
		return
	}
	b.top = max(b.top, at.height)
	b.total.add(at.group, amount)
	block := b.heights[at.height]
	if block == nil {
		block = make(sums)
		b.heights[at.height] = block
	}
	block.add(at.group, amount)
	if len(block) == 0 {
		delete(b.heights, at.height)
	}
}

func (s sums) add(g group, amount btcutil.Amount) {
	if s[g] += amount; s[g] == 0 {
		delete(s, g)
	}
}

// above sums up what blocks above a height confirmed.
func (b *balances) above(height int32) sums {
	found := make(sums)
	last := max(b.tip, b.top)
	if int64(last)-int64(height) < int64(len(b.heights)) {
		for h := height + 1; h <= last; h++ {
			found.addAll(b.heights[h])
		}
		return found
	}
	for h, block := range b.heights {
		if h > height {
			found.addAll(block)
		}
	}
	return found
}

func (s sums) addAll(other sums) {
	for g, amount := range other {
		s[g] += amount
	}
}
