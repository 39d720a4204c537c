package chainstate

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/engine/coincache"
	"github.com/seed61375155/trawl/store/chaindb"
)

// FailWrites has before asked before each write of an engine that was just opened;
// the write fails with its error.
func FailWrites(e *Engine, limit int64, before func() error) error {
	store, err := e.db.CoinStore()
	if err != nil {
		return err
	}
	e.disk = failing{e.db, before}
	e.coins.Close()
	e.coins = coincache.New(failingCoins{store, before}, limit)
	return nil
}

type failing struct {
	disk
	before func() error
}

func (f failing) Commit(c *chaindb.Change) error {
	if err := f.before(); err != nil {
		return err
	}
	return f.disk.Commit(c)
}

func (f failing) Sync() error {
	if err := f.before(); err != nil {
		return err
	}
	return f.disk.Sync()
}

type failingCoins struct {
	coincache.Store
	before func() error
}

func (f failingCoins) WriteCoins(
	tip *chainhash.Hash, size int, changes func(func(key, value []byte) error) error,
) error {
	if err := f.before(); err != nil {
		return err
	}
	return f.Store.WriteCoins(tip, size, changes)
}

// ScriptFlags returns the rules of scripts in a block.
func ScriptFlags(e *Engine, at *chainview.Block) script.Flags { return e.kind.Scripts.Flags(at) }

// Idle makes the last move of the tip as old as it has to be for the cache to rest.
func Idle(e *Engine) { e.moved = e.moved.Add(-restAfter) }

// CacheSize returns the memory of the cache.
func CacheSize(e *Engine) (bytes, pending int) {
	bytes, _ = e.coins.Size()
	return bytes, e.coins.Pending()
}
