package coinselect

import (
	"math/rand/v2"
	"slices"
)

// refusal is an error in Core's words.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

// The refusals of [Choose].
var (
	ErrFunds error = refusal("Insufficient funds")

	ErrPreset error = refusal("The preselected coins total amount does not cover the transaction target. " +
		"Please allow other inputs to be automatically selected or include more coins manually")

	ErrChain error = refusal("Unconfirmed UTXOs are available, but spending them creates a chain of transactions " +
		"that will be rejected by the mempool")

	ErrWeight error = refusal("The inputs size exceeds the maximum weight. " +
		"Please try sending a smaller amount or manually consolidating your wallet's UTXOs")

	ErrPresetWeight error = refusal("The combination of the pre-selected inputs and the wallet automatic inputs " +
		"selection exceeds the transaction maximum weight. " +
		"Please try sending a smaller amount or manually consolidating your wallet's UTXOs")

	ErrOutputWeight error = refusal("Maximum transaction weight is less than transaction weight without inputs")

	ErrChangeWeight error = refusal("Maximum transaction weight is too low, can not accommodate change output")

	ErrCluster error = refusal("Failed to calculate bump fees, because unconfirmed UTXOs depend on an enormous " +
		"cluster of unconfirmed transactions.")
)

// heavy returns the error of a search that found only what is too heavy.
func heavy(tooHeavy bool) error {
	if tooHeavy {
		return ErrWeight
	}
	return nil
}

// Choose chooses coins beside those that are spent in any case. others says whether it
// may; where it may not, coins are not looked at.
//
// Errors: those of this package; ErrFunds where nothing more can be said.
func Choose(p Params, preset, coins []Coin, others bool, random *rand.Rand) (*Selection, error) {
	given := newSelection(&p, Given)
	for i := range preset {
		given.add(&preset[i])
	}
	missing := p.Target - given.amount
	switch {
	case missing > 0 && !others:
		return nil, ErrPreset
	case missing <= 0:
		given.evaluate()
		return given.result(), nil
	}
	var available int64
	for i := range coins {
		available += p.amount(&coins[i])
	}
	if missing > available {
		return nil, ErrFunds
	}
	rest := p
	rest.Target = missing
	found, err := walk(&rest, coins, random)
	if err != nil || len(preset) == 0 {
		return found.orNil(err)
	}
	found.params, found.target = &p, p.Target
	for i := range preset {
		found.add(&preset[i])
	}
	found.evaluate()
	if found.weight > p.MaxWeight-p.FixedSize*p.Scale {
		return nil, ErrPresetWeight
	}
	return found.result(), nil
}

// orNil returns a selection, or why there is none.
func (s *selection) orNil(err error) (*Selection, error) {
	if err != nil {
		return nil, err
	}
	return s.result(), nil
}

// walk tries one tier after the other.
func walk(p *Params, coins []Coin, random *rand.Rand) (*selection, error) {
	if p.AvoidPartial && len(coins) > maxGroup {
		coins = slices.Clone(coins)
		random.Shuffle(len(coins), func(i, j int) { coins[i], coins[j] = coins[j], coins[i] })
	}
	all, list := groupsOf(p, coins), tiers(p)
	if err := enough(p, coins, all, list); err != nil {
		return nil, err
	}
	limited := *p
	var first error
	for i := range list {
		t := &list[i]
		some := groups{
			mixed:    slices.DeleteFunc(slices.Clone(all.mixed), func(g *group) bool { return !t.takes(g) }),
			positive: slices.DeleteFunc(slices.Clone(all.positive), func(g *group) bool { return !t.takes(g) }),
		}
		if len(some.mixed)+len(some.positive) == 0 {
			continue
		}
		if p.Version3 && t.unconfirmed() {
			limited.MaxWeight = min(limited.MaxWeight, p.MaxChildWeight)
		}
		found, err := attempt(&limited, some, !t.unmixed, random)
		if found != nil {
			return found, nil
		}
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return nil, first
	}
	return nil, ErrFunds
}

// enough reports an error if the coins that some tier takes cannot come to the target, whatever
// they cost. As in Core, the amounts of all other groups are deducted, but not their fees.
// [ErrChain] is returned if the coins come to more than the target with the groups that have too many
// ancestors or descendants. Where coins are gathered by script, the other groups are deducted twice, once
// in each list of groups. Then no chain of unconfirmed change is built beside confirmed coins
// whose script has been paid again.
func enough(p *Params, coins []Coin, all groups, list []tier) error {
	var sum, chained int64
	for i := range coins {
		sum += coins[i].Value
	}
	lists := all.mixed
	if p.AvoidPartial {
		lists = slices.Concat(lists, all.positive)
	}
	for _, g := range lists {
		if slices.ContainsFunc(list, func(t tier) bool { return t.takes(g) }) {
			continue
		}
		sum -= g.amount
		if g.ancestors >= max(p.MaxAncestors, 1) || g.descendants >= max(p.MaxDescendants, 1) {
			chained += g.amount
		}
	}
	switch {
	case sum >= p.Target:
		return nil
	case sum+chained > p.Target:
		return ErrChain
	}
	return ErrFunds
}

// attempt chooses among the groups of one kind, for each kind, and takes the best; where
// there is none it mixes kinds.
func attempt(p *Params, some groups, mix bool, random *rand.Rand) (best *selection, err error) {
	kinds := kindsOf(some)
	for _, kind := range kinds {
		other := func(g *group) bool { return g.kind != kind }
		found, err := searchAll(p, groups{
			mixed:    slices.DeleteFunc(slices.Clone(some.mixed), other),
			positive: slices.DeleteFunc(slices.Clone(some.positive), other),
		}, random)
		if err != nil {
			return nil, err
		}
		if found != nil && found.better(best) {
			best = found
		}
	}
	if best == nil && mix && len(kinds) > 1 {
		return searchAll(p, some, random)
	}
	return best, nil
}

func kindsOf(some groups) []Kind {
	var kinds []Kind
	for _, g := range slices.Concat(some.mixed, some.positive) {
		if !slices.Contains(kinds, g.kind) {
			kinds = append(kinds, g.kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// highRate is how many times the long term rate a rate is at least from which on the
// lightest choice is looked for.
const highRate = 3

// searchAll has all searches look for a selection, and takes the best. Without any it
// returns the first error, nil where none has anything to say.
func searchAll(p *Params, some groups, random *rand.Rand) (*selection, error) {
	room := p.MaxWeight - p.FixedSize*p.Scale
	if room <= 0 {
		return nil, ErrOutputWeight
	}
	var found []*selection
	var first error
	note := func(s *selection, err error) {
		if s != nil {
			found = append(found, s)
		} else if first == nil {
			first = err
		}
	}
	if !p.SubtractFee {
		note(searchExact(p, some.positive, room))
	}
	room -= p.ChangeSize * p.Scale
	if room < 0 && len(found) == 0 {
		return nil, ErrChangeWeight
	}
	note(approximate(p, some.mixed, room, random))
	if p.Rate > highRate*p.LongTermRate {
		note(searchLightest(p, some.positive, room))
	}
	note(draw(p, some.positive, room, random))
	if len(found) == 0 {
		return nil, first
	}
	var best *selection
	for _, s := range found {
		if err := s.weigh(); err != nil {
			return nil, err
		}
		if s.better(best) {
			best = s
		}
	}
	return best, nil
}
