package coinselect

import "github.com/btcsuite/btcd/wire"

// Algorithm is how a selection was found.
type Algorithm string

// The algorithms, by the names that Core gives them.
const (
	Exact        Algorithm = "bnb"
	Lightest     Algorithm = "cg"
	Drawn        Algorithm = "srd"
	Approximated Algorithm = "knapsack"
	Given        Algorithm = "manual"
)

// A Selection is the coins that are to be spent.
type Selection struct {
	Algorithm Algorithm
	Coins     []Coin
	Waste     int64
	Change    int64 // 0: there is none
	Value     int64 // of all coins
	Bump      int64 // what is to be paid for unconfirmed ancestors
}

// selection is a choice that is compared with other choices.
type selection struct {
	params    *Params
	algorithm Algorithm
	coins     []*Coin
	target    int64
	value     int64
	amount    int64 // what the coins count for
	weight    int
	wasted    int64 // by the inputs
	discount  int64 // what ancestors cost less together
	waste     int64
}

func newSelection(p *Params, a Algorithm) *selection {
	return &selection{params: p, algorithm: a, target: p.Target}
}

// selectionOf is the selection of some groups by [approximate].
func selectionOf(p *Params, some ...*group) *selection {
	s := newSelection(p, Approximated)
	for _, g := range some {
		s.addGroup(g)
	}
	return s
}

func (s *selection) addGroup(g *group) {
	for _, c := range g.coins {
		s.add(c)
	}
}

func (s *selection) add(c *Coin) {
	p := s.params
	s.coins = append(s.coins, c)
	s.value += c.Value
	s.amount += p.amount(c)
	s.weight += c.weight(p.Scale)
	s.wasted += c.fee(p.Rate) - p.LongTermRate.Fee(max(c.Size, 0))
}

// change returns what is left for an output of change, 0 where that is not worth one.
func (s *selection) change() int64 {
	change := s.amount - s.target
	if !s.params.SubtractFee {
		change += s.discount - s.params.ChangeFee
	}
	if change < s.params.MinChange {
		return 0
	}
	return change
}

// weigh computes the waste, with what unconfirmed ancestors cost together.
//
// Errors: [ErrCluster].
func (s *selection) weigh() error {
	var unconfirmed []wire.OutPoint
	var alone int64
	for _, c := range s.coins {
		if c.Depth == 0 {
			unconfirmed = append(unconfirmed, c.At)
			alone += c.Bump
		}
	}
	if s.params.Combined != nil && len(unconfirmed) > 0 {
		together, ok := s.params.Combined(unconfirmed)
		if !ok {
			return ErrCluster
		}
		s.discount = alone - together
	}
	s.evaluate()
	return nil
}

// evaluate computes the waste.
func (s *selection) evaluate() {
	s.waste = s.wasted - s.discount
	if s.change() > 0 {
		s.waste += s.params.ChangeCost
		return
	}
	s.waste += s.amount - s.target
	if !s.params.SubtractFee {
		s.waste += s.discount
	}
}

// better reports whether a selection wastes less than another, or spends more coins for
// the same waste.
func (s *selection) better(other *selection) bool {
	return other == nil || s.waste < other.waste || s.waste == other.waste && len(s.coins) > len(other.coins)
}

// result returns what the caller sees.
func (s *selection) result() *Selection {
	r := &Selection{Algorithm: s.algorithm, Waste: s.waste, Change: s.change(), Value: s.value, Bump: -s.discount}
	for _, c := range s.coins {
		r.Coins = append(r.Coins, *c)
		r.Bump += c.Bump
	}
	return r
}
