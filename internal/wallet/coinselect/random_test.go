package coinselect

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// even returns some coins whose amounts and weights are round, so that sums meet bounds.
func even(r *rand.Rand, p *Params, most int) []*group {
	coins := make([]Coin, 1+r.IntN(most))
	for i := range coins {
		size := 100 * (1 + r.IntN(3))
		coins[i] = coin(i, 10_000*int64(1+r.IntN(10))+p.Rate.Fee(size), size, 100)
	}
	return groupsOf(p, coins).mixed
}

// evenParams has bounds that sums of even coins meet.
func evenParams(r *rand.Rand) (p Params, maxWeight int) {
	p = params(10_000*int64(1+r.IntN(25)), 1000*FeeRate(r.IntN(60)))
	p.ChangeTarget = 10_000 * int64(r.IntN(4))
	p.ChangeCost = 10_000 * int64(r.IntN(2))
	return p, 400 * (1 + r.IntN(12))
}

// TestApproximateIsClosest compares the approximation of few coins with all subsets. It is the group that
// equals the target, or all groups below, or the subset closest to the target with change. The least
// group above is taken if it is closer, or if no subset leaves enough change.
func TestApproximateIsClosest(t *testing.T) {
	outcomes := make(map[string]int)
	for seed := range uint64(1500) {
		r := random(seed)
		p, maxWeight := evenParams(r)
		pool := even(r, &p, 6)
		want, outcome := closestOf(&p, pool, maxWeight)
		got, err := approximate(&p, pool, maxWeight, r)
		switch {
		case want >= 0 && (got == nil || got.amount != want || got.weight > maxWeight):
			t.Fatalf("seed %d: %+v (%v), want %d: %s", seed, got, err, want, outcome)
		case want < 0 && got != nil:
			t.Fatalf("seed %d: found %d, want none: %s", seed, got.amount, outcome)
		case want < 0 && errors.Is(err, ErrWeight) != (outcome == "too heavy"):
			t.Fatalf("seed %d: %v, want: %s", seed, err, outcome)
		}
		outcomes[outcome]++
	}
	for _, outcome := range []string{
		"one group", "all below", "above alone", "none", "too heavy", "subset", "above is closer", "too little change",
	} {
		if outcomes[outcome] < 10 {
			t.Errorf("only %d cases of: %s", outcomes[outcome], outcome)
		}
	}
}

// closestOf returns what the approximation has to come to, -1 for nothing, and why.
func closestOf(p *Params, pool []*group, maxWeight int) (amount int64, outcome string) {
	var below []*group
	above, tooHeavy := int64(-1), false
	for _, g := range pool {
		switch {
		case g.weight > maxWeight:
			tooHeavy = true
		case g.amount == p.Target:
			return g.amount, "one group"
		case g.amount < p.Target+p.ChangeTarget:
			below = append(below, g)
		case above < 0 || g.amount < above:
			above = g.amount
		}
	}
	all, _, weight := sum(below)
	orAbove := func(outcome string) (int64, string) {
		switch {
		case above >= 0:
			return above, outcome
		case tooHeavy:
			return -1, "too heavy"
		}
		return -1, "none"
	}
	if all < p.Target {
		return orAbove("above alone")
	}
	if all == p.Target && weight <= maxWeight {
		return all, "all below"
	}
	found := leastFrom(below, p.Target, maxWeight)
	if found != p.Target && all >= p.Target+p.ChangeTarget {
		found = leastFrom(below, p.Target+p.ChangeTarget, maxWeight)
	}
	counts := found
	if found < 0 { // nothing is light enough: all of them stand for it
		counts, tooHeavy = all, true
	}
	switch {
	case above >= 0 && counts != p.Target && counts < p.Target+p.ChangeTarget:
		return above, "too little change"
	case above >= 0 && above <= counts:
		return above, "above is closer"
	case found < 0:
		return orAbove("above alone")
	}
	return found, "subset"
}

// leastFrom returns the least that groups come to from an amount on that are light enough, -1 for none.
func leastFrom(pool []*group, from int64, maxWeight int) int64 {
	least := int64(math.MaxInt64)
	subsets(pool, func(some []*group) {
		if amount, _, weight := sum(some); amount >= from && weight <= maxWeight {
			least = min(least, amount)
		}
	})
	if least == math.MaxInt64 {
		return -1
	}
	return least
}

