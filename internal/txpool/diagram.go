package txpool

import (
	"fmt"
	"slices"
)

const noImprovement = "insufficient feerate: does not improve feerate diagram"

// improves tells why a package of a parent and a child does not make the pool
// pay more at every size than what it replaces did.
func improves(parent, child *Entry, replaced map[*Entry]struct{}) string {
	list := sorted(replaced)
	for _, e := range list {
		if problem := simple(e); problem != "" {
			return problem
		}
	}
	var before []FeeRate
	after := []FeeRate{{parent.Modified + child.Modified, parent.VSize + child.VSize}}
	for _, e := range list {
		if e.Descendants.Count == 1 {
			before = append(before, chunks(e)...)
		}
		for p := range e.parents {
			if _, leaves := replaced[p]; !leaves {
				after = append(after, p.rate())
			}
		}
	}
	if !above(after, before) {
		return noImprovement
	}
	return ""
}

// simple tells why the neighbours of an entry are too many to be compared: at
// most one depends on it or it on one, which has no others.
func simple(e *Entry) string {
	above, below := e.Ancestors.Count-1, e.Descendants.Count-1
	switch {
	case above > 1:
		return fmt.Sprintf("%v has %d ancestors, max 1 allowed", e.ID, above)
	case below > 1:
		return fmt.Sprintf("%v has %d descendants, max 1 allowed", e.ID, below)
	case above > 0 && below > 0:
		return fmt.Sprintf("%v has both ancestor and descendant, exceeding cluster limit of 2", e.ID)
	case below > 0:
		if child := sorted(e.children)[0]; child.Ancestors.Count > 2 {
			return fmt.Sprintf("%v is not the only parent of child %v", e.ID, child.ID)
		}
	case above > 0:
		if parent := sorted(e.parents)[0]; parent.Descendants.Count > 2 {
			return fmt.Sprintf("%v is not the only child of parent %v", e.ID, parent.ID)
		}
	}
	return ""
}

// chunks returns an entry with its parent, if it has one, as they are mined:
// together if the entry pays for its parent.
func chunks(e *Entry) []FeeRate {
	own := e.rate()
	if e.Ancestors.Count == 1 {
		return []FeeRate{own}
	}
	both := RateOf(e.Ancestors.Fees, e.Ancestors.VSize)
	if own.Compare(both) > 0 {
		return []FeeRate{both}
	}
	return []FeeRate{{both.fee - own.fee, both.size - own.size}, own}
}

// above reports whether the best fees for every size of the chunks a are at least
// those of b, and more for some.
func above(a, b []FeeRate) bool {
	best := func(x, y FeeRate) int { return y.Compare(x) }
	slices.SortFunc(a, best)
	slices.SortFunc(b, best)
	better := false
	for _, chunks := range [][]FeeRate{a, b} {
		size := int64(0)
		for _, c := range chunks {
			size += c.size
			order := compareAt(a, b, size)
			if order < 0 {
				return false
			}
			better = better || order > 0
		}
	}
	return better
}

// compareAt compares what two lists of chunks pay for their first bytes.
func compareAt(a, b []FeeRate, size int64) int {
	wholeA, partA := upTo(a, size)
	wholeB, partB := upTo(b, size)
	// whole + part.fee/part.size, by a common denominator
	diff := FeeRate{wholeA - wholeB, 1}
	switch {
	case partA.size == 0 && partB.size == 0:
		return diff.sign()
	case partA.size == 0:
		return FeeRate{diff.fee*partB.size - partB.fee, partB.size}.sign()
	case partB.size == 0:
		return FeeRate{diff.fee*partA.size + partA.fee, partA.size}.sign()
	}
	return FeeRate{diff.fee*partB.size - partB.fee, partB.size}.Compare(FeeRate{-partA.fee, partA.size})
}

// upTo returns the fees of whole chunks up to a size, and what the part of the
// next one adds, as a fraction.
func upTo(chunks []FeeRate, size int64) (whole int64, part FeeRate) {
	for _, c := range chunks {
		if size < c.size {
			return whole, FeeRate{c.fee * size, c.size}
		}
		whole, size = whole+c.fee, size-c.size
	}
	return whole, FeeRate{}
}
