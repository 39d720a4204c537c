package coinselect

import (
	"cmp"
	"math"
	"slices"
)

// lightest looks for the groups of least weight that come to a total.
type lightest struct {
	pool  []*group // the greatest amount first
	rest  []int64  // sum of the amounts from each group on
	least []int    // least weight of a group from each on
	total int64

	tries      int
	path       []int
	best       []int
	bestWeight int
	bestAmount int64
	tooHeavy   bool // something was heavier than the best choice, or than the most that a choice may weigh
}

// searchLightest searches depth first for the lightest choice that leaves the change
// that is wanted, and of several such for the one of least value.
func searchLightest(p *Params, pool []*group, maxWeight int) (found *selection, err error) {
	pool = slices.Clone(pool)
	slices.SortStableFunc(pool, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.amount, a.amount), cmp.Compare(a.weight, b.weight))
	})
	s := &lightest{
		pool: pool, rest: make([]int64, len(pool)+1), least: make([]int, len(pool)+1),
		total: p.Target + p.ChangeTarget, bestWeight: maxWeight, bestAmount: math.MaxInt64,
	}
	s.least[len(pool)] = math.MaxInt32
	for i := len(pool) - 1; i >= 0; i-- {
		s.rest[i] = s.rest[i+1] + pool[i].amount
		s.least[i] = min(s.least[i+1], pool[i].weight)
	}
	if s.rest[0] < s.total {
		return nil, nil
	}
	s.visit(0, 0, 0)
	if s.best == nil {
		return nil, heavy(s.tooHeavy)
	}
	found = newSelection(p, Lightest)
	for _, i := range s.best {
		found.addGroup(pool[i])
	}
	return found, nil
}

// visit looks at what can be chosen beside the groups of the path, from a group on.
func (s *lightest) visit(next int, amount int64, weight int) {
	for s.tries < maxTries {
		s.tries++
		switch {
		case weight > s.bestWeight:
			s.tooHeavy = true
			return
		case amount >= s.total:
			if weight < s.bestWeight || amount < s.bestAmount {
				s.best, s.bestWeight, s.bestAmount = slices.Clone(s.path), weight, amount
			}
			return
		case amount+s.rest[next] < s.total:
			return
		case weight+s.weightMissing(next, amount) > s.bestWeight:
			s.tooHeavy = true
			return
		}
		g := s.pool[next]
		s.path = append(s.path, next)
		s.visit(next+1, amount+g.amount, weight+g.weight)
		s.path = s.path[:len(s.path)-1]
		// Of groups of one amount the lightest come first: if the first is left out,
		// the others are no better.
		for next++; next < len(s.pool) && s.pool[next].amount == g.amount; next++ {
		}
	}
}

// weightMissing returns how much weight is added at least until the total is reached:
// no group from next on counts for more than the group at next.
func (s *lightest) weightMissing(next int, amount int64) int {
	each := s.pool[next].amount
	return int((s.total-amount+each-1)/each) * s.least[next]
}
