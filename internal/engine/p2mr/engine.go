// Package p2mr validates chains that pay to P2MR outputs: qbit's networks.
//
// It keeps the unspent outputs, the undo data and the block tree in the node's
// chain database, each change in one transaction, and executes the scripts of
// every block. What both kinds of chain share is btcd's: Merkle trees, targets,
// the count of signature operations, and scripts that are older than P2MR.
//
// An Engine has one user at a time, the chain actor's worker; what Reader
// returns is safe from anywhere.
package p2mr

import (
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/big"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/internal/engine/reading"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// Config is what an Engine is made of.
type Config struct {
	Network *dialect.Network // with P2MR set
	DB      *chaindb.DB      // closed with the engine
	Clock   *clock.Clock
	Prune   *pruning.Config // nil: blocks stay for ever; else DB must be prunable
	Log     *slog.Logger
}

// An Engine is an open chain.
type Engine struct {
	*pruning.Pruner

	net    *dialect.Network
	rules  *dialect.P2MR
	db     *chaindb.DB
	tree   *chainview.Tree
	clock  *clock.Clock
	log    *slog.Logger
	places map[*chainview.Block]*place
	taken  int64 // how many blocks were

	late []nodemsg.LateRefusal

	preferred int64    // place of the block that was preferred last
	preferAt  *big.Int // work of the tip then

	// waiting are stored blocks that lack one before them, by their parent.
	waiting map[*chainview.Block][]*chainview.Block
}

// Open opens the chain in cfg.DB, or starts one with the genesis block. It
// takes over the database: after an error it is closed.
func Open(cfg Config) (_ *Engine, err error) {
	opened := false
	defer func() {
		if !opened { // also after a panic
			err = errors.Join(err, cfg.DB.Close())
		}
	}()
	e := &Engine{
		net: cfg.Network, rules: cfg.Network.P2MR, db: cfg.DB, clock: cfg.Clock, log: cfg.Log,
		places: map[*chainview.Block]*place{}, waiting: map[*chainview.Block][]*chainview.Block{},
	}
	if err := e.load(); err != nil {
		return nil, err
	}
	if e.Pruner, err = pruning.New(pruning.Chain{DB: e.db, Tree: e.tree, Log: e.log, Now: e.clock.Now}, cfg.Prune); err != nil {
		return nil, err
	}
	opened = true
	return e, nil
}

// Reader returns the readers' side of the chain. It stays valid until Close.
func (e *Engine) Reader() chainview.Reader {
	return reading.Reader{Tree: e.tree, DB: e.db, Net: e.net}
}

// Totals implements engine.Validator: nothing is counted.
func (*Engine) Totals() engine.Totals { return engine.Totals{} }

// Coin returns an output of the active chain that is not spent. The error is
// [messages.ErrNoCoin] where there is none.
func (e *Engine) Coin(out wire.OutPoint) (messages.Coin, error) {
	coin, err := e.storedCoin(&out)
	if err != nil {
		return messages.Coin{}, err
	}
	if coin == nil {
		return messages.Coin{}, messages.ErrNoCoin
	}
	return messages.Coin{
		Output: wire.NewTxOut(coin.Amount, coin.Script), Height: coin.Height, Coinbase: coin.Coinbase,
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
func (e *Engine) Sync() error { return e.db.Sync() }

// Close closes the database.
func (e *Engine) Close() error {
	if err := errors.Join(e.db.Sync(), e.db.Close()); err != nil {
		return fmt.Errorf("close chain: %w", err)
	}
	return nil
}

func timeOf(seconds int64) time.Time { return time.Unix(seconds, 0) }
