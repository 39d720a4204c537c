package txpool

import (
	"fmt"
	"slices"

	"github.com/seed61375155/trawl/messages"
)

// carveOutVSize is the size of a transaction that may be one more than the
// limits allow, if it depends on one other alone (the CPFP carve-out).
const carveOutVSize = 10_000

// checkChain finds what a candidate depends on, within the limits.
func (v *verdict) checkChain(c *candidate) *messages.TxReject {
	e, limits := c.entry, v.policy.Limits
	if len(c.conflicts) == 1 && v.carveOut {
		for conflict := range c.conflicts {
			limits.Descendants++
			limits.DescendantVSize += conflict.Descendants.VSize
		}
	}
	parents, problem := v.parentsOf(e, limits)
	if problem == "" {
		c.ancestors, problem = withinLimits(parents, e.VSize, 1, limits)
	}
	if problem == "" {
		return nil
	}
	if v.carveOut && e.VSize <= carveOutVSize && e.Tx.Version != trucVersion {
		limits.Ancestors = 2
		limits.Descendants++
		limits.DescendantVSize += carveOutVSize
		parents, again := v.parentsOf(e, limits)
		if again == "" {
			c.ancestors, again = withinLimits(parents, e.VSize, 1, limits)
		}
		if again == "" {
			return nil
		}
	}
	return refuse(messages.TxPolicy, "too-long-mempool-chain", problem)
}

// parentsOf returns the transactions of the pool that an entry spends from.
func (v *verdict) parentsOf(e *Entry, limits Limits) (map[*Entry]struct{}, string) {
	parents := make(map[*Entry]struct{})
	for _, in := range e.Tx.TxIn {
		if parent := v.byID[in.PreviousOutPoint.Hash]; parent != nil {
			parents[parent] = struct{}{}
			if len(parents)+1 > limits.Ancestors {
				return nil, fmt.Sprintf("too many unconfirmed parents [limit: %d]", limits.Ancestors)
			}
		}
	}
	return parents, ""
}

// withinLimits returns the ancestors of count transactions of a size that spend from
// some parents, or why they are too many. As in Core, the known ancestor with the
// least id is looked at next: this decides which limit is named.
func withinLimits(parents map[*Entry]struct{}, vsize int64, count int, limits Limits) (map[*Entry]struct{}, string) {
	found := make(map[*Entry]struct{})
	staged := sorted(parents)
	known := make(map[*Entry]struct{}, len(parents))
	for _, e := range staged {
		known[e] = struct{}{}
	}
	total := vsize
	for len(staged) > 0 {
		e := staged[0]
		staged = staged[1:]
		found[e] = struct{}{}
		total += e.VSize
		switch {
		case e.Descendants.VSize+vsize > limits.DescendantVSize:
			return nil, fmt.Sprintf("exceeds descendant size limit for tx %v [limit: %d]", e.ID, limits.DescendantVSize)
		case e.Descendants.Count+count > limits.Descendants:
			return nil, fmt.Sprintf("too many descendants for tx %v [limit: %d]", e.ID, limits.Descendants)
		case total > limits.AncestorVSize:
			return nil, fmt.Sprintf("exceeds ancestor size limit [limit: %d]", limits.AncestorVSize)
		}
		for _, parent := range sorted(e.parents) {
			if _, seen := known[parent]; !seen {
				known[parent] = struct{}{}
				place, _ := slices.BinarySearchFunc(staged, parent, byID)
				staged = slices.Insert(staged, place, parent)
			}
			if len(known)+count > limits.Ancestors {
				return nil, fmt.Sprintf("too many unconfirmed ancestors [limit: %d]", limits.Ancestors)
			}
		}
	}
	return found, ""
}
