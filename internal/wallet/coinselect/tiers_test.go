package coinselect

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"
)

// The tiers, from the most careful choice on.
const (
	oldOnly = iota
	confirmedOnly
	shortChains
	quarterChains
	halfChains
	allowedChains
	unsafeOrAny
	never = -1
)

// TestTierOfGroup holds each bound of the tiers: the least confirmations of one's own coins and of
// others', the most ancestors and descendants, and what is left of a script with full groups.
func TestTierOfGroup(t *testing.T) {
	for _, c := range []struct {
		name   string
		g      group
		change func(*Params)
		want   int // the first tier that takes it
	}{
		{name: "of others, 6 confirmations", g: group{depth: 6}, want: oldOnly},
		{name: "of others, 5 confirmations", g: group{depth: 5}, want: confirmedOnly},
		{name: "of others, 1 confirmation", g: group{depth: 1}, want: confirmedOnly},
		{name: "of others, not confirmed", g: group{ancestors: 1, descendants: 1}, want: never},
		{name: "own, 1 confirmation", g: group{own: true, depth: 1}, want: oldOnly},
		{name: "own, not confirmed, without a pool", g: group{own: true}, want: shortChains},
		{name: "2 ancestors", g: group{own: true, ancestors: 2}, want: shortChains},
		{name: "3 ancestors", g: group{own: true, ancestors: 3}, want: quarterChains},
		{name: "4 ancestors", g: group{own: true, ancestors: 4}, want: quarterChains},
		{name: "5 ancestors", g: group{own: true, ancestors: 5}, want: halfChains},
		{name: "12 ancestors", g: group{own: true, ancestors: 12}, want: halfChains},
		{name: "13 ancestors", g: group{own: true, ancestors: 13}, want: allowedChains},
		{name: "24 ancestors", g: group{own: true, ancestors: 24}, want: allowedChains},
		{name: "25 ancestors", g: group{own: true, ancestors: 25}, want: never},
		{name: "2 descendants", g: group{own: true, descendants: 2}, want: shortChains},
		{name: "3 descendants", g: group{own: true, descendants: 3}, want: quarterChains},
		{name: "4 descendants", g: group{own: true, descendants: 4}, want: quarterChains},
		{name: "5 descendants", g: group{own: true, descendants: 5}, want: halfChains},
		{name: "12 descendants", g: group{own: true, descendants: 12}, want: halfChains},
		{name: "13 descendants", g: group{own: true, descendants: 13}, want: allowedChains},
		{name: "24 descendants", g: group{own: true, descendants: 24}, want: allowedChains},
		{name: "25 descendants", g: group{own: true, descendants: 25}, want: never},
		{name: "confirmed, with ancestors", g: group{own: true, depth: 9, ancestors: 1}, want: shortChains},
		{name: "confirmed, with descendants", g: group{own: true, depth: 9, descendants: 1}, want: shortChains},
		{name: "what is left of a script", g: group{own: true, depth: 9, partial: true}, want: allowedChains},
		{
			name: "what is left of a script of others", g: group{depth: 1, partial: true}, want: allowedChains,
		},
		{
			name: "9 in a pool: 3 ancestors", g: group{own: true, ancestors: 3}, change: limits(9, 25),
			want: quarterChains,
		},
		{
			name: "9 in a pool: 4 ancestors", g: group{own: true, ancestors: 4}, change: limits(9, 25),
			want: halfChains,
		},
		{
			name: "9 in a pool: 8 ancestors", g: group{own: true, ancestors: 8}, change: limits(9, 25),
			want: allowedChains,
		},
		{
			name: "9 in a pool: 3 descendants", g: group{own: true, descendants: 3}, change: limits(25, 9),
			want: quarterChains,
		},
		{
			name: "9 in a pool: 8 descendants", g: group{own: true, descendants: 8}, change: limits(25, 9),
			want: allowedChains,
		},
		{
			name: "no limit known: 2 ancestors", g: group{own: true, ancestors: 2}, change: limits(0, 0),
			want: shortChains,
		},
		{name: "no limit known: 3 ancestors", g: group{own: true, ancestors: 3}, change: limits(0, 0), want: never},
		{
			name: "of others, unsafe", g: group{ancestors: 24, descendants: 24},
			change: func(p *Params) { p.Unsafe = true }, want: unsafeOrAny,
		},
		{
			name: "of others, left of a script, unsafe", g: group{partial: true},
			change: func(p *Params) { p.Unsafe = true }, want: unsafeOrAny,
		},
		{
			name: "of others, unsafe, a long chain", g: group{ancestors: 25},
			change: func(p *Params) { p.Unsafe = true }, want: never,
		},
		{
			name: "of others, unsafe, many descendants", g: group{descendants: 25},
			change: func(p *Params) { p.Unsafe = true }, want: never,
		},
		{
			name: "any chain", g: group{own: true, ancestors: 1000, descendants: 1000, partial: true},
			change: func(p *Params) { p.IgnoreChains = true }, want: unsafeOrAny,
		},
		{
			name: "any chain of others", g: group{ancestors: 1},
			change: func(p *Params) { p.IgnoreChains = true }, want: never,
		},
		{
			name: "any chain of others, confirmed", g: group{depth: 1, ancestors: 1000},
			change: func(p *Params) { p.IgnoreChains = true }, want: unsafeOrAny,
		},
		{
			name: "confirmed alone, own", g: group{own: true}, change: func(p *Params) {
				p.NoUnconfirmed, p.Unsafe, p.IgnoreChains = true, true, true
			}, want: never,
		},
	} {
		p := params(1, 1000)
		if c.change != nil {
			c.change(&p)
		}
		got := never
		for i, tier := range tiers(&p) {
			if tier.takes(&c.g) {
				got = i
				break
			}
		}
		if got != c.want {
			t.Errorf("%s: tier %d, want %d", c.name, got, c.want)
		}
	}
}

