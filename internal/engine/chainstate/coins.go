package chainstate

import (
	"bytes"
	"context"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// Coins returns the set of unspent outputs at the tip.
func (e *Engine) Coins() (messages.CoinSet, error) {
	if err := e.flush(); err != nil {
		return nil, err
	}
	coins, err := e.db.Coins()
	if err != nil {
		return nil, err
	}
	tip := e.tree.Lookup(&coins.Tip)
	if tip == nil {
		coins.Release()
		return nil, fmt.Errorf("unspent outputs as of block %v, which is not in the tree", coins.Tip)
	}
	return &coinSet{coins, e.tree, tip}, nil
}

// coinSet is the database's set as messages carry it, completed by the outputs
// that are not among them.
type coinSet struct {
	*chaindb.Coins
	tree *chainview.Tree
	tip  *chainview.Block
}

// Tip implements messages.CoinSet.
func (s *coinSet) Tip() messages.Tip { return messages.Tip{Hash: s.tip.Hash, Height: s.tip.Height} }

// Visit implements messages.CoinSet.
func (s *coinSet) Visit(ctx context.Context, first, last byte, visit func(*messages.SetCoin) error) error {
	others, err := s.unparsable(ctx, first, last)
	if err != nil {
		return err
	}
	// before visits those of the others that come before a transaction or belong
	// to it.
	before := func(tx *chainhash.Hash) error {
		for len(others) > 0 && (tx == nil || bytes.Compare(others[0].Out.Hash[:], tx[:]) <= 0) {
			if err := visit(&others[0]); err != nil {
				return err
			}
			others = others[1:]
		}
		return nil
	}
	var shown messages.SetCoin
	err = s.Coins.Visit(ctx, first, last, func(c *chaindb.Coin) error {
		if err := before(&c.Out.Hash); err != nil {
			return err
		}
		shown = messages.SetCoin{
			Out: c.Out, Height: c.Height, Coinbase: c.Coinbase, Amount: c.Amount, Packed: c.Packed,
		}
		return visit(&shown)
	})
	if err != nil {
		return err
	}
	return before(nil)
}

// Pack implements messages.CoinSet.
func (*coinSet) Pack(script []byte) [][]byte { return blockfile.PackScript(script) }

// Unpack implements messages.CoinSet.
func (*coinSet) Unpack(dst, packed []byte) ([]byte, error) {
	return blockfile.UnpackScript(dst, packed)
}
