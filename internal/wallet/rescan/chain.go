package rescan

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// BlockRef describes a block, of any branch, for the ledger.
func BlockRef(b *chainview.Block) txs.BlockRef {
	return txs.BlockRef{Hash: b.Hash, Height: b.Height, Time: b.Time().Unix(), MaxTime: b.MaxTime()}
}

// FirstSince returns the first block from a height on where the highest time so far is at
// least the given one.
func FirstSince(active *chainview.Chain, from int32, time int64) (height int32, ok bool) {
	first := active.First(func(b *chainview.Block) bool { return b.MaxTime() >= time })
	first = max(first, from, 0)
	return first, first <= active.Height()
}

// ActiveChain is the active chain for a ledger that is opened.
type ActiveChain struct {
	Reader chainview.Reader
	Active *chainview.Chain
}

// Find implements txs.Chain.
func (c ActiveChain) Find(hash *chainhash.Hash) (txs.BlockRef, bool) {
	b := c.Reader.Lookup(hash)
	if b == nil || !c.Active.Contains(b) {
		return txs.BlockRef{}, false
	}
	return BlockRef(b), true
}

// LocatorOf returns the locator of a block; of none an empty one.
func LocatorOf(b *chainview.Block) walletfile.Locator {
	if b == nil {
		return nil
	}
	return walletfile.NewLocator(b.Height, func(height int32) chainhash.Hash { return b.Ancestor(height).Hash })
}

// ForkHeight returns the height of the last block of a locator that is in the
// active chain.
func (c ActiveChain) ForkHeight(l walletfile.Locator) int32 {
	for i := range l {
		if b := c.Reader.Lookup(&l[i]); b != nil && c.Active.Contains(b) {
			return b.Height
		}
	}
	return 0
}

// Height returns the height of a locator's first block, -1 where the active chain does not have it.
func (c ActiveChain) Height(l walletfile.Locator) int32 {
	if b := c.Reader.Lookup(&l[0]); b != nil && c.Active.Contains(b) {
		return b.Height
	}
	return -1
}

// TransactionsOf returns the ids of the transactions of the blocks above a height up to one, the
// highest block first.
func TransactionsOf(reader chainview.Reader, last *chainview.Block, height int32) ([][]chainhash.Hash, error) {
	var lists [][]chainhash.Hash
	for b := range last.Above(height) {
		msg, err := reader.Block(&b.Hash)
		if err != nil {
			return nil, err
		}
		ids := make([]chainhash.Hash, len(msg.Transactions))
		for i, tx := range msg.Transactions {
			ids[i] = tx.TxHash()
		}
		lists = append(lists, ids)
	}
	return lists, nil
}
