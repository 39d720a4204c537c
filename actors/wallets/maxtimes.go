package wallets

import (
	"sort"
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// maxTimes knows the highest time of the chain up to each block, by which Core
// finds the block that a time belongs to. It is safe for concurrent use.
type maxTimes struct {
	mu    sync.Mutex
	chain *chainview.Chain // that highest is for
	upTo  []uint32         // by height, in seconds since 1970
}

// follow brings it up to a chain. The caller holds mu.
func (t *maxTimes) follow(chain *chainview.Chain) {
	if t.chain == chain {
		return
	}
	keep := int32(0)
	if t.chain != nil {
		keep = t.chain.Fork(chain.Tip()).Height + 1
	}
	t.chain, t.upTo = chain, t.upTo[:keep]
	for h := keep; h <= chain.Height(); h++ {
		at := uint32(chain.At(h).Time().Unix())
		if h > 0 {
			at = max(at, t.upTo[h-1])
		}
		t.upTo = append(t.upTo, at)
	}
}

// ref describes a block for the ledger. It may be on any branch.
func (t *maxTimes) ref(active *chainview.Chain, b *chainview.Block) txs.BlockRef {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.follow(active)
	var highest int64
	at := b
	for ; at != nil && !active.Contains(at); at = at.Parent {
		highest = max(highest, at.Time().Unix())
	}
	if at != nil {
		highest = max(highest, int64(t.upTo[at.Height]))
	}
	return txs.BlockRef{Hash: b.Hash, Height: b.Height, Time: b.Time().Unix(), MaxTime: highest}
}

// first returns the first block from a height on where the highest time so far
// is at least the given one.
func (t *maxTimes) first(active *chainview.Chain, from int32, time int64) (height int32, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.follow(active)
	rest := t.upTo[min(max(int(from), 0), len(t.upTo)):]
	n := sort.Search(len(rest), func(i int) bool { return int64(rest[i]) >= time })
	return from + int32(n), n < len(rest)
}

// activeChain is the active chain for a ledger that is opened.
type activeChain struct {
	reader chainview.Reader
	active *chainview.Chain
	times  *maxTimes
}

// Find implements txs.Chain.
func (c activeChain) Find(hash *chainhash.Hash) (txs.BlockRef, bool) {
	b := c.reader.Lookup(hash)
	if b == nil || !c.active.Contains(b) {
		return txs.BlockRef{}, false
	}
	return c.times.ref(c.active, b), true
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
