package chainstate

import (
	"bytes"
	"fmt"
	"log/slog"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/store/chaindb"
)

// recover takes the stored unspent outputs, which may be those of an earlier tip, to
// the tip. Scripts were executed before. Outputs of a block that is not known, or
// that cannot be taken back from, are [chaindb.ErrDamaged].
func (e *Engine) recover() error {
	stored, err := e.coinsTip()
	if err != nil || stored == e.tip {
		return err
	}
	fork := chainview.Fork(stored, e.tip)
	corelog.Printf(
		e.log, slog.LevelInfo, "Replaying blocks: unspent outputs are at height %d, the chain is at %d", stored.Height,
		e.tip.Height,
	)
	for at := stored; at != fork; at = at.Parent {
		b, err := e.fetch(at)
		if err == nil {
			err = e.disconnect(at, b)
		}
		if err != nil {
			return fmt.Errorf(
				"%w: unspent outputs are at block %v, which cannot be taken back: %w", chaindb.ErrDamaged, stored.Hash,
				err,
			)
		}
		e.coins.Forget()
	}
	for fork != e.tip {
		fork = e.tip.Ancestor(fork.Height + 1)
		if err := e.apply(fork); err != nil {
			return fmt.Errorf("%w: block %v cannot be connected again: %w", chaindb.ErrDamaged, fork.Hash, err)
		}
		e.coins.Forget()
		if e.coins.Full() {
			if err := e.guard(e.coins.Flush(&fork.Hash, fork.Height)); err != nil {
				return err
			}
		}
	}
	return e.flush()
}

// coinsTip returns the block that the stored unspent outputs are at.
func (e *Engine) coinsTip() (*chainview.Block, error) {
	var row []byte
	err := e.db.BTCD().View(func(tx database.Tx) error {
		row = bytes.Clone(tx.Metadata().Get([]byte(coinsTipKey)))
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case row == nil:
		return e.tip, nil // of before they were collected in memory
	case len(row) != chainhash.HashSize:
		return nil, ErrRow
	}
	hash := chainhash.Hash(row)
	if b := e.tree.Lookup(&hash); b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("%w: unspent outputs are at block %v, which is not known", chaindb.ErrDamaged, hash)
}

// apply connects a block that was connected before.
func (e *Engine) apply(at *chainview.Block) error {
	b, err := e.fetch(at)
	if err != nil {
		return err
	}
	c := &connecting{Engine: e, at: at, b: b}
	for i, tx := range b.List {
		if i > 0 {
			c.spend(tx)
		}
		c.create(tx, i)
	}
	return nil
}
