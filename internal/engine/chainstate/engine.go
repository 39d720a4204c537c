// Package chainstate validates chains: it connects blocks to the unspent outputs and
// takes them back, keeps the block tree that everybody else reads, and writes both to
// the node's own chain database.
//
// Verdicts, their order and their words are Bitcoin Core's. The differences
// between kinds of chain are in a [Kind], the differences between networks in
// their values. Package consensus has the rules of transactions, consensus/script
// the rules of scripts. Package forkchoice chooses the active chain.
//
// # Durability
//
// All changes of a request are one commit of the database: blocks, undo data, the
// status of blocks, the tip. Only a move of the tip over very many blocks takes
// several, each of which ends at a tip. Unspent outputs are collected in memory and
// written now and then, up to a block that is durable by then; opening connects what
// lacks. After a write that fails nothing is written any more: the next Open begins
// at the last commit.
//
// An Engine has one user at a time, the chain actor's worker; what Reader returns is
// safe from anywhere.
package chainstate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/big"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/coincache"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
	"github.com/seed61375155/trawl/store/coinfile"
)

// Config is what an Engine is made of.
type Config struct {
	Network *dialect.Network
	DB      *chaindb.DB // closed with the engine
	Cache   int64       // bytes for unspent outputs held in memory
	NoIdle  bool        // unspent outputs are written as the tip moves and at the end, and not at rest
	Clock   *clock.Clock
	Prune   *pruning.Config // nil: blocks stay for ever; else DB must be prunable
	Strip   *StripConfig    // nil: blocks stay whole; else DB must strip
	// StartOver has the chain state rebuilt from the blocks where they lie, until the context ends; nil: it is
	// taken as it is. The error is [ErrSnapshot] where the chain begins with a snapshot.
	StartOver context.Context //nolint:containedctx // of opening alone

	FS   vfs.FS        // with files of unspent outputs; nil: the operating system's
	Mark coinfile.Mark // of the snapshot that the chain begins with
	Log  *slog.Logger
}

// An Engine is an open chain.
type Engine struct {
	*pruning.Pruner
	inspector
	trail
	assuming
	recovery

	checks
	minWork *big.Int // of a chain whose assumed-valid block is believed
	db      *chaindb.DB
	disk    disk // db, but in tests of failing writes
	tree    *chainview.Tree
	recent  *Recent
	choice  *forkchoice.Choice
	clock   *clock.Clock
	log     *slog.Logger

	coins   *coincache.Cache
	tip     *chainview.Block // that coins are at: the active chain's but while it moves
	txs     txCount
	steps   steps // from the last commit to tip
	pending pending
	strips  *stripper
	odd     oddOutputs
	late    lateRefusals

	set     chaindb.CoinSet    // that coins are of
	behind  *background        // validates what comes before the snapshot; nil: all is validated
	began   *chainhash.Hash    // block of the snapshot that the chain begins with, or did when it was opened
	erasing *chaindb.CoinStore // a set that is not used any more; nil: none
	loading bool               // a file is being read into the other set
	hidden  bool               // the tip is not that of the active chain

	noIdle  bool      // as in Config
	flushed time.Time // when the unspent outputs were written last
	moved   time.Time // when the tip moved last
	scripts string    // why those of the last block were executed; empty: they were not
	broken  error     // of a write that failed: nothing in memory may be written
	halfway           // above 0 at rest: after a panic
}

// disk is where commits go.
type disk interface {
	Commit(change *chaindb.Change) error
	Sync() error
}

// Open opens the chain of a kind in cfg.DB, or starts one with the genesis block. It
// takes over the database: after an error it is closed. A chain whose unspent
// outputs cannot be trusted is [chaindb.ErrDamaged].
func Open(cfg Config, kind Kind) (_ *Engine, err error) {
	if cfg.FS == nil {
		cfg.FS = vfs.OS
	}
	opened := false
	defer func() {
		if !opened { // also after a panic
			err = errors.Join(err, cfg.DB.Close())
		}
	}()
	e := newEngine(&cfg, kind)
	if err := (loader{e}).load(cfg); err != nil {
		return nil, fmt.Errorf("open chain: %w", err)
	}
	if e.net.AssumeValid == (chainhash.Hash{}) {
		corelog.Printf(e.log, slog.LevelInfo, "Validating signatures for all blocks.")
	} else {
		corelog.Printf(
			e.log, slog.LevelInfo, "Assuming ancestors of block %v have valid signatures.", e.net.AssumeValid,
		)
	}
	opened = true
	return e, nil
}