func limits(ancestors, descendants int) func(*Params) {
	return func(p *Params) { p.MaxAncestors, p.MaxDescendants = ancestors, descendants }
}

// spent returns which of some coins a selection has.
func spent(got *Selection, coins []Coin) (places []int) {
	at := make(map[wire.OutPoint]bool)
	for i := range got.Coins {
		at[got.Coins[i].At] = true
	}
	for i := range coins {
		if at[coins[i].At] {
			places = append(places, i)
		}
	}
	return places
}

// Kinds are not mixed while young coins of one kind suffice; of two kinds that suffice each, the choice
// that wastes less is taken.
func TestKindsAreMixedLast(t *testing.T) {
	of := func(n int, kind Kind, size int, depth int32) Coin {
		c := coin(n, 100_000, size, depth)
		c.Kind = kind
		return c
	}
	for _, c := range []struct {
		name  string
		coins []Coin
		want  []int
	}{
		{
			"young before mixed",
			[]Coin{of(1, Bech32, 68, 10), of(2, Legacy, 148, 10), of(3, Bech32, 68, 1)},
			[]int{0, 2},
		},
		{
			"less waste",
			[]Coin{
				of(1, Bech32m, 58, 10), of(2, Bech32m, 58, 10), of(3, Bech32, 68, 10), of(4, Bech32, 68, 10),
			},
			[]int{2, 3}, // at a low rate greater inputs save more later
		},
	} {
		p := params(120_000, 1000)
		got, err := Choose(p, nil, c.coins, true, random(1))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if places := spent(got, c.coins); len(places) != 2 || places[0] != c.want[0] || places[1] != c.want[1] {
			t.Errorf("%s: coins %v, want %v", c.name, places, c.want)
		}
	}
}

