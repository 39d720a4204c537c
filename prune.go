package trawl

import (
	"context"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
)

// MinPruneTarget is the least that a node may be told to prune to: it holds the
// blocks that may have to be taken back (Core's MIN_DISK_SPACE_FOR_BLOCK_FILES).
const MinPruneTarget = 550 << 20

// PruneConfig says how a node deletes old blocks. Filters and the unspent outputs
// stay, and so do the last 288 blocks.
type PruneConfig struct {
	// Target is how many bytes blocks and undo data may take, MinPruneTarget or
	// more. 0: blocks are deleted by the method pruneblockchain only.
	Target int64
}

// filterLock is the name of the filter index among the prune locks, and in texts.
const filterLock = "basic block filter index"

// errUnpruned reports that a node which has deleted blocks is to keep all.
const errUnpruned = StartError("You need to rebuild the database using -reindex to go back to unpruned mode.  " +
	"This will redownload the entire blockchain.\nPlease restart with -reindex or -reindex-chainstate to recover.")

// beyondPruned reports that an index lacks blocks that were deleted.
func beyondPruned(index string) StartError {
	return StartError(index + " best block of the index goes beyond pruned data. " +
		"Please disable the index or reindex (which will download the whole blockchain again)\n" +
		"Error: A fatal internal error occurred, see debug.log for details: Failed to start indexes, shutting down…")
}

// enginePrune returns what the engine is told of pruning.
func (o *opener) enginePrune() *pruning.Config {
	if o.cfg.Prune == nil {
		return nil
	}
	after := o.net.PruneAfter
	if o.cfg.SmallFiles {
		after = o.net.SmallPruneAfter
	}
	return &pruning.Config{Target: o.cfg.Prune.Target, After: after}
}

// checkPruning refuses to go on without pruning where blocks are missing.
func (o *opener) checkPruning(db *chaindb.DB) error {
	if o.cfg.Prune == nil && db.HasPruned() {
		return errUnpruned
	}
	return nil
}

// lockPruning keeps the blocks that the filter index has yet to read.
func (n *Node) lockPruning(ctx context.Context) error {
	if n.cfg.Prune == nil {
		return nil
	}
	missing := lowest(n.view.Open().Active(), func(b *chainview.Block) bool { return !n.store.Has(&b.Hash) })
	return n.lockFrom(ctx, filterLock, missing)
}

// lockFrom keeps the blocks that an index has yet to read, from a height on. The error
// is a StartError where some of them are gone.
func (n *Node) lockFrom(ctx context.Context, index string, height int32) error {
	active := n.view.Open().Active()
	for b := active.At(height); b != nil; b = active.Next(b) {
		if b.Status()&chainview.Pruned != 0 {
			return beyondPruned(index)
		}
	}
	_, err := ask.Ask(ctx, n.chain, messages.SetPruneLock{Name: index, Height: max(height-1, 0)})
	if err != nil {
		return fmt.Errorf("trawl: prune lock: %w", err)
	}
	return nil
}

// lowest returns the first height at which a condition holds that holds for all
// heights above, one more than the last if for none.
func lowest(active *chainview.Chain, holds func(*chainview.Block) bool) int32 {
	low, high := int32(0), active.Height()+1
	for low < high {
		if mid := low + (high-low)/2; holds(active.At(mid)) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// fetch returns how those who need a pruned block get it again; nil where none are
// pruned. They started before the peers, and need not wait for these.
func (n *Node) fetch() chainview.Fetch {
	if n.cfg.Prune == nil {
		return nil
	}
	return func(ctx context.Context, hash *chainhash.Hash) (got chainview.Fetched, err error) {
		from := n.fetcher.Load()
		if from == nil {
			return got, messages.ErrNoSource
		}
		if got.Raw, err = ask.Ask(ctx, from, messages.FetchBlock{Hash: *hash}); err != nil {
			return got, err
		}
		got.Block, _, err = n.net.ReadBlock(got.Raw)
		return got, err
	}
}

// startPruning begins to delete blocks, when all who keep some have said so.
func (n *Node) startPruning(ctx context.Context) error {
	if n.cfg.Prune == nil {
		return nil
	}
	_, err := ask.Ask(ctx, n.chain, messages.StartPruning{})
	return n.why(err)
}
