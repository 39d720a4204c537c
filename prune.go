package trawl

import (
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/internal/part"
)

// MinPruneTarget is the least that a node may prune to: it holds the blocks that may have to be taken back, as in Core.
const MinPruneTarget = 550 << 20

// PruneConfig says how a node deletes old blocks. Filters, unspent outputs and the last 288 blocks stay.
type PruneConfig struct {
	// Target is how many bytes blocks and undo data may take, MinPruneTarget or more. 0: as pruneblockchain says only.
	Target int64
}

// pruning returns what the engine is told of pruning; nil: it keeps all blocks.
func (n parts) pruning() *pruning.Config {
	if n.cfg.Prune == nil {
		return nil
	}
	return &pruning.Config{Target: n.cfg.Prune.Target, After: n.net.PruneFrom(n.knobs.SmallFiles)}
}

// pruneLocks is the actor that has to know which blocks an index has yet to read; absent where none are deleted.
func (n parts) pruneLocks(u *part.Uses) *Ref {
	if locks := u.Ref(chainPart); n.cfg.Prune != nil {
		return locks
	}
	return ask.Absent(pruningPart)
}