// Subsets of very many groups have each group once, and come to the target where that is easy.
func TestApproximateOfMany(t *testing.T) {
	for _, n := range []int{63, 64, 65, 128, 130} {
		p := params(int64(n/2)*1000, 0)
		var coins []Coin
		for i := range n {
			coins = append(coins, coin(i, 1000, 68, 10))
		}
		got, err := approximate(&p, groupsOf(&p, coins).mixed, 400_000, random(uint64(n)))
		if err != nil || got == nil || got.amount != p.Target {
			t.Fatalf("of %d: %v, %v", n, got, err)
		}
		seen := make(map[*Coin]bool)
		for _, c := range got.coins {
			seen[c] = true
		}
		if len(seen) != n/2 {
			t.Errorf("of %d: %d different coins, want %d", n, len(seen), n/2)
		}
	}
}

// TestDrawStopsInTime checks the draw where coins weigh the same. It finds a choice if as many of the
// greatest coins as are light enough come to the target with change. It takes no more coins than it
// needs.
func TestDrawStopsInTime(t *testing.T) {
	found, tooHeavy, none := 0, 0, 0
	for seed := range uint64(1500) {
		r := random(seed)
		p, _ := evenParams(r)
		p.ChangeFee = 10_000 * int64(r.IntN(2))
		var coins []Coin
		for i := range 1 + r.IntN(10) {
			coins = append(coins, coin(i, 10_000*int64(1+r.IntN(10))+p.Rate.Fee(100), 100, 100))
		}
		pool := groupsOf(&p, coins).positive
		most := 1 + r.IntN(10)
		amounts := make([]int64, 0, len(pool))
		for _, g := range pool {
			amounts = append(amounts, g.amount)
		}
		slices.SortFunc(amounts, func(a, b int64) int { return int(b - a) })
		var greatest int64
		for _, a := range amounts[:min(most, len(amounts))] {
			greatest += a
		}
		wanted := p.Target + 50_000 + p.ChangeFee
		got, err := draw(&p, pool, most*400, r)
		switch {
		case (got != nil) != (greatest >= wanted):
			t.Fatalf("seed %d: found %v (%v), %d of %d", seed, got != nil, err, greatest, wanted)
		case got == nil && errors.Is(err, ErrWeight) != (len(pool) > most):
			t.Fatalf("seed %d: %v, of %d coins %d are light enough", seed, err, len(pool), most)
		case got == nil && err != nil:
			tooHeavy++
			continue
		case got == nil:
			none++
			continue
		}
		found++
		var last int64
		for _, c := range got.coins {
			last = max(last, p.amount(c))
		}
		if got.amount < wanted || got.amount-last >= wanted || got.weight > most*400 {
			t.Fatalf("seed %d: %d of %d, weight %d of %d", seed, got.amount, wanted, got.weight, most*400)
		}
	}
	if found < 100 || tooHeavy < 20 || none < 20 {
		t.Errorf("%d found, %d too heavy, %d too few", found, tooHeavy, none)
	}
}

// Any of equal coins is drawn.
func TestDrawIsRandom(t *testing.T) {
	p := params(10_000, 1000)
	var coins []Coin
	for i := range 5 {
		coins = append(coins, coin(i, 100_000, 68, 10))
	}
	pool := groupsOf(&p, coins).positive
	drawn := make(map[*Coin]int)
	for seed := range uint64(200) {
		got, err := draw(&p, pool, 400_000, random(seed))
		if err != nil || len(got.coins) != 1 {
			t.Fatalf("%v, %v", got, err)
		}
		drawn[got.coins[0]]++
	}
	for i := range coins {
		if n := drawn[&coins[i]]; n < 15 {
			t.Errorf("coin %d is drawn %d times of 200", i, n)
		}
	}
}

// The change that is aimed at is fixed for small payments, and else random up to twice the payment.
func TestChangeTargetFollowsPayment(t *testing.T) {
	for _, c := range []struct{ payment, below int64 }{
		{0, 50_001},
		{25_000, 50_001},
		{25_001, 50_002},
		{100_000, 200_000},
		{500_000, 1_000_000},
		{10_000_000, 1_000_000},
	} {
		r, most := random(5), int64(0)
		for range 1000 {
			got := ChangeTarget(c.payment, 31, r) - 31
			if got < 50_000 || got >= c.below {
				t.Fatalf("payment %d: %d, want 50000 to %d", c.payment, got, c.below)
			}
			most = max(most, got)
		}
		if span := c.below - 50_000; span > 2 && most < 50_000+span*9/10 {
			t.Errorf("payment %d: at most %d of %d", c.payment, most, c.below)
		}
	}
}