// newEngine returns an engine that has read nothing.
func newEngine(cfg *Config, kind Kind) *Engine {
	e := &Engine{
		checks: checks{net: cfg.Network, kind: kind, rules: &cfg.Network.Rules},
		db:     cfg.DB, disk: cfg.DB, clock: cfg.Clock, log: cfg.Log,
		txs: txCount{counts: kind.Counts}, flushed: time.Now(), moved: time.Now(),
		scripts: noBlockYet, recent: new(Recent), noIdle: cfg.NoIdle,
	}
	e.inspector, e.assuming = inspector{e}, assuming{e, cfg.FS, cfg.Mark}
	e.recovery = recovery{engine: e, copies: cfg.DB.Copies()}
	e.minWork, _ = new(big.Int).SetString("0"+cfg.Network.MinimumChainWork, 16)
	return e
}

// Reader returns the readers' side of the chain. It stays valid until Close.
func (e *Engine) Reader() chainview.Reader {
	return Reader{Tree: e.tree, DB: e.db, Net: e.net, Recent: e.recent}
}

// Totals implements engine.Validator. Chains that do not count have none.
func (e *Engine) Totals() engine.Totals {
	if !e.kind.Counts {
		return engine.Totals{}
	}
	size, coins := e.coins.Size()
	return engine.Totals{Txs: e.txs.n, CachedBytes: int64(size), CachedCoins: coins}
}

// Coin returns an output of the active chain that is not spent. The error is
// [messages.ErrNoCoin] where there is none.
func (e *Engine) Coin(out wire.OutPoint) (messages.Coin, error) {
	coin, err := e.coin(&out, e.tip)
	if err != nil {
		return messages.Coin{}, fmt.Errorf("unspent output %v: %w", out, err)
	}
	if coin == nil {
		return messages.Coin{}, messages.ErrNoCoin
	}
	return messages.Coin{Output: wire.NewTxOut(coin.Value, coin.Script), Height: coin.Height, Coinbase: coin.Coinbase},
		nil
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

// flushEvery is how often unspent outputs are written although there is room for
// more: what was not is connected again after a kill.
const flushEvery = 10 * time.Minute

// restAfter is how long after the last move of the tip the memory of unspent outputs
// is given back.
const restAfter = 3 * time.Minute

// Sync makes everything that was accepted so far survive a loss of power. When the tip
// has not moved for some minutes it gives memory back.
func (e *Engine) Sync() error {
	if e.broken != nil {
		return e.broken
	}
	if !e.noIdle && time.Since(e.moved) > restAfter {
		if err := Rest(e); err != nil {
			return err
		}
	}
	if !e.noIdle && time.Since(e.flushed) > flushEvery {
		if err := e.flush(); err != nil {
			return err
		}
	}
	return e.guard(e.disk.Sync())
}

// Rest has an engine write its unspent outputs and give back what memory they take, but
// for the newest.
func Rest(e *Engine) error {
	if e.broken != nil {
		return e.broken
	}
	e.flushed = time.Now()
	if err := e.guard(e.coins.Rest(&e.tip.Hash, e.tip.Height)); err != nil {
		return err
	}
	return e.behind.flushCoins()
}

// flush writes the unspent outputs, which are at a tip that is committed.
func (e *Engine) flush() error {
	if e.broken != nil {
		return e.broken
	}
	e.flushed = time.Now()
	if err := e.guard(e.coins.Flush(&e.tip.Hash, e.tip.Height)); err != nil {
		return err
	}
	return e.behind.flushCoins()
}

// guard takes notice of a failed write.
func (e *Engine) guard(err error) error {
	if err != nil && e.broken == nil {
		e.broken = fmt.Errorf("write chain: %w", err)
	}
	return err
}

// halfway counts pieces of work that have not returned.
type halfway int

// whole runs work that changes the unspent outputs step by step. After a panic it stays counted.
func (h *halfway) whole(work func() error) error {
	*h++
	err := work()
	*h--
	return err
}

// unsettled reports whether the unspent outputs in memory must not be written: a panic or an error has left them
// between two blocks, or at a block that is not committed. The next start connects the blocks since the last write
// again.
func unsettled(e *Engine) bool { return e.halfway > 0 || len(e.steps) > 0 }

// Close writes what is still in memory and closes the database.
func (e *Engine) Close() error {
	var flushed, synced error
	if e.broken == nil && !unsettled(e) {
		flushed = e.flush()
	}
	if e.broken == nil {
		synced = e.disk.Sync()
	}
	e.coins.Close()
	e.recent.Close()
	e.behind.close()
	if err := errors.Join(flushed, synced, e.db.Close()); err != nil {
		return fmt.Errorf("close chain: %w", err)
	}
	return nil
}
