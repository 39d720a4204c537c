package bitcoin

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
)

// Pruning removes whole pairs of block and undo files, the oldest first, as Core
// does (node/blockstorage.cpp, validation.cpp). btcd knows nothing of it: it reads
// no block that is deeper than a reorganisation goes, except for what it has not
// yet written to the unspent outputs, so these are written first. Reorganisations
// that would need a removed block are refused before btcd sees them.

const (
	// keepBlocks is how many blocks below the tip are never removed.
	keepBlocks = 288

	// lockBuffer is how far below a prune lock blocks are kept.
	lockBuffer = 10

	// pruneAhead is the room that is made beyond what is over the target, so that
	// the next files find it: Core's allocation steps.
	pruneAhead = 16<<20 + 1<<20

	// syncingBlock is the size that a block to come is taken to have.
	syncingBlock = 1_000_000

	// behindTip is how old a tip is while the chain is being downloaded.
	behindTip = 24 * time.Hour
)

// PruneConfig says how an Engine prunes.
type PruneConfig struct {
	// Target is how many bytes block and undo files may hold. 0: files are
	// removed by request only.
	Target int64

	// After is the height from which on files are removed.
	After int32
}

// pruner is the state of pruning.
type pruner struct {
	*PruneConfig

	on    bool // set by StartPruning
	locks map[string]int32
}

// SetPruneLock keeps all blocks from a height on, and some below it, until the
// lock of that name is set anew.
func (e *Engine) SetPruneLock(name string, height int32) {
	if e.pruner.locks == nil {
		e.pruner.locks = map[string]int32{}
	}
	e.pruner.locks[name] = height
}

// StartPruning begins to prune, where the engine is made for that. All locks are
// to be set before.
func (e *Engine) StartPruning() error {
	e.pruner.on = true
	return e.autoPrune()
}

// Prune removes what lies below a height, included, as far as locks and the
// distance to the tip allow.
func (e *Engine) Prune(height int32) error {
	if e.pruner.PruneConfig == nil {
		return messages.ErrNotPruning
	}
	if height <= 0 || e.db.Reloading() {
		return e.autoPrune()
	}
	last := e.lastPrunable(min(e.unlocked(), height))
	files, _ := e.db.Files()
	var chosen []int
	for _, f := range files {
		if e.lastHeight(f) <= last {
			chosen = append(chosen, f.Number)
		}
	}
	corelog.Printf(e.log, slog.LevelInfo, "Prune (Manual): prune_height=%d removed %d blk/rev pairs", last, len(chosen))
	return e.removeFiles(chosen, files)
}

// autoPrune removes the oldest files while all together are over the target.
func (e *Engine) autoPrune() error {
	p := &e.pruner
	if p.PruneConfig == nil || p.Target == 0 || !p.on || e.db.Reloading() {
		return nil
	}
	tip := e.tree.Active().Tip()
	room := int64(pruneAhead)
	if tip.Height <= p.After || e.db.Used()+room < p.Target {
		return nil
	}
	files, used := e.db.Files()
	room += e.blocksToCome(tip) * syncingBlock
	last := e.lastPrunable(e.unlocked())
	var chosen []int
	for _, f := range files {
		if used+room < p.Target {
			break
		}
		if e.lastHeight(f) <= last {
			chosen = append(chosen, f.Number)
			used -= f.Size
		}
	}
	corelog.Printf(e.log.With("category", "prune"), slog.LevelDebug,
		"target=%dMiB actual=%dMiB diff=%dMiB min_height=%d max_prune_height=%d removed %d blk/rev pairs",
		p.Target>>20, used>>20, (p.Target-used)>>20, 0, last, len(chosen))
	return e.removeFiles(chosen, files)
}

// unlocked returns up to which height the locks let blocks go.
func (e *Engine) unlocked() int32 {
	last, limit := e.tree.Active().Height(), ""
	for _, name := range slices.Sorted(maps.Keys(e.pruner.locks)) {
		below := e.pruner.locks[name] - lockBuffer - 1
		last = max(1, min(last, below))
		if last == below {
			limit = name
		}
	}
	if limit != "" {
		corelog.Printf(e.log.With("category", "prune"), slog.LevelDebug, "%s limited pruning to height %d", limit, last)
	}
	return last
}

