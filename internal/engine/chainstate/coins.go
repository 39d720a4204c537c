package chainstate

import (
	"bytes"
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/coincache"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// Coins returns the set of unspent outputs at the tip: the stored outputs, with the
// unwritten changes laid over them. It writes nothing.
func (e *Engine) Coins() (messages.CoinSet, error) {
	if e.broken != nil {
		return nil, e.broken
	}
	return e.snapshot(e.tip)
}

// snapshot returns the set as it is in memory now, which is at a block.
func (i inspector) snapshot(at *chainview.Block) (messages.CoinSet, error) {
	coins, err := i.engine.db.Coins(i.engine.set)
	if err != nil {
		return nil, err
	}
	return &coinSet{coins, i.engine.coins.Changes(), i.engine.tree, at, nil}, nil
}

// CoinsAt implements engine.Validator. Memory may grow to twice the limit of the cache, of
// which the set keeps what it needs.
func (i inspector) CoinsAt(hash *chainhash.Hash) (messages.CoinSet, error) {
	e := i.engine
	if e.broken != nil {
		return nil, e.broken
	}
	to := e.tree.Lookup(hash)
	if to == nil || !e.tree.Active().Contains(to) {
		return nil, messages.ErrNoRollback
	}
	mark := e.coins.Mark()
	defer func() { e.coins.Rollback(mark) }()
	for at := e.tip; at != to; at = at.Parent {
		b, err := e.fetch(at)
		if err == nil {
			err = e.disconnect(at, b)
		}
		if err == nil && e.coins.Overfull() {
			err = errShortMemory
		}
		if err != nil {
			e.log.Warn("unspent outputs not taken back", "to", to.Hash, "height", at.Height, "err", err)
			return nil, messages.ErrNoRollback
		}
	}
	return i.snapshot(to)
}

var errShortMemory = errors.New("the changes do not fit into the cache of unspent outputs: raise -dbcache")

// coinSet is the database's set as messages carry it, with its changes, completed by
// the outputs that are not among them.
type coinSet struct {
	stored  *chaindb.Coins
	changes *coincache.Changes
	tree    *chainview.Tree
	tip     *chainview.Block
	fresh   *oddOutputs // those that are not among the outputs, where they are not stored; nil: they are
}

// Release implements messages.CoinSet.
func (s *coinSet) Release() {
	s.stored.Release()
	s.changes.Release()
}

// DiskSize implements messages.CoinSet. Unwritten changes count as written.
func (s *coinSet) DiskSize() (int64, error) {
	size, err := s.stored.DiskSize()
	return size + int64(s.changes.Size), err
}

// Tip implements messages.CoinSet.
func (s *coinSet) Tip() messages.Tip { return messages.Tip{Hash: s.tip.Hash, Height: s.tip.Height} }

// Visit implements messages.CoinSet.
func (s *coinSet) Visit(ctx context.Context, first, last uint16, visit func(*messages.SetCoin) error) error {
	var others []messages.SetCoin
	var err error
	if s.fresh != nil {
		others = s.fresh.list(first, last)
	} else if others, err = s.unparsable(ctx, first, last); err != nil {
		return err
	}
	// before visits the others up to a transaction, its own included.
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
	var coin chaindb.Coin
	n := 0
	err = s.changes.Merge(first, last, func(next func(key, value []byte) error) error {
		return s.stored.Visit(ctx, first, last, next)
	}, func(key, value []byte) error {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n++
		if err := coin.Parse(key, value); err != nil {
			return err
		}
		if err := before(&coin.Out.Hash); err != nil {
			return err
		}
		shown = messages.SetCoin{
			Out: coin.Out, Height: coin.Height, Coinbase: coin.Coinbase, Amount: coin.Amount, Packed: coin.Packed,
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
