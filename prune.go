package trawl

import (
	"context"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/blockindex"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/part"
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

// beyondPruned reports that an index lacks blocks that were deleted.
func beyondPruned(index string) StartError {
	return StartError(index + " best block of the index goes beyond pruned data. " +
		"Please disable the index or reindex (which will download the whole blockchain again)\n" +
		"Error: A fatal internal error occurred, see debug.log for details: Failed to start indexes, shutting down…")
}

// pruning returns what the engine is told of pruning; nil: it keeps all blocks.
func (c *Config) pruning(net *dialect.Network) *pruning.Config {
	if c.Prune == nil {
		return nil
	}
	after := net.PruneAfter
	if c.SmallFiles {
		after = net.SmallPruneAfter
	}
	return &pruning.Config{Target: c.Prune.Target, After: after}
}

// keeper is the actor that has to know which blocks an index has yet to read; absent
// where none are deleted.
func (n *Node) keeper(u *part.Uses) *Ref {
	if keeper := u.Ref(chainPart); n.cfg.Prune != nil {
		return keeper
	}
	return ask.Absent(pruningPart)
}

// lockFilters keeps the blocks that the filter index has yet to read. has reports
// whether it has the filter of a block.
func (n *Node) lockFilters(ctx context.Context, keeper *Ref, has func(*chainhash.Hash) bool) error {
	if keeper.IsAbsent() {
		return nil
	}
	missing := lowest(n.view.Open().Active(), func(b *chainview.Block) bool { return !has(&b.Hash) })
	return n.lockFrom(ctx, keeper, filterLock, missing)
}

// lockIndex keeps the blocks that an index has yet to read.
func (n *Node) lockIndex(ctx context.Context, keeper *Ref, name string, x blockindex.Index) error {
	if keeper.IsAbsent() {
		return nil
	}
	reader := n.view.Open()
	known := func(hash *chainhash.Hash) bool { return reader.Lookup(hash) != nil }
	if hash, _, ok := x.Best(); ok && !known(&hash) {
		// The power failed, and the chain knows less than the index.
		if err := x.Rewind(known); err != nil {
			return fmt.Errorf("trawl: %s: %w", name, err)
		}
	}
	from := int32(0)
	if hash, _, ok := x.Best(); ok {
		if b := reader.Lookup(&hash); b != nil {
			from = reader.Active().Fork(b).Height
		}
	}
	return n.lockFrom(ctx, keeper, name, from+1)
}

// lockFrom keeps the blocks that an index has yet to read, from a height on. The error
// is a StartError where some of them are gone.
func (n *Node) lockFrom(ctx context.Context, keeper *Ref, index string, height int32) error {
	active := n.view.Open().Active()
	for b := active.At(height); b != nil; b = active.Next(b) {
		if b.Status()&chainview.Pruned != 0 {
			return beyondPruned(index)
		}
	}
	_, err := ask.Ask(ctx, keeper, nodemsg.SetPruneLock{Name: index, Height: max(height-1, 0)})
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
