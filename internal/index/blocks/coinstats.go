package blocks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/coinstats"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/store/blockrows"
)

// CoinStatsName is the name of the index, in texts and in its folder.
const CoinStatsName = "coinstatsindex"

// CoinStats are kept by an actor of actors/blockindex, which alone calls what changes it.
type CoinStats struct {
	net   *dialect.Network
	store *blockrows.Store

	// Used by the worker of the actor, and before it starts.
	best *blockrows.Best
	sums *coinstats.Chain // after best; nil: to be read from its state
}

// OpenCoinStats opens the index, empty where its sums are damaged.
func OpenCoinStats(cfg Config) (*CoinStats, error) {
	store, best, err := blockrows.Open(blockrows.Options{
		Dir: cfg.dir(CoinStatsName), Name: CoinStatsName, Network: cfg.Network.Magic, Log: cfg.Log,
	})
	if err != nil {
		return nil, failed(err)
	}
	x := &CoinStats{net: cfg.Network, store: store, best: best}
	if cfg.Anew {
		err = x.Reset(nil)
	} else if err = x.restore(); errors.Is(err, coinstats.ErrTotals) {
		cfg.Log.Warn("index is damaged, building it anew from all blocks", "index", CoinStatsName, "err", err)
		err = x.Reset(nil)
	}
	if err != nil {
		return nil, failed(errors.Join(err, store.Close()))
	}
	return x, nil
}

// Close closes the store.
func (x *CoinStats) Close() error { return x.store.Close() }

func coinStatsDamage(err error) error {
	return index.Wrap(err, blockrows.ErrDamaged, coinstats.ErrTotals)
}

// restore reads the sums of the best block, if they are not there.
func (x *CoinStats) restore() (err error) {
	switch {
	case x.sums != nil:
	case x.best == nil:
		x.sums = new(coinstats.Chain)
	default:
		x.sums, err = coinstats.DecodeChain(x.best.State)
	}
	return err
}

// Best implements index.Blocks.
func (x *CoinStats) Best() (hash chainhash.Hash, height int32, ok bool) {
	if x.best == nil {
		return hash, -1, false
	}
	return x.best.Block, x.best.Height, true
}

// Connect implements index.Blocks.
func (x *CoinStats) Connect(reader chainview.Reader, b *chainview.Block) error {
	block, err := x.block(reader, b)
	if err == nil {
		err = x.restore()
	}
	if err != nil {
		return coinStatsDamage(err)
	}
	sums := x.sums
	x.sums = nil // until they are stored
	sums.Connect(block)
	return x.put(b, sums, sums.Totals.Encode())
}

// Disconnect implements index.Blocks.
func (x *CoinStats) Disconnect(reader chainview.Reader, b *chainview.Block) error {
	block, err := x.block(reader, b)
	if err == nil {
		err = x.restore()
	}
	var before coinstats.Totals
	if err == nil {
		before, err = x.totals(&b.Parent.Hash)
	}
	if errors.Is(err, blockrows.ErrNotFound) { // of a block that was added
		err = fmt.Errorf("%w: %w", blockrows.ErrDamaged, err)
	}
	if err != nil {
		return coinStatsDamage(err)
	}
	sums := x.sums
	x.sums = nil // until they are stored
	sums.Disconnect(block, &before)
	return x.put(b.Parent, sums, nil)
}

// put makes a block the best one.
func (x *CoinStats) put(b *chainview.Block, sums *coinstats.Chain, row []byte) error {
	best := &blockrows.Best{Block: b.Hash, Height: b.Height, State: sums.Encode()}
	if err := x.store.Put(best, row); err != nil {
		return coinStatsDamage(err)
	}
	x.best, x.sums = best, sums
	return nil
}

// Has implements index.Record.
func (x *CoinStats) Has(_ chainview.Reader, b *chainview.Block) (bool, error) {
	_, err := x.store.Row(&b.Hash)
	if errors.Is(err, blockrows.ErrNotFound) {
		return false, nil
	}
	return err == nil, coinStatsDamage(err)
}

// Sync implements index.Blocks.
func (x *CoinStats) Sync() error { return coinStatsDamage(x.store.Sync()) }

// Reset implements index.Blocks.
func (x *CoinStats) Reset(known func(*chainhash.Hash) bool) error {
	if known == nil {
		x.best, x.sums = nil, new(coinstats.Chain)
		return x.store.Wipe()
	}
	best, err := x.store.Rewind(known)
	if err != nil {
		return coinStatsDamage(err)
	}
	x.best, x.sums = best, nil
	return coinStatsDamage(x.restore())
}

// block reads a block as the sums need it.
func (x *CoinStats) block(reader chainview.Reader, b *chainview.Block) (*coinstats.Block, error) {
	shown := &coinstats.Block{
		Height: b.Height, Subsidy: int64(x.net.Subsidy(b.Height)),
		Replaced: slices.Contains(x.net.ReplacedCoinbases, b.Hash),
	}
	if b.Height == 0 {
		return shown, nil
	}
	block, err := reader.Block(&b.Hash)
	if err != nil {
		return nil, err
	}
	spent, err := reader.Spent(&b.Hash)
	if err != nil {
		return nil, err
	}
	if len(spent) != len(block.Transactions)-1 {
		return nil, fmt.Errorf("block %v: %w", b.Hash, chainview.ErrUndo)
	}
	shown.Txs = block.Transactions
	for i, coins := range spent {
		if len(coins) != len(block.Transactions[i+1].TxIn) {
			return nil, fmt.Errorf("block %v: %w", b.Hash, chainview.ErrUndo)
		}
		list := make([]coinstats.Coin, len(coins))
		for j, c := range coins {
			list[j] = coinstats.Coin{Height: c.Height, Coinbase: c.Coinbase, Amount: int64(c.Value), Script: c.Script}
		}
		shown.Spent = append(shown.Spent, list)
	}
	return shown, nil
}

// totals returns the sums up to a block.
func (x *CoinStats) totals(block *chainhash.Hash) (coinstats.Totals, error) {
	row, err := x.store.Row(block)
	if err != nil {
		return coinstats.Totals{}, err
	}
	return coinstats.DecodeTotals(row)
}

// A CoinStatsReader reads sums. It implements chain.CoinStats.
type CoinStatsReader struct {
	Index  *CoinStats
	Keeper *ask.Ref // the actor that keeps the index
}

// Height returns how far the index is. synced reports whether it has once been in step
// with the chain; then it is so now.
func (r *CoinStatsReader) Height(ctx context.Context) (height int32, synced bool, err error) {
	status, err := index.Status(ctx, r.Keeper)
	if errors.Is(err, index.ErrDamaged) {
		return 0, false, nil // it is being built
	}
	return status.Height, status.Synced, err
}

// Totals returns the sums up to a block that is in the index.
func (r *CoinStatsReader) Totals(block *chainhash.Hash) (coinstats.Totals, error) {
	totals, err := r.Index.totals(block)
	if err = coinStatsDamage(err); errors.Is(err, index.ErrDamaged) {
		r.Keeper.Tell(index.Damaged{Err: err})
	}
	return totals, err
}
