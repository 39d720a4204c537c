package linear

import (
	"iter"
	"math/bits"
)

// MaxTxs is the number of transactions that a cluster may have.
const MaxTxs = 64

// A Set has transactions of a [Graph], by index.
type Set uint64

// Of returns the set of one transaction.
func Of(i int) Set { return 1 << i }

// upTo returns the set of the first n transactions.
func upTo(n int) Set {
	if n >= MaxTxs {
		return ^Set(0)
	}
	return 1<<n - 1
}

// Has reports whether a transaction is in the set.
func (s Set) Has(i int) bool { return s>>i&1 != 0 }

// Len returns the number of transactions.
func (s Set) Len() int { return bits.OnesCount64(uint64(s)) }

// first returns the least index; the set must not be empty.
func (s Set) first() int { return bits.TrailingZeros64(uint64(s)) }

// nth returns the index that n others are below of.
func (s Set) nth(n int) int {
	for range n {
		s &= s - 1
	}
	return s.first()
}

// All yields the indexes, the least first.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(s.first()) {
				return
			}
		}
	}
}
