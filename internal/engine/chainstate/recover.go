package chainstate

import (
	"bytes"
	"fmt"
	"log/slog"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
	"github.com/seed61375155/trawl/store/chaindb"
)

// recover takes the stored unspent outputs, which may be those of an earlier tip, to
// the tip. Scripts were executed before. Outputs of a block that is not known, or
// that cannot be taken back from, are [chaindb.ErrDamaged].
func (l loader) recover() error {
	stored, err := l.coinsTip(l.e.set)
	switch {
	case err != nil:
		return err
	case stored == nil: // of before they were collected in memory: they are at the tip
		return l.e.flush()
	case stored == l.e.tip:
		return nil
	}
	fork := forkchoice.Fork(stored, l.e.tip)
	corelog.Printf(
		l.e.log, slog.LevelInfo, "Replaying blocks: unspent outputs are at height %d, the chain is at %d",
		stored.Height,
		l.e.tip.Height,
	)
	for at := stored; at != fork; at = at.Parent {
		b, err := l.e.fetch(at)
		if err == nil {
			err = l.e.disconnect(at, b)
		}
		if err != nil {
			return fmt.Errorf(
				"%w: unspent outputs are at block %v, which cannot be taken back: %w", chaindb.ErrDamaged, stored.Hash,
				err,
			)
		}
		l.e.coins.Forget()
	}
	for fork != l.e.tip {
		fork = l.e.tip.Ancestor(fork.Height + 1)
		if err := l.apply(fork); err != nil {
			return fmt.Errorf("%w: block %v cannot be connected again: %w", chaindb.ErrDamaged, fork.Hash, err)
		}
		l.e.coins.Forget()
		if l.e.coins.Full() {
			if err := l.e.guard(l.e.coins.Flush(&fork.Hash, fork.Height)); err != nil {
				return err
			}
		}
	}
	return l.e.flush()
}

// coinsTip returns the block that the stored unspent outputs are at, nil where the
// database does not say it.
func (l loader) coinsTip(set chaindb.CoinSet) (*chainview.Block, error) {
	var row []byte
	_, coinsTipKey := set.Names()
	err := l.e.db.BTCD().View(func(tx database.Tx) error {
		row = bytes.Clone(tx.Metadata().Get([]byte(coinsTipKey)))
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case row == nil:
		return nil, nil
	case len(row) != chainhash.HashSize:
		return nil, ErrRow
	}
	hash := chainhash.Hash(row)
	if b := l.e.tree.Lookup(&hash); b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("%w: unspent outputs are at block %v, which is not known", chaindb.ErrDamaged, hash)
}

// apply connects a block that was connected before.
func (l loader) apply(at *chainview.Block) error {
	b, err := l.e.fetch(at)
	if err != nil {
		return err
	}
	c := &connecting{Engine: l.e, at: at, b: b}
	for i, tx := range b.List {
		if i > 0 {
			c.spend(tx)
		}
		c.create(tx, i)
	}
	return nil
}
