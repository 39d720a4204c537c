package txs

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// stateIndex finds transactions by their state.
type stateIndex struct {
	byBlock map[chainhash.Hash][]*tx // confirmed or conflicted there
	pool    map[*tx]bool             // in the mempool
	waiting map[*tx]bool             // in neither, and not given up
}

func newStateIndex() stateIndex {
	return stateIndex{
		byBlock: make(map[chainhash.Hash][]*tx), pool: make(map[*tx]bool), waiting: make(map[*tx]bool),
	}
}

// add notes a transaction by its state.
func (x *stateIndex) add(t *tx) {
	switch t.state.kind {
	case confirmed, conflicted:
		x.byBlock[t.state.block.Hash] = append(x.byBlock[t.state.block.Hash], t)
	case inMempool:
		x.pool[t] = true
	case inactive, unrecognized:
		x.waiting[t] = true
	case abandoned:
	}
}

// remove forgets a transaction, whose state is about to change.
func (x *stateIndex) remove(t *tx) {
	delete(x.pool, t)
	delete(x.waiting, t)
	if !t.state.inBlock() {
		return
	}
	block := t.state.block.Hash
	left := slices.DeleteFunc(x.byBlock[block], func(other *tx) bool { return other == t })
	if len(left) == 0 {
		delete(x.byBlock, block)
		return
	}
	x.byBlock[block] = left
}
