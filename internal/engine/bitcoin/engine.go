// Package bitcoin validates Bitcoin's chains: it owns btcd's BlockChain over
// the node's own chain database, and keeps the block tree that everybody else
// reads.
//
// An Engine has one user at a time, the chain actor's worker; what Reader
// returns is safe from anywhere. Consensus rules are btcd's, with every block's
// scripts executed and no checkpoints. What btcd lacks is added here: block
// signatures of signets (BIP325), Core's reject reasons, mining on demand.
package bitcoin

import (
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/internal/engine/reading"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// sigCacheEntries is how many valid signatures are remembered. Blocks are
// validated once, so it pays only where a branch is connected again.
const sigCacheEntries = 10_000

// Config is what an Engine is made of.
type Config struct {
	Network *dialect.Network
	DB      *chaindb.DB // closed with the engine
	Cache   int64       // bytes for unspent outputs held in memory
	Clock   *clock.Clock
	Prune   *pruning.Config // nil: blocks stay for ever; else DB must be prunable
	Log     *slog.Logger
}

// An Engine is an open chain.
type Engine struct {
	*pruning.Pruner

	net    *dialect.Network
	db     *chaindb.DB
	group  *chaindb.Groups // the database as chain knows it
	chain  *blockchain.BlockChain
	tree   *chainview.Tree
	parked parked
	clock  timeSource
	log    *slog.Logger
}

// Open opens the chain in cfg.DB, or starts one with the genesis block. It
// takes over the database: after an error it is closed.
func Open(cfg Config) (*Engine, error) {
	e := &Engine{net: cfg.Network, db: cfg.DB, group: cfg.DB.Groups(), clock: timeSource{cfg.Clock}, log: cfg.Log}
	chain, err := blockchain.New(&blockchain.Config{
		DB:               e.group,
		UtxoCacheMaxSize: uint64(cfg.Cache),
		ChainParams:      cfg.Network.Params,
		TimeSource:       e.clock,
		SigCache:         txscript.NewSigCache(sigCacheEntries),
		HashCache:        txscript.NewHashCache(sigCacheEntries),
	})
	if err != nil {
		_ = cfg.DB.Close()
		return nil, fmt.Errorf("open chain: %w", err)
	}
	e.chain = chain
	if e.tree, err = loadTree(cfg.DB.BTCD(), cfg.Network.Params); err != nil {
		_ = cfg.DB.Close()
		return nil, fmt.Errorf("load block tree: %w", err)
	}
	// btcd knows nothing of pruning: it reads no block that is deeper than a
	// reorganisation goes, except for what it has not yet written to the unspent
	// outputs.
	flush := func() error { return e.chain.FlushUtxoCache(blockchain.FlushRequired) }
	e.Pruner, err = pruning.New(pruning.Chain{
		DB: cfg.DB, Tree: e.tree, Log: cfg.Log, Now: e.clock.AdjustedTime, Flush: flush,
	}, cfg.Prune)
	if err != nil {
		_ = cfg.DB.Close()
		return nil, fmt.Errorf("load pruned blocks: %w", err)
	}
	if err := e.followTip(); err != nil {
		_ = cfg.DB.Close()
		return nil, err
	}
	if err := e.loadParked(); err != nil {
		_ = cfg.DB.Close()
		return nil, fmt.Errorf("load parked blocks: %w", err)
	}
	return e, nil
}

// Reader returns the readers' side of the chain. It stays valid until Close.
func (e *Engine) Reader() chainview.Reader {
	return reading.Reader{Tree: e.tree, DB: e.db, Net: e.net}
}

// Coin returns an output of the active chain that is not spent. The error is
// [messages.ErrNoCoin] where there is none.
func (e *Engine) Coin(out wire.OutPoint) (messages.Coin, error) {
	entry, err := e.chain.FetchUtxoEntry(out)
	if err != nil {
		return messages.Coin{}, fmt.Errorf("unspent output %v: %w", out, err)
	}
	if entry == nil || entry.IsSpent() {
		return e.unparsableCoin(out)
	}
	return messages.Coin{
		Output: wire.NewTxOut(entry.Amount(), entry.PkScript()),
		Height: entry.BlockHeight(), Coinbase: entry.IsCoinBase(),
	}, nil
}

// SetMockTime makes the engine judge block times by t; the zero time returns
// to the real clock.
func (e *Engine) SetMockTime(t time.Time) { e.clock.Set(t) }

// Unread returns the blocks that lie in the database's files and are to be fed
// to Accept: after a rebuild, or over the files of another node. Call done when
// all were offered. blocks is nil when there are none.
func (e *Engine) Unread() (blocks iter.Seq2[blockfile.Record, error], done func() error) {
	if !e.db.Reloading() {
		return nil, nil
	}
	return e.db.Reload(), e.db.ReloadDone
}

// Sync makes everything that was accepted so far survive a loss of power.
func (e *Engine) Sync() error {
	if err := e.chain.FlushUtxoCache(blockchain.FlushPeriodic); err != nil {
		return fmt.Errorf("flush unspent outputs: %w", err)
	}
	return e.db.Sync()
}

// Close writes what is still in memory and closes the database.
func (e *Engine) Close() error {
	flushed := e.chain.FlushUtxoCache(blockchain.FlushRequired)
	synced := e.db.Sync()
	closed := e.db.Close()
	for _, err := range []error{flushed, synced, closed} {
		if err != nil {
			return fmt.Errorf("close chain: %w", err)
		}
	}
	return nil
}

// atomically makes everything that change does in the database one commit, so
// that a kill finds all of it or nothing. It commits also when change answers
// that a block is refused: what was learned of it is kept.
func (e *Engine) atomically(change func() error) error {
	if err := e.group.Start(); err != nil {
		return fmt.Errorf("begin change of the chain: %w", err)
	}
	defer e.group.Drop() // after a panic
	err := change()
	var rule blockchain.RuleError
	if err != nil && !errors.As(err, &rule) {
		return err
	}
	if failed := e.group.End(); failed != nil {
		return fmt.Errorf("commit change of the chain: %w", failed)
	}
	return err
}

// followTip makes the readers' active chain end where btcd's does.
func (e *Engine) followTip() error {
	best := e.chain.BestSnapshot()
	tip := e.tree.Lookup(&best.Hash)
	if tip == nil {
		return fmt.Errorf("tip %v is not in the block tree", best.Hash)
	}
	if from := e.tree.Active().Tip(); tip != from {
		e.MoveLocksBack(from, tip)
		e.tree.SetActive(tip)
	}
	return nil
}
