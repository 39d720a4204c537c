package txpool

import (
	"slices"

	"github.com/seed61375155/trawl/messages"
)

// An Order says by which relatives transactions are judged. They decide whether a transaction
// comes in, replaces others, leaves a full pool, and gets into a block.
type Order int

// Orders.
const (
	// ByAncestors limits ancestors and descendants. Blocks are made of transactions with their
	// ancestors, and those leave a full pool that pay the least with their descendants (Core 30.2).
	ByAncestors Order = iota

	// ByClusters limits clusters. Blocks are made of chunks of their linearizations, of which the
	// worst leave a full pool, and a replacement must improve the diagram of fees (Core 31.99).
	ByClusters
)

// relatives is an [Order] at work. The pool keeps it up to date.
type relatives interface {
	inserted(e *Entry)
	removed(e *Entry)
	changed(e *Entry)  // the totals of its descendants
	repriced(e *Entry) // its modified fee

	// returned is called after the transactions of blocks that left the chain are back. It takes
	// out those that are too many now.
	returned(back map[*Entry]struct{})

	// check applies the rules on the ancestors of a candidate. admit does the rest for a single
	// candidate before its scripts are executed: replacement, and the sender's own limit.
	check(v *verdict, c *candidate) *messages.TxReject
	admit(v *verdict, c *candidate) *messages.TxReject

	// admitPackage applies the limits and the rules about replacement to a package.
	admitPackage(v *verdict, list []*candidate, vsize, fees int64) *outcome

	// conflicts returns direct conflicts with all that depends on them, or why they are too many.
	conflicts(e *Entry, direct map[*Entry]struct{}) (map[*Entry]struct{}, string)

	// improves tells why a package does not make the pool pay more than what it replaces.
	improves(v *verdict, list []*candidate, replaced map[*Entry]struct{}) *outcome

	// worst returns what a full pool can best do without, with its rate; nil where there is nothing.
	worst() (map[*Entry]struct{}, FeeRate)

	choose(maxWeight, reserved int64, minRate FeeRate) []*Entry

	// usage estimates the memory that relations take, in bytes.
	usage() int64

	// compare orders entries, each after those that it depends on.
	compare(a, b *Entry) int
}

// Ordered returns all transactions, each after those that it depends on.
func (p *Pool) Ordered() []*Entry {
	list := p.list()
	Sort(p, list)
	return list
}

// Sort sorts some transactions of a pool as [Pool.Ordered] does.
func Sort(p *Pool, list []*Entry) { slices.SortFunc(list, p.relatives.compare) }

// Choose returns the transactions of the best block, those that pay most first. Each comes after
// its ancestors.
func (p *Pool) Choose(maxWeight, reserved int64, minRate FeeRate) []*Entry {
	return p.relatives.choose(maxWeight, reserved, minRate)
}

// withDescendants returns transactions with all that depends on them.
func withDescendants(of map[*Entry]struct{}) map[*Entry]struct{} {
	all := make(map[*Entry]struct{}, len(of))
	for e := range of {
		all[e] = struct{}{}
		for d := range e.descendants() {
			all[d] = struct{}{}
		}
	}
	return all
}

// checkApart keeps a candidate from spending from its own conflicts.
func checkApart(c *candidate, ancestors map[*Entry]struct{}) *messages.TxReject {
	for _, a := range sorted(ancestors) {
		if _, both := c.conflicts[a]; both {
			return spendsConflict(c.entry, a)
		}
	}
	return nil
}
