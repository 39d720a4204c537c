package coinselect

import (
	"slices"
	"testing"
)

// A group is as confirmed as its youngest coin, and the wallet's own if all coins are. It has the
// ancestors of all its coins, and the descendants of the coin that has most.
func TestGroupIsAsItsWorstCoin(t *testing.T) {
	p := params(1, 2000)
	a, b := coin(1, 10_000, 68, 7), coin(2, 20_000, 100, 3)
	a.Own, a.Ancestors, a.Descendants, a.Bump = true, 2, 5, 40
	b.Own, b.Ancestors, b.Descendants = true, 3, 4
	var g group
	g.add(&p, &a)
	g.add(&p, &b)
	want := group{
		coins: []*Coin{&a, &b}, kind: Bech32, amount: 30_000 - 136 - 40 - 200, value: 30_000, fee: 136 + 40 + 200,
		longTerm: 680 + 1000, weight: 168 * 4, own: true, depth: 3, ancestors: 5, descendants: 5,
	}
	if !equal(&g, &want) {
		t.Errorf("got %+v, want %+v", g, want)
	}
	foreign := coin(3, 1000, 0, 9)
	g.add(&p, &foreign)
	if g.own || g.depth != 3 {
		t.Errorf("with a coin of others: own %v, depth %d", g.own, g.depth)
	}
}

func equal(a, b *group) bool {
	return slices.Equal(a.coins, b.coins) && a.kind == b.kind && a.amount == b.amount && a.value == b.value &&
		a.fee == b.fee && a.longTerm == b.longTerm && a.weight == b.weight && a.own == b.own &&
		a.depth == b.depth && a.ancestors == b.ancestors && a.descendants == b.descendants && a.partial == b.partial
}

// sizes returns how many coins the groups have, those of partial ones negative.
func sizes(all []*group) (n []int) {
	for _, g := range all {
		size := len(g.coins)
		if g.partial {
			size = -size
		}
		n = append(n, size)
	}
	return n
}

// Coins are gathered by script and kind, a hundred at a time: only what is left of a script with a full
// group is partial. Coins that cost more than they are worth are in the mixed groups alone, and what
// comes to nothing is in no positive group.
func TestGroupsByScript(t *testing.T) {
	of := func(script byte, kind Kind, value int64, n int) (coins []Coin) {
		for range n {
			c := coin(0, value, 68, 10)
			c.Script, c.Kind = []byte{script}, kind
			coins = append(coins, c)
		}
		return coins
	}
	const worth, dust = 1000, 68
	for _, c := range []struct {
		name            string
		coins           []Coin
		mixed, positive []int
	}{
		{"two scripts", slices.Concat(of(1, Bech32, worth, 2), of(2, Bech32, worth, 1)), []int{2, 1}, []int{2, 1}},
		{"two kinds of a script", slices.Concat(of(1, 0, worth, 2), of(1, 1, worth, 3)), []int{2, 3}, []int{2, 3}},
		{
			"scattered", slices.Concat(of(1, 0, worth, 1), of(2, 0, worth, 1), of(1, 0, worth, 1)),
			[]int{2, 1},
			[]int{2, 1},
		},
		{"a full group", of(1, 0, worth, 100), []int{100}, []int{100}},
		{"and a coin", of(1, 0, worth, 101), []int{-1, 100}, []int{-1, 100}},
		{"two full groups", of(1, 0, worth, 200), []int{-100, 100}, []int{-100, 100}},
		{"three groups", of(1, 0, worth, 201), []int{-1, 100, 100}, []int{-1, 100, 100}},
		{"some are worth nothing", slices.Concat(of(1, 0, worth, 2), of(1, 0, dust, 3)), []int{5}, []int{2}},
		{"the first is worth nothing", slices.Concat(of(1, 0, dust, 1), of(1, 0, worth, 2)), []int{3}, []int{2}},
		{"all are worth nothing", of(1, 0, dust, 3), []int{3}, nil},
		{"the least worth", of(1, 0, dust+1, 1), []int{1}, []int{1}},
	} {
		p := params(1, 1000)
		p.AvoidPartial = true
		all := groupsOf(&p, c.coins)
		if got := sizes(all.mixed); !slices.Equal(got, c.mixed) {
			t.Errorf("%s: mixed %v, want %v", c.name, got, c.mixed)
		}
		if got := sizes(all.positive); !slices.Equal(got, c.positive) {
			t.Errorf("%s: positive %v, want %v", c.name, got, c.positive)
		}
		p.AvoidPartial = false
		all = groupsOf(&p, c.coins)
		positive := 0
		for i := range c.coins {
			if c.coins[i].Value > dust {
				positive++
			}
		}
		if len(all.mixed) != len(c.coins) || len(all.positive) != positive {
			t.Errorf("%s, coin by coin: %d mixed, %d positive; want %d, %d",
				c.name, len(all.mixed), len(all.positive), len(c.coins), positive)
		}
	}
}

// Where scripts are kept together, which coins share a group is a matter of chance once there is more
// than one group's worth of coins; the caller's list stays as it is.
func TestGroupsAreShuffled(t *testing.T) {
	for _, c := range []struct {
		name   string
		n      int
		others bool // the coin outside the full group changes with the seed
	}{{"two groups", 101, true}, {"one group", 100, false}} {
		var coins []Coin
		for i := range c.n {
			one := coin(i, 10_000, 68, 10)
			one.Script = []byte("one script")
			coins = append(coins, one)
		}
		before := slices.Clone(coins)
		p := params(5000, 1000)
		p.AvoidPartial = true
		left := make(map[int]bool)
		for seed := range uint64(20) {
			got, err := Choose(p, nil, coins, true, random(seed))
			if err != nil {
				t.Fatal(err)
			}
			places := spent(got, coins)
			for i := range coins {
				if !slices.Contains(places, i) {
					left[i] = true
				}
			}
		}
		if (len(left) > 5) != c.others || !c.others && len(left) != 0 {
			t.Errorf("%s: coins %v are left", c.name, left)
		}
		if !slices.EqualFunc(before, coins, func(a, b Coin) bool { return a.At == b.At }) {
			t.Errorf("%s: the list of the caller has another order", c.name)
		}
	}
}
