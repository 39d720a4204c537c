package wallet

import "github.com/btcsuite/btcd/btcutil"

// place says where an output is counted among the funds: nowhere, or with the
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

// funds sums up the coins that are confirmed, by the height of their block, so
// that a balance needs only look at the last blocks.
type funds struct {
	tip     int32
	total   sums
	heights map[int32]sums
	coins   map[*output]bool // unspent ones, confirmed or not
}

// sums are amounts by group.
type sums map[group]btcutil.Amount

func newFunds() funds {
	return funds{total: make(sums), heights: make(map[int32]sums), coins: make(map[*output]bool)}
}

// refresh counts an output where it belongs.
func (w *Wallet) refresh(out *output) {
	unspent := out.script.mine() && !w.spent(out)
	if unspent {
		w.funds.coins[out] = true
	} else {
		delete(w.funds.coins, out)
	}
	var to place
	if t := out.tx; unspent && t.state.kind == confirmed {
		to = place{counted: true, height: t.state.block.Height}
		to.group = group{coinbase: t.coinbase(), used: w.book.Used(out.script.dest)}
	}
	if to != out.place {
		w.funds.add(out.place, -out.amount)
		w.funds.add(to, out.amount)
		out.place = to
	}
}

func (f *funds) add(at place, amount btcutil.Amount) {
	if !at.counted {
		return
	}
	f.total.add(at.group, amount)
	block := f.heights[at.height]
	if block == nil {
		block = make(sums)
		f.heights[at.height] = block
	}
	block.add(at.group, amount)
	if len(block) == 0 {
		delete(f.heights, at.height)
	}
}

func (s sums) add(g group, amount btcutil.Amount) {
	if s[g] += amount; s[g] == 0 {
		delete(s, g)
	}
}

// above sums up what blocks above a height confirmed.
func (f *funds) above(height int32) sums {
	found := make(sums)
	if int64(f.tip)-int64(height) < int64(len(f.heights)) {
		for h := height + 1; h <= f.tip; h++ {
			found.addAll(f.heights[h])
		}
		return found
	}
	for h, block := range f.heights {
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
