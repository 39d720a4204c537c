package p2mr

import (
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/store/blockfile"
)

// Where the chain keeps what it knows; store/schema.md has the rows.
var (
	indexBucket   = []byte("p2mr-index")
	journalBucket = []byte("spendjournal") // of which package chaindb makes undo files
)

// A change is what one request does to the chain. It becomes one transaction of the
// database, so that a kill finds all of it or nothing.
type change struct {
	block *block   // to be stored; nil: none
	undo  []undone // of blocks that were connected
	coins map[wire.OutPoint]*blockfile.Coin
	rows  map[*chainview.Block]struct{} // whose status is new
	tip   *chainview.Block              // nil: the tip stays

	fresh []*chainview.Block // blocks whose chain has become complete
}

// undone is the coins that a block spends.
type undone struct {
	of    chainhash.Hash
	coins []blockfile.Coin
}

func begin() *change { return &change{rows: map[*chainview.Block]struct{}{}} }

// touch has the row of a block written.
func (c *change) touch(b *chainview.Block) { c.rows[b] = struct{}{} }

// mark changes what is known of a block.
func (e *Engine) mark(c *change, b *chainview.Block, s chainview.Status) {
	if b.Status() != s {
		e.tree.SetStatus(b, s)
		c.touch(b)
	}
}

// commit writes a change and moves the readers' active chain.
func (e *Engine) commit(c *change) error {
	if c.block == nil && len(c.rows) == 0 && c.tip == nil {
		return nil
	}
	err := e.db.BTCD().Update(func(tx database.Tx) error {
		if c.block != nil {
			if err := storeBlock(tx, c.block); err != nil {
				return err
			}
		}
		journal := tx.Metadata().Bucket(journalBucket)
		for _, u := range c.undo {
			if err := journal.Put(u.of[:], journalEntry(u.coins)); err != nil {
				return err
			}
		}
		if err := putCoins(tx, c.coins); err != nil {
			return err
		}
		if err := putRows(tx, c.rows); err != nil {
			return err
		}
		if c.tip == nil {
			return nil
		}
		return tx.Metadata().Put(tipKey, c.tip.Hash[:])
	})
	if err != nil {
		return fmt.Errorf("commit change of the chain: %w", err)
	}
	if c.tip != nil {
		e.MoveLocksBack(e.tree.Active().Tip(), c.tip)
		e.tree.SetActive(c.tip)
	}
	return nil
}

// storeBlock stores a block as it came.
func storeBlock(tx database.Tx, b *block) error {
	return tx.StoreBlock(btcutil.NewBlockFromBlockAndBytes(b.message(), b.raw))
}

// journalEntry is btcd's form of undo data: from the last coin to the first.
func journalEntry(coins []blockfile.Coin) []byte {
	entry := []byte{}
	for _, coin := range slices.Backward(coins) {
		entry = blockfile.AppendCoin(entry, coin)
	}
	return entry
}
