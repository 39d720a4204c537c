package coinselect

import (
	"errors"
	"testing"
)

// Coins that no tier takes count for the cost of spending them, as in Core. The error is
// about too long chains if the coins come to more than the target with theirs.
func TestEnough(t *testing.T) {
	const rate, size = 10_000, 100 // 1,000 satoshis an input
	own := coin(1, 5000, size, 6)
	foreign := coin(2, 4000, size, 0)
	long := coin(3, 4000, size, 0)
	long.Own, long.Ancestors = true, 25
	wide := coin(4, 4000, size, 0)
	wide.Own, wide.Descendants = true, 25
	allowed := coin(5, 4000, size, 0)
	allowed.Own, allowed.Ancestors, allowed.Descendants = true, 24, 24
	for name, c := range map[string]struct {
		target int64
		coins  []Coin
		want   error
	}{
		"reached":                       {5000, []Coin{own}, nil},
		"not reached":                   {5001, []Coin{own}, ErrFunds},
		"with the cost of another":      {6000, []Coin{own, foreign}, nil},
		"not with it":                   {6001, []Coin{own, foreign}, ErrFunds},
		"a long chain has more":         {3999, []Coin{long}, ErrChain},
		"a long chain has no more":      {4000, []Coin{long}, ErrFunds},
		"it makes up for the rest":      {8999, []Coin{own, long}, ErrChain},
		"it does not":                   {9000, []Coin{own, long}, ErrFunds},
		"too many descendants":          {3999, []Coin{wide}, ErrChain},
		"too many of them have no more": {4000, []Coin{wide}, ErrFunds},
		"as long and wide as allowed":   {4000, []Coin{allowed}, nil},
	} {
		p := params(c.target, rate)
		if err := enough(&p, c.coins, groupsOf(&p, c.coins), tiers(&p)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Where coins are gathered by script, a script that was paid again holds back its confirmed coins.
// As in Core they are deducted twice, so that unconfirmed change does not replace them.
func TestEnoughByScript(t *testing.T) {
	confirmed, again := coin(1, 50_000, 100, 6), coin(2, 4000, 100, 0)
	change := coin(3, 40_000, 100, 0)
	change.Own, change.Ancestors, change.Descendants = true, 1, 1
	confirmed.Script, again.Script, change.Script = []byte{1}, []byte{1}, []byte{2}
	coins := []Coin{confirmed, again, change}
	p := params(10_000, 10_000)
	got, err := Choose(p, nil, coins, true, random(1))
	if err != nil || len(got.Coins) != 1 || got.Coins[0].At != confirmed.At {
		t.Errorf("coin by coin: %v, %v", got, err)
	}
	p.AvoidPartial = true
	if got, err := Choose(p, nil, coins, true, random(1)); !errors.Is(err, ErrFunds) {
		t.Errorf("by script: %v, %v", got, err)
	}
	got, err = Choose(p, nil, []Coin{confirmed, change}, true, random(1))
	if err != nil || got.Coins[0].At != confirmed.At {
		t.Errorf("by script, paid once: %v, %v", got, err)
	}
}

// If nothing is too heavy, a choice is found if and only if all coins worth spending
// come to the target. It wastes no more than the best choice without change.
func TestChooseIsBest(t *testing.T) {
	found := 0
	for seed := range uint64(500) {
		r := random(seed)
		p := params(int64(10_000+r.IntN(300_000)), FeeRate(1000+r.IntN(60_000)))
		coins := few(r)
		pool := groupsOf(&p, coins).positive
		var all, best int64
		var bestFound bool
		for _, g := range pool {
			all += g.amount
		}
		subsets(pool, func(some []*group) {
			amount, waste, _ := sum(some)
			if amount < p.Target || amount > p.Target+p.ChangeCost {
				return
			}
			least := amount
			for _, g := range some {
				least = min(least, g.amount)
			}
			if cost := waste + amount - p.Target; amount-least < p.Target && (!bestFound || cost < best) {
				best, bestFound = cost, true
			}
		})
		got, err := Choose(p, nil, coins, true, r)
		if (err == nil) != (all >= p.Target) {
			t.Fatalf("seed %d: %v, all come to %d of %d", seed, err, all, p.Target)
		}
		if err != nil || !bestFound {
			continue
		}
		found++
		if got.Waste > best {
			t.Errorf("seed %d: waste %d by %s, without change %d", seed, got.Waste, got.Algorithm, best)
		}
	}
	if found < 50 {
		t.Errorf("only %d cases had a choice without change", found)
	}
}
