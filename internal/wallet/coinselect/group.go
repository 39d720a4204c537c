package coinselect

import "slices"

// maxGroup is how many coins are grouped at most: more would surprise by their fee.
const maxGroup = 100

// A group is coins that are spent together or not at all.
type group struct {
	coins    []*Coin
	kind     Kind
	amount   int64 // what it counts for
	value    int64
	fee      int64
	longTerm int64 // fee at the long term rate
	weight   int

	own                    bool
	depth                  int32
	ancestors, descendants int

	partial bool // there are full groups of the same script
}

// add puts a coin into a group.
func (g *group) add(p *Params, c *Coin) {
	if len(g.coins) == 0 {
		g.kind, g.own, g.depth = c.Kind, true, c.Depth
	}
	g.coins = append(g.coins, c)
	g.amount += p.amount(c)
	g.value += c.Value
	g.fee += c.fee(p.Rate)
	g.longTerm += p.LongTermRate.Fee(max(c.Size, 0))
	g.weight += c.weight(p.Scale)
	g.own = g.own && c.Own
	g.depth = min(g.depth, c.Depth)
	g.ancestors += c.Ancestors // too many where they have some in common
	g.descendants = max(g.descendants, c.Descendants)
}

// waste is what spending the group costs above what it would cost in the long term.
func (g *group) waste() int64 { return g.fee - g.longTerm }

// groups are all groups of some coins.
type groups struct {
	// mixed has every coin; positive only such as are worth more than they cost.
	mixed, positive []*group
}

// groupsOf gathers coins. Without AvoidPartial each is a group of its own.
func groupsOf(p *Params, coins []Coin) groups {
	var all groups
	if !p.AvoidPartial {
		for i := range coins {
			g := new(group)
			g.add(p, &coins[i])
			all.mixed = append(all.mixed, g)
			if g.amount > 0 {
				all.positive = append(all.positive, g)
			}
		}
		return all
	}
	all.mixed = byScript(p, coins, func(*Coin) bool { return true })
	all.positive = slices.DeleteFunc(
		byScript(p, coins, func(c *Coin) bool { return c.Effective(p.Rate) > 0 }),
		func(g *group) bool { return g.amount <= 0 },
	)
	return all
}

// byScript gathers the coins of each script that pass, maxGroup at a time.
func byScript(p *Params, coins []Coin, pass func(*Coin) bool) []*group {
	type place struct {
		script string
		kind   Kind
	}
	var order []place
	last := make(map[place]*group)
	full := make(map[place][]*group)
	for i := range coins {
		c := &coins[i]
		if !pass(c) {
			continue
		}
		at := place{string(c.Script), c.Kind}
		g := last[at]
		switch {
		case g == nil:
			order = append(order, at)
			g = new(group)
		case len(g.coins) >= maxGroup:
			full[at] = append(full[at], g)
			g = new(group)
		}
		last[at] = g
		g.add(p, c)
	}
	var all []*group
	for _, at := range order {
		last[at].partial = len(full[at]) > 0
		all = append(append(all, last[at]), full[at]...)
	}
	return all
}

// A tier says which groups may be spent.
type tier struct {
	ownDepth, depth        int32 // least confirmations
	ancestors, descendants int   // the most
	partial                bool
	unmixed                bool // all coins must be of one kind
}

// noLimit is more than there ever is of anything.
const noLimit = int(^uint(0) >> 1)

// tiers returns which groups are tried, the most careful choice first: confirmed coins,
// then change that is not confirmed, with ever more ancestors.
func tiers(p *Params) []tier {
	list := []tier{
		{ownDepth: 1, depth: 6, descendants: 0, unmixed: true},
		{ownDepth: 1, depth: 1},
	}
	if p.NoUnconfirmed {
		return list
	}
	ancestors, descendants := max(p.MaxAncestors, 1), max(p.MaxDescendants, 1)
	list = append(
		list,
		tier{ownDepth: 0, depth: 1, ancestors: 2, descendants: 2},
		tier{ownDepth: 0, depth: 1, ancestors: min(4, ancestors/3), descendants: min(4, descendants/3)},
		tier{ownDepth: 0, depth: 1, ancestors: ancestors / 2, descendants: descendants / 2},
		tier{ownDepth: 0, depth: 1, ancestors: ancestors - 1, descendants: descendants - 1, partial: true},
	)
	if p.Unsafe {
		list = append(list, tier{ancestors: ancestors - 1, descendants: descendants - 1, partial: true})
	}
	if p.IgnoreChains {
		list = append(list, tier{ownDepth: 0, depth: 1, ancestors: noLimit, descendants: noLimit, partial: true})
	}
	return list
}

// takes reports whether a group may be spent.
func (t *tier) takes(g *group) bool {
	least := t.depth
	if g.own {
		least = t.ownDepth
	}
	return g.depth >= least && g.ancestors <= t.ancestors && g.descendants <= t.descendants &&
		(t.partial || !g.partial)
}

// unconfirmed reports whether coins may be spent that are in no block.
func (t *tier) unconfirmed() bool { return t.ownDepth == 0 || t.depth == 0 }
