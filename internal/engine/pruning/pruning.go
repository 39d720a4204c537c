// Package pruning removes old blocks of a chain from the disk.
//
// Whole pairs of block and undo files go, the oldest first, as in Core
// (node/blockstorage.cpp, validation.cpp). The last 288 blocks stay, and those that
// a lock keeps. Reorganisations that would need a removed block are for the engine
// to refuse.
package pruning

import (
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
)

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

// A Config says how a chain is pruned.
type Config struct {
	// Target is how many bytes block and undo files may hold. 0: files are
	// removed by request only.
	Target int64

	// After is the height from which on files are removed.
	After int32
}

// A Store has the files that are removed: a [chaindb.DB].
type Store interface {
	Files() (files []chaindb.BlockFile, used int64)
	Used() int64
	Pruned(visit func(*chainhash.Hash)) error
	Prune(numbers []int) error
	Reloading() bool
}

// A Chain is what is pruned.
type Chain struct {
	DB   Store
	Tree *chainview.Tree
	Log  *slog.Logger
	Now  func() time.Time

	// Flush writes what blocks that are to be removed may be needed for; nil:
	// nothing is.
	Flush func() error
}

// A Pruner prunes one chain. It has one user at a time, the chain's engine.
type Pruner struct {
	chain  Chain
	config *Config // nil: blocks stay

	on    bool // set by StartPruning
	locks map[string]int32
}

// New returns a pruner, and marks the blocks that were removed before in the tree.
// Without a config nothing is removed.
func New(chain Chain, config *Config) (*Pruner, error) {
	p := &Pruner{chain: chain, config: config, locks: map[string]int32{}}
	return p, chain.DB.Pruned(func(hash *chainhash.Hash) {
		if b := chain.Tree.Lookup(hash); b != nil {
			chain.Tree.SetStatus(b, b.Status()|chainview.Pruned)
		}
	})
}

// SetPruneLock keeps all blocks from a height on, and some below it, until the
// lock of that name is set anew.
func (p *Pruner) SetPruneLock(name string, height int32) {
	p.locks[name] = height
}

// StartPruning begins to remove the oldest files automatically, if the config
// has a target. All locks are to be set before.
func (p *Pruner) StartPruning() error {
	p.on = true
	return p.Auto()
}

// Prune removes what lies below a height, included, as far as locks and the
// distance to the tip allow.
func (p *Pruner) Prune(height int32) error {
	if p.config == nil {
		return messages.ErrNotPruning
	}
	if height <= 0 || p.chain.DB.Reloading() {
		return p.Auto()
	}
	may, last := p.prunable(min(p.unlocked(), height))
	files, _ := p.chain.DB.Files()
	var chosen []int
	for _, f := range files {
		if p.mayGo(f, may) {
			chosen = append(chosen, f.Number)
		}
	}
	corelog.Printf(
		p.chain.Log, slog.LevelInfo, "Prune (Manual): prune_height=%d removed %d blk/rev pairs", last, len(chosen),
	)
	return p.removeFiles(chosen, files)
}

// Auto removes the oldest files while all together are over the target.
func (p *Pruner) Auto() error {
	if p.config == nil || p.config.Target == 0 || !p.on || p.chain.DB.Reloading() {
		return nil
	}
	tip := p.chain.Tree.Active().Tip()
	room := int64(pruneAhead)
	if tip.Height <= p.config.After || p.chain.DB.Used()+room < p.config.Target {
		return nil
	}
	files, used := p.chain.DB.Files()
	room += p.blocksToCome(tip) * syncingBlock
	may, last := p.prunable(p.unlocked())
	var chosen []int
	for _, f := range files {
		if used+room < p.config.Target {
			break
		}
		if p.mayGo(f, may) {
			chosen = append(chosen, f.Number)
			used -= f.Size
		}
	}
	corelog.Printf(p.chain.Log.With("category", "prune"), slog.LevelDebug,
		"target=%dMiB actual=%dMiB diff=%dMiB min_height=%d max_prune_height=%d removed %d blk/rev pairs",
		p.config.Target>>20, used>>20, (p.config.Target-used)>>20, 0, last, len(chosen))
	return p.removeFiles(chosen, files)
}

// unlocked returns up to which height the locks let blocks go.
func (p *Pruner) unlocked() int32 {
	last, limit := p.chain.Tree.Active().Height(), ""
	for _, name := range slices.Sorted(maps.Keys(p.locks)) {
		below := p.locks[name] - lockBuffer - 1
		last = max(1, min(last, below))
		if last == below {
			limit = name
		}
	}
	if limit != "" {
		corelog.Printf(
			p.chain.Log.With("category", "prune"), slog.LevelDebug, "%s limited pruning to height %d", limit, last,
		)
	}
	return last
}

// prunable returns which heights may be pruned if nothing above height may, and the last of these
// heights. Where the chain begins with a snapshot, the blocks before the snapshot are kept that are
// not validated yet, and the last validated blocks.
func (p *Pruner) prunable(height int32) (may func(height int32) bool, last int32) {
	below := func(tip int32) int32 { return min(height, max(0, tip-keepBlocks)) }
	last = below(p.chain.Tree.Active().Height())
	assumed := p.chain.Tree.Assumed()
	if assumed == nil {
		return func(h int32) bool { return h <= last }, last
	}
	validated, base := below(assumed.Validated.Height), assumed.Base.Height
	return func(h int32) bool { return h <= validated || h > base && h <= last }, last
}

// mayGo reports whether all blocks of a file may go.
func (p *Pruner) mayGo(f chaindb.BlockFile, may func(height int32) bool) bool {
	for i := range f.Blocks {
		if b := p.chain.Tree.Lookup(&f.Blocks[i]); b != nil && !may(b.Height) {
			return false
		}
	}
	return true
}

// blocksToCome returns how many blocks are known by their headers alone, while the
// chain is being downloaded.
func (p *Pruner) blocksToCome(tip *chainview.Block) (n int64) {
	if p.chain.Now().Sub(tip.Time()) < behindTip {
		return 0
	}
	for _, b := range p.chain.Tree.Tips() {
		if !b.Status().Invalid() && b.CompareWork(tip) > 0 {
			n = max(n, int64(b.Height-tip.Height))
		}
	}
	return n
}

// removeFiles removes files after everything that they may be needed for is written.
func (p *Pruner) removeFiles(numbers []int, files []chaindb.BlockFile) error {
	if len(numbers) == 0 {
		return nil
	}
	if p.chain.Flush != nil {
		if err := p.chain.Flush(); err != nil {
			return err
		}
	}
	// Readers learn of it first: what they find missing then is no damage.
	for _, f := range files {
		if slices.Contains(numbers, f.Number) {
			p.markPruned(f.Blocks)
		}
	}
	return p.chain.DB.Prune(numbers)
}

func (p *Pruner) markPruned(hashes []chainhash.Hash) {
	for i := range hashes {
		if b := p.chain.Tree.Lookup(&hashes[i]); b != nil {
			p.chain.Tree.SetStatus(b, b.Status()|chainview.Pruned)
		}
	}
}

// MoveLocksBack lets the chain leave blocks behind that locks keep.
func (p *Pruner) MoveLocksBack(from, to *chainview.Block) {
	fork := p.chain.Tree.Active().ForkHeight(to)
	for height := from.Height - 1; height >= fork; height-- {
		for _, name := range slices.Sorted(maps.Keys(p.locks)) {
			if p.locks[name] > height {
				p.locks[name] = height
				corelog.Printf(p.chain.Log.With(
					"category", "prune",
				), slog.LevelDebug, "%s prune lock moved back to %d", name, height)
			}
		}
	}
}