// A child of version 3 that spends what is not confirmed has a limit of its own; a lower one stays, and
// confirmed coins keep theirs.
func TestWeightOfChildOfVersion3(t *testing.T) {
	change := coin(1, 100_000, 68, 0)
	change.Own, change.Ancestors, change.Descendants = true, 1, 1
	const all = (42 + 68 + 31) * 4
	for _, c := range []struct {
		name      string
		coin      Coin
		version3  bool
		maxWeight int
		maxChild  int
		want      error
	}{
		{"light enough", change, true, 400_000, all, nil},
		{"too heavy for a child", change, true, 400_000, all - 1, ErrWeight},
		{"another version", change, false, 400_000, all - 1, nil},
		{"too heavy at all", change, true, all - 1, all, ErrWeight},
		{"confirmed", coin(1, 100_000, 68, 1), true, 400_000, all - 1, nil},
		{"confirmed by others", coin(1, 100_000, 68, 6), true, 400_000, all - 1, nil},
	} {
		p := params(50_000, 1000)
		p.ChangeCost = 0 // no choice without change
		p.Version3, p.MaxWeight, p.MaxChildWeight = c.version3, c.maxWeight, c.maxChild
		if _, err := Choose(p, nil, []Coin{c.coin}, true, random(1)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestTiers(t *testing.T) {
	old, young, change := coin(1, 100_000, 68, 10), coin(2, 100_000, 68, 2), coin(3, 100_000, 68, 0)
	change.Own, change.Ancestors, change.Descendants = true, 1, 1
	chained := coin(4, 100_000, 68, 0)
	chained.Own, chained.Ancestors, chained.Descendants = true, 25, 25
	foreign := coin(5, 100_000, 68, 0)
	foreign.Ancestors, foreign.Descendants = 1, 1
	legacy := coin(6, 100_000, 148, 10)
	legacy.Kind = Legacy
	for _, c := range []struct {
		name   string
		coins  []Coin
		change func(*Params)
		want   []int // of coins; nil: the error
		err    error
	}{
		{name: "old before young", coins: []Coin{young, old}, want: []int{1}},
		{name: "confirmed before change", coins: []Coin{change, young}, want: []int{1}},
		{name: "change", coins: []Coin{change}, want: []int{0}},
		{name: "no change", coins: []Coin{change}, change: func(p *Params) { p.NoUnconfirmed = true }, err: ErrFunds},
		{name: "too long a chain", coins: []Coin{chained}, err: ErrChain},
		{
			name: "any chain", coins: []Coin{chained}, change: func(p *Params) { p.IgnoreChains = true },
			want: []int{0},
		},
		{name: "of others", coins: []Coin{foreign}, err: ErrFunds},
		{
			name: "of others, unsafe", coins: []Coin{foreign}, change: func(p *Params) { p.Unsafe = true },
			want: []int{0},
		},
		{
			name: "one kind before two", coins: []Coin{old, legacy, coin(7, 100_000, 68, 10)},
			change: func(p *Params) { p.Target = 120_000 }, want: []int{0, 2},
		},
		{
			name: "two kinds", coins: []Coin{old, legacy}, change: func(p *Params) { p.Target = 120_000 },
			want: []int{0, 1},
		},
		{
			name: "outputs too heavy", coins: []Coin{old}, change: func(p *Params) { p.MaxWeight = 100 },
			err: ErrOutputWeight,
		},
		{
			name: "inputs too heavy", coins: []Coin{old}, change: func(p *Params) { p.MaxWeight = 400 },
			err: ErrWeight,
		},
		{
			name: "child of version 3", coins: []Coin{change, coin(8, 30_000, 68, 10)},
			change: func(p *Params) { p.Version3, p.FixedSize = true, 960 }, err: ErrWeight,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := params(50_000, 1000)
			if c.change != nil {
				c.change(&p)
			}
			got, err := Choose(p, nil, c.coins, true, random(7))
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if c.err != nil {
				return
			}
			if len(got.Coins) != len(c.want) {
				t.Fatalf("%d coins, want %v", len(got.Coins), c.want)
			}
			for _, i := range c.want {
				found := false
				for j := range got.Coins {
					found = found || got.Coins[j].At == c.coins[i].At
				}
				if !found {
					t.Errorf("coin %d is not spent", i)
				}
			}
		})
	}
}

// If a script has more coins than a group takes, the coins left over are spent only when full
// groups do not suffice. Else a payment would betray the address and keep some of its coins.
func TestPartialGroupsComeLast(t *testing.T) {
	var coins []Coin
	for i := range maxGroup + 1 {
		c := coin(i, 10_000, 68, 10)
		c.At.Hash[5], c.Script = byte(i>>8), []byte("one script")
		coins = append(coins, c)
	}
	p := params(5_000, 1000) // a single coin would do
	p.AvoidPartial = true
	got, err := Choose(p, nil, coins, true, random(7))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Coins) != maxGroup {
		t.Errorf("%d coins are spent, want the full group of %d", len(got.Coins), maxGroup)
	}
	p.Target = maxGroup*10_000 + 1 // more than the full group has
	if got, err = Choose(p, nil, coins, true, random(7)); err != nil || len(got.Coins) != maxGroup+1 {
		t.Errorf("%d coins, %v; want all", len(got.Coins), err)
	}
}
