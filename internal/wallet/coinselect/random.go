package coinselect

import (
	"cmp"
	"container/heap"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// The change that is aimed at.
const (
	minChangeTarget = 50_000
	maxChangeTarget = 1_000_000
)

// ChangeTarget returns how much change to aim at beside payments of some size on
// average: a random amount, so that it does not tell change from payment.
func ChangeTarget(payment, changeFee int64, random *rand.Rand) int64 {
	if payment <= minChangeTarget/2 {
		return changeFee + minChangeTarget
	}
	return changeFee + minChangeTarget + random.Int64N(min(payment*2, maxChangeTarget)-minChangeTarget)
}

// draw takes groups at random until they come to the target and to some change.
func draw(p *Params, pool []*group, maxWeight int, random *rand.Rand) (*selection, error) {
	wanted := p.Target + minChangeTarget + p.ChangeFee
	var taken byAmount
	var amount int64
	weight, tooHeavy := 0, false
	for _, i := range random.Perm(len(pool)) {
		heap.Push(&taken, pool[i])
		amount += pool[i].amount
		weight += pool[i].weight
		for weight > maxWeight && len(taken) > 0 {
			tooHeavy = true
			least := heap.Pop(&taken).(*group)
			amount -= least.amount
			weight -= least.weight
		}
		if amount >= wanted {
			found := newSelection(p, Drawn)
			for _, g := range taken {
				found.addGroup(g)
			}
			return found, nil
		}
	}
	return nil, heavy(tooHeavy)
}

// byAmount is a heap with the group of the least amount on top, of several such the heaviest.
type byAmount []*group //nolint:recvcheck // as heap.Interface wants it

func (h byAmount) Len() int      { return len(h) }
func (h byAmount) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *byAmount) Push(g any)   { *h = append(*h, g.(*group)) }
func (h byAmount) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].amount, h[j].amount), cmp.Compare(h[j].weight, h[i].weight)) < 0
}
func (h *byAmount) Pop() any {
	last := len(*h) - 1
	g := (*h)[last]
	*h = (*h)[:last]
	return g
}

// approximations is how many random subsets are tried.
const approximations = 1000

// approximate looks for groups that come to the target, or closely above it with the
// change that is wanted: among those below by random subsets, or the least one above.
func approximate(p *Params, pool []*group, maxWeight int, random *rand.Rand) (*selection, error) {
	pool = slices.Clone(pool)
	random.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	var above *group // the least
	var below []*group
	var sum int64
	tooHeavy := false
	for _, g := range pool {
		switch {
		case g.weight > maxWeight:
			tooHeavy = true
		case g.amount == p.Target:
			return selectionOf(p, g), nil
		case g.amount < p.Target+p.ChangeTarget:
			below = append(below, g)
			sum += g.amount
		case above == nil || g.amount < above.amount:
			above = g
		}
	}
	if sum == p.Target {
		if all := selectionOf(p, below...); all.weight <= maxWeight {
			return all, nil
		}
		tooHeavy = true
	}
	if sum < p.Target {
		if above == nil {
			return nil, heavy(tooHeavy)
		}
		return selectionOf(p, above), nil
	}
	slices.SortStableFunc(below, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.amount, a.amount), cmp.Compare(a.waste(), b.waste()))
	})
	best, amount := closest(below, sum, p.Target, maxWeight, random)
	if amount != p.Target && sum >= p.Target+p.ChangeTarget {
		best, amount = closest(below, sum, p.Target+p.ChangeTarget, maxWeight, random)
	}
	misses := amount != p.Target && amount < p.Target+p.ChangeTarget
	if above != nil && (misses || above.amount <= amount) {
		return selectionOf(p, above), nil
	}
	if found := selectionOf(p, best...); found.weight <= maxWeight {
		return found, nil
	}
	if above == nil {
		return nil, heavy(true)
	}
	return selectionOf(p, above), nil
}

// closest returns the random subset that comes closest to a total from above, and what
// it comes to: all groups where no better one is found.
func closest(pool []*group, sum, total int64, maxWeight int, random *rand.Rand) (best []*group, amount int64) {
	s := newSubsetSearch(pool, total, maxWeight, sum)
	for range approximations {
		if s.best == total {
			break
		}
		s.try(random)
	}
	if s.found == nil {
		return pool, sum
	}
	return s.found.of(pool), s.best
}

// bitset is a set of groups by their places.
type bitset []uint64

func (b bitset) of(pool []*group) []*group {
	var some []*group
	for word, bits64 := range b {
		for ; bits64 != 0; bits64 &= bits64 - 1 {
			some = append(some, pool[word*wordBits+bits.TrailingZeros64(bits64)])
		}
	}
	return some
}

const wordBits = 64

// subsetSearch has the groups that subsets are made of. There may be very many, of which each try
// looks at all: so what it reads lies close together.
type subsetSearch struct {
	amounts   []int64
	weights   []int32
	total     int64
	maxWeight int

	included bitset
	found    bitset
	best     int64 // what found comes to
}

func newSubsetSearch(pool []*group, total int64, maxWeight int, sum int64) *subsetSearch {
	s := &subsetSearch{
		amounts: make([]int64, len(pool)), weights: make([]int32, len(pool)), total: total, maxWeight: maxWeight,
		included: make(bitset, (len(pool)+wordBits-1)/wordBits), best: sum,
	}
	for i, g := range pool {
		s.amounts[i], s.weights[i] = g.amount, int32(g.weight)
	}
	return s
}

// try makes one subset: first of some groups at random, then of those that are left. A group
// with which the total is reached is taken out again, in the hope that a smaller group reaches
// it too.
func (s *subsetSearch) try(random *rand.Rand) {
	clear(s.included)
	var now int64
	weight, reached := 0, false
	for pass := 0; pass < 2 && !reached; pass++ {
		for word := range s.included {
			left := random.Uint64()
			if pass == 1 {
				left = ^s.included[word]
			}
			first := word * wordBits
			if rest := len(s.amounts) - first; rest < wordBits {
				left &= 1<<rest - 1
			}
			for ; left != 0; left &= left - 1 {
				bit := left & -left
				i := first + bits.TrailingZeros64(left)
				now += s.amounts[i]
				weight += int(s.weights[i])
				s.included[word] |= bit
				if now < s.total || weight > s.maxWeight {
					continue
				}
				reached = true
				if now < s.best {
					s.best = now
					s.found = append(s.found[:0], s.included...)
				}
				now -= s.amounts[i]
				weight -= int(s.weights[i])
				s.included[word] &^= bit
			}
		}
	}
}
