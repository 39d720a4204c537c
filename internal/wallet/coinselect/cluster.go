package coinselect

import (
	"bytes"
	"cmp"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// An Unconfirmed is a transaction of the memory pool.
type Unconfirmed struct {
	ID      chainhash.Hash
	Size    int64
	Fee     int64 // as it counts for miners
	Parents []chainhash.Hash
}

// A Cluster is transactions of the memory pool with all that they are connected to.
type Cluster struct {
	txs map[chainhash.Hash]*Unconfirmed

	// Incomplete is set where there were too many transactions to look at: their
	// costs are not known.
	Incomplete bool
}

// NewCluster returns a cluster of transactions.
func NewCluster(txs []Unconfirmed) *Cluster {
	c := &Cluster{txs: make(map[chainhash.Hash]*Unconfirmed, len(txs))}
	for i := range txs {
		c.txs[txs[i].ID] = &txs[i]
	}
	return c
}

// ancestors returns a transaction with all that it depends on and that is not mined.
func (c *Cluster) ancestors(id chainhash.Hash, mined map[chainhash.Hash]bool, into map[chainhash.Hash]bool) {
	t := c.txs[id]
	if t == nil || mined[id] || into[id] {
		return
	}
	into[id] = true
	for _, parent := range t.Parents {
		c.ancestors(parent, mined, into)
	}
}

// Relatives returns how many transactions of the pool one has as ancestors, and the most
// descendants that any of those has; each counts itself.
func (c *Cluster) Relatives(id chainhash.Hash) (ancestors, descendants int) {
	above := make(map[chainhash.Hash]bool)
	c.ancestors(id, nil, above)
	below := make(map[chainhash.Hash]int)
	for other := range c.txs {
		all := make(map[chainhash.Hash]bool)
		c.ancestors(other, nil, all)
		for a := range all {
			below[a]++
		}
	}
	for a := range above {
		descendants = max(descendants, below[a])
	}
	return len(above), descendants
}

// Connected returns how many transactions of the pool one is connected with in any number of steps, itself included.
func (c *Cluster) Connected(id chainhash.Hash) int {
	near := make(map[chainhash.Hash][]chainhash.Hash)
	for other, t := range c.txs {
		near[other] = append(near[other], t.Parents...)
		for _, parent := range t.Parents {
			near[parent] = append(near[parent], other)
		}
	}
	found := make(map[chainhash.Hash]bool)
	for todo := []chainhash.Hash{id}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if c.txs[at] != nil && !found[at] {
			found[at] = true
			todo = append(todo, near[at]...)
		}
	}
	return len(found)
}

// mined returns the transactions that miners take at a fee rate: those that pay it, with
// their ancestors. Of equal fee rates the smaller size comes first, as in Core.
func (c *Cluster) mined(rate FeeRate) map[chainhash.Hash]bool {
	taken := make(map[chainhash.Hash]bool)
	for {
		var best map[chainhash.Hash]bool
		var bestID chainhash.Hash
		var bestFee, bestSize int64
		for id, t := range c.txs {
			if taken[id] {
				continue
			}
			all := make(map[chainhash.Hash]bool)
			c.ancestors(id, taken, all)
			fee, size := c.sum(all)
			if t.Fee*size < fee*t.Size { // a transaction pays for itself first
				fee, size = t.Fee, t.Size
			}
			better := cmp.Or(
				cmp.Compare(fee*bestSize, bestFee*size), cmp.Compare(bestSize, size), bytes.Compare(bestID[:], id[:]),
			)
			if best == nil || better > 0 {
				best, bestID, bestFee, bestSize = all, id, fee, size
			}
		}
		if fee, size := c.sum(best); best == nil || fee < rate.Fee(int(size)) {
			return taken
		}
		for id := range best {
			taken[id] = true
		}
	}
}

func (c *Cluster) sum(ids map[chainhash.Hash]bool) (fee, size int64) {
	for id := range ids {
		fee += c.txs[id].Fee
		size += c.txs[id].Size
	}
	return fee, size
}

// Bumps returns for each coin what must be paid so that its transaction and its ancestors
// together reach a fee rate. The transaction must also reach the rate by itself, since the
// ancestors may pay more. For coins of transactions that are not in the pool it is 0.
func (c *Cluster) Bumps(coins []wire.OutPoint, rate FeeRate) map[wire.OutPoint]int64 {
	bumps := make(map[wire.OutPoint]int64, len(coins))
	mined := c.mined(rate)
	for _, at := range coins {
		all := make(map[chainhash.Hash]bool)
		c.ancestors(at.Hash, mined, all)
		if len(all) == 0 {
			continue
		}
		t := c.txs[at.Hash]
		bumps[at] = max(c.missing(all, rate), rate.Fee(int(t.Size))-t.Fee)
	}
	return bumps
}

// Together returns what must be paid for the ancestors of some coins that are spent
// together: less than nothing where all of them pay more. It is false for an incomplete cluster.
func (c *Cluster) Together(coins []wire.OutPoint, rate FeeRate) (int64, bool) {
	if c.Incomplete {
		return 0, false
	}
	mined, all := c.mined(rate), make(map[chainhash.Hash]bool)
	for _, at := range coins {
		c.ancestors(at.Hash, mined, all)
	}
	return c.missing(all, rate), true
}

func (c *Cluster) missing(ids map[chainhash.Hash]bool, rate FeeRate) int64 {
	fee, size := c.sum(ids)
	return rate.Fee(int(size)) - fee
}
