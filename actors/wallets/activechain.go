package wallets

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// blockRef describes a block, of any branch, for the ledger.
func blockRef(b *chainview.Block) txs.BlockRef {
	return txs.BlockRef{Hash: b.Hash, Height: b.Height, Time: b.Time().Unix(), MaxTime: b.MaxTime()}
}

// firstSince returns the first block from a height on where the highest time so far is at
// least the given one.
func firstSince(active *chainview.Chain, from int32, time int64) (height int32, ok bool) {
	first := active.First(func(b *chainview.Block) bool { return b.MaxTime() >= time })
	first = max(first, from, 0)
	return first, first <= active.Height()
}

// activeChain is the active chain for a ledger that is opened.
type activeChain struct {
	reader chainview.Reader
	active *chainview.Chain
}

// Find implements txs.Chain.
func (c activeChain) Find(hash *chainhash.Hash) (txs.BlockRef, bool) {
	b := c.reader.Lookup(hash)
	if b == nil || !c.active.Contains(b) {
		return txs.BlockRef{}, false
	}
	return blockRef(b), true
}

// locatorOf returns the locator of a block; of none an empty one.
func locatorOf(b *chainview.Block) walletfile.Locator {
	if b == nil {
		return nil
	}
	return walletfile.NewLocator(b.Height, func(height int32) chainhash.Hash { return b.Ancestor(height).Hash })
}

// forkHeight returns the height of the last block of a locator that is in the
// active chain.
func (c activeChain) forkHeight(l walletfile.Locator) int32 {
	for i := range l {
		if b := c.reader.Lookup(&l[i]); b != nil && c.active.Contains(b) {
			return b.Height
		}
	}
	return 0
}
