package trawl

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/internal/follow"
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

// pruneLocks is the actor that has to know which blocks an index has yet to read; absent
// where none are deleted.
func (n parts) pruneLocks(u *part.Uses) *Ref {
	if locks := u.Ref(chainPart); n.cfg.Prune != nil {
		return locks
	}
	return ask.Absent(pruningPart)
}

// hold keeps the blocks that an index has yet to read, from a height on. The error is a
// StartError where some of them are gone.
func (n parts) hold(ctx context.Context, locks *Ref, index string, from int32) error {
	err := follow.Hold(ctx, locks, n.view.Open(), index, from)
	switch {
	case errors.Is(err, chainview.ErrPruned):
		return beyondPruned(index)
	case err != nil:
		return fmt.Errorf("trawl: %w", err)
	}
	return nil
}

// holdTarget keeps the blocks that a target has yet to read.
func (n parts) holdTarget(ctx context.Context, locks *Ref, index string, target follow.Target) error {
	if locks.IsAbsent() {
		return nil
	}
	from, err := follow.Next(n.view.Open(), target)
	if err != nil {
		return fmt.Errorf("trawl: %s: %w", index, err)
	}
	return n.hold(ctx, locks, index, from)
}