// lastPrunable returns the last height that may go, if nothing above height may.
func (e *Engine) lastPrunable(height int32) int32 {
	return min(height, max(0, e.tree.Active().Height()-keepBlocks))
}

// lastHeight returns the greatest height of a block in a file.
func (e *Engine) lastHeight(f chaindb.BlockFile) (last int32) {
	for i := range f.Blocks {
		if b := e.tree.Lookup(&f.Blocks[i]); b != nil {
			last = max(last, b.Height)
		}
	}
	return last
}

// blocksToCome returns how many blocks are known by their headers alone, while the
// chain is being downloaded.
func (e *Engine) blocksToCome(tip *chainview.Block) (n int64) {
	if e.clock.AdjustedTime().Sub(tip.Header.Timestamp) < behindTip {
		return 0
	}
	for _, b := range e.tree.Tips() {
		if !b.Status().Invalid() && b.Work.Cmp(tip.Work) > 0 {
			n = max(n, int64(b.Height-tip.Height))
		}
	}
	return n
}

// removeFiles removes files after everything that btcd would need them for is
// written.
func (e *Engine) removeFiles(numbers []int, files []chaindb.BlockFile) error {
	if len(numbers) == 0 {
		return nil
	}
	if err := e.chain.FlushUtxoCache(blockchain.FlushRequired); err != nil {
		return fmt.Errorf("flush unspent outputs: %w", err)
	}
	// Readers learn of it first: what they find missing then is no damage.
	for _, f := range files {
		if slices.Contains(numbers, f.Number) {
			e.markPruned(f.Blocks)
		}
	}
	return e.db.Prune(numbers)
}

func (e *Engine) markPruned(hashes []chainhash.Hash) {
	for i := range hashes {
		if b := e.tree.Lookup(&hashes[i]); b != nil {
			e.tree.SetStatus(b, b.Status()|chainview.Pruned)
		}
	}
}

// loadPruned marks, on opening, the blocks that were removed.
func (e *Engine) loadPruned() error {
	return e.db.Pruned(func(hash *chainhash.Hash) {
		if b := e.tree.Lookup(hash); b != nil {
			e.tree.SetStatus(b, b.Status()|chainview.Pruned)
		}
	})
}

// setStatus takes over what btcd knows of a block, which does not include that it
// was pruned.
func (e *Engine) setStatus(b *chainview.Block, status chainview.Status) {
	e.tree.SetStatus(b, status|b.Status()&chainview.Pruned)
}

// wholeBranch reports whether all blocks of b's branch, down to the active chain,
// can be read.
func (e *Engine) wholeBranch(b *chainview.Block) bool {
	active := e.tree.Active()
	for at := b; !active.Contains(at); at = at.Parent {
		if at.Status()&chainview.Pruned != 0 {
			return false
		}
	}
	return true
}

// wholeAbove reports whether all blocks of the active chain from b on can be read.
func (e *Engine) wholeAbove(b *chainview.Block) bool {
	active := e.tree.Active()
	for at := active.At(active.Fork(b).Height); at != nil; at = active.Next(at) {
		if at.Status()&chainview.Pruned != 0 {
			return false
		}
	}
	return true
}

// moveLocksBack lets the chain leave blocks behind that locks keep.
func (e *Engine) moveLocksBack(from, to *chainview.Block) {
	fork := e.tree.Active().Fork(to)
	for height := from.Height - 1; height >= fork.Height; height-- {
		for _, name := range slices.Sorted(maps.Keys(e.pruner.locks)) {
			if e.pruner.locks[name] > height {
				e.pruner.locks[name] = height
				corelog.Printf(e.log.With("category", "prune"), slog.LevelDebug, "%s prune lock moved back to %d", name, height)
			}
		}
	}
}
