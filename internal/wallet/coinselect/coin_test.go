package coinselect

import "testing"

// Fees are rounded up to a whole satoshi.
func TestFeeIsRoundedUp(t *testing.T) {
	for _, c := range []struct {
		rate FeeRate
		size int
		want int64
	}{
		{0, 1000, 0},
		{1000, 0, 0},
		{1, 1, 1},
		{1, 1000, 1},
		{1, 1001, 2},
		{999, 1, 1},
		{1001, 1, 2},
		{1000, 141, 141},
		{2500, 141, 353}, // 352.5
		{-1000, 3, -3},
		{-1500, 1, -1},
	} {
		if got := c.rate.Fee(c.size); got != c.want {
			t.Errorf("%d for 1000 bytes, %d bytes: fee %d, want %d", c.rate, c.size, got, c.want)
		}
	}
}

// A coin counts for its value less the fees of its input and its ancestors, or for its whole value if
// the payments bear the fee. An input of unknown size costs and weighs nothing.
func TestWorthOfCoin(t *testing.T) {
	for _, c := range []struct {
		name              string
		size              int
		bump              int64
		subtract          bool
		amount, wasted    int64
		weight, effective int
	}{
		{name: "as it is", size: 68, amount: 9864, wasted: 136 - 680, weight: 272, effective: 9864},
		{
			name: "with ancestors to pay for", size: 68, bump: 500, amount: 9364, wasted: 136 + 500 - 680,
			weight: 272, effective: 9364,
		},
		{
			name: "the payments bear the fee", size: 68, bump: 500, subtract: true, amount: 10_000,
			wasted: 136 + 500 - 680, weight: 272, effective: 9364,
		},
		{name: "of unknown size", size: -1, amount: 10_000, effective: 10_000},
		{name: "of unknown size, with ancestors", size: -1, bump: 7, amount: 9993, wasted: 7, effective: 9993},
		{name: "without an input", size: 0, amount: 10_000, effective: 10_000},
	} {
		p := params(5000, 2000)
		p.SubtractFee = c.subtract
		one := coin(1, 10_000, c.size, 6)
		one.Bump = c.bump
		if got := one.Effective(p.Rate); got != int64(c.effective) {
			t.Errorf("%s: worth %d, want %d", c.name, got, c.effective)
		}
		var g group
		g.add(&p, &one)
		if g.amount != c.amount || g.weight != c.weight || g.waste() != c.wasted {
			t.Errorf("%s: a group counts for %d, weighs %d, wastes %d; want %d, %d, %d",
				c.name, g.amount, g.weight, g.waste(), c.amount, c.weight, c.wasted)
		}
		s := newSelection(&p, Drawn)
		s.add(&one)
		if s.amount != c.amount || s.weight != c.weight || s.wasted != c.wasted {
			t.Errorf("%s: a selection counts for %d, weighs %d, wastes %d; want %d, %d, %d",
				c.name, s.amount, s.weight, s.wasted, c.amount, c.weight, c.wasted)
		}
	}
}
