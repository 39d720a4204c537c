package p2mr

import (
	"context"
	"fmt"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// Coins returns the set of unspent outputs at the tip.
func (e *Engine) Coins() (messages.CoinSet, error) {
	coins, err := e.db.Coins()
	if err != nil {
		return nil, err
	}
	tip := e.tree.Lookup(&coins.Tip)
	if tip == nil {
		coins.Release()
		return nil, fmt.Errorf("unspent outputs as of block %v, which is not in the tree", coins.Tip)
	}
	return &coinSet{coins, messages.Tip{Hash: tip.Hash, Height: tip.Height}}, nil
}

// coinSet is the database's set as messages carry it.
type coinSet struct {
	*chaindb.Coins
	tip messages.Tip
}

// Tip implements messages.CoinSet.
func (s *coinSet) Tip() messages.Tip { return s.tip }

// Visit implements messages.CoinSet.
func (s *coinSet) Visit(ctx context.Context, first, last byte, visit func(*messages.SetCoin) error) error {
	var shown messages.SetCoin
	return s.Coins.Visit(ctx, first, last, func(c *chaindb.Coin) error {
		shown = messages.SetCoin{
			Out: c.Out, Height: c.Height, Coinbase: c.Coinbase, Amount: c.Amount, Packed: c.Packed,
		}
		return visit(&shown)
	})
}

// Pack implements messages.CoinSet.
func (*coinSet) Pack(script []byte) [][]byte { return blockfile.PackScript(script) }

// Unpack implements messages.CoinSet.
func (*coinSet) Unpack(dst, packed []byte) ([]byte, error) {
	return blockfile.UnpackScript(dst, packed)
}
