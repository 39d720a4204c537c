package coinselect

import (
	"cmp"
	"math"
	"slices"
)

// maxTries is how many places of its tree a search visits.
const maxTries = 100_000

// exact looks for groups whose amounts come to the target, or to no more than the cost
// of change above it.
type exact struct {
	pool      []*group // the greatest amount first
	rest      []int64  // sum of the amounts from each group on
	target    int64
	limit     int64 // the most that the amounts may come to
	maxWeight int
	rising    bool // every group adds waste

	tries     int
	path      []int
	best      []int
	bestWaste int64
	tooHeavy  bool
}

// searchExact searches depth first for the choice without change that wastes least.
// Nothing that cannot become one is looked at, nor what is the same but for equal groups.
func searchExact(p *Params, pool []*group, maxWeight int) (found *selection, err error) {
	pool = slices.Clone(pool)
	slices.SortStableFunc(pool, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.amount, a.amount), cmp.Compare(a.waste(), b.waste()))
	})
	s := &exact{
		pool: pool, rest: make([]int64, len(pool)+1), target: p.Target, limit: p.Target + p.ChangeCost,
		maxWeight: maxWeight, bestWaste: math.MaxInt64,
	}
	for i := len(pool) - 1; i >= 0; i-- {
		s.rest[i] = s.rest[i+1] + pool[i].amount
	}
	if len(pool) == 0 || s.rest[0] < p.Target {
		return nil, nil
	}
	s.rising = pool[0].waste() > 0
	if p.ByPlace {
		s.visit(0, 0, 0, 0)
	} else {
		s.add(0, 0, 0, 0)
	}
	if s.best == nil {
		return nil, heavy(s.tooHeavy)
	}
	found = newSelection(p, Exact)
	for _, i := range s.best {
		found.addGroup(pool[i])
	}
	return found, nil
}

// visit looks at what can be chosen beside the groups of the path, from a group on.
func (s *exact) visit(next int, amount, waste int64, weight int) {
	for s.tries < maxTries {
		s.tries++
		switch {
		case amount+s.rest[next] < s.target, amount > s.limit, s.rising && waste > s.bestWaste:
			return
		case weight > s.maxWeight:
			s.tooHeavy = true
			return
		case amount >= s.target:
			if excess := amount - s.target; waste+excess <= s.bestWaste {
				s.best, s.bestWaste = slices.Clone(s.path), waste+excess
			}
			return
		}
		g := s.pool[next]
		s.path = append(s.path, next)
		s.visit(next+1, amount+g.amount, waste+g.waste(), weight+g.weight)
		s.path = s.path[:len(s.path)-1]
		// Without this group its equals need not be tried either.
		for next++; next < len(s.pool) && s.pool[next].amount == g.amount && s.pool[next].fee == g.fee; next++ {
		}
	}
}

// add adds each group from one on to those of the path, and looks at the choice.
func (s *exact) add(next int, amount, waste int64, weight int) {
	for next < len(s.pool) && s.tries < maxTries {
		s.tries++
		g := s.pool[next]
		if amount+g.amount+s.rest[next+1] < s.target {
			return // nor without this group
		}
		s.path = append(s.path, next)
		if s.mayGrow(amount+g.amount, waste+g.waste(), weight+g.weight) {
			s.add(next+1, amount+g.amount, waste+g.waste(), weight+g.weight)
		}
		s.path = s.path[:len(s.path)-1]
		// Of groups of one amount that with the least waste comes first: others are better only if they are lighter.
		for next++; next < len(s.pool) && s.pool[next].amount == g.amount && s.pool[next].weight >= g.weight; next++ {
		}
	}
}

// mayGrow looks at the choice of the path, and reports whether it could become better with more groups.
func (s *exact) mayGrow(amount, waste int64, weight int) bool {
	switch {
	case weight > s.maxWeight:
		s.tooHeavy = true
		return false
	case amount > s.limit, s.rising && waste > s.bestWaste:
		return false
	case amount < s.target:
		return true
	}
	if all := waste + amount - s.target; all <= s.bestWaste {
		s.best, s.bestWaste = slices.Clone(s.path), all
	}
	return false
}
