package trawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/blockindex"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/coinstats"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/chain"
	"github.com/seed61375155/trawl/store/blockrows"
)

// coinStatsName is the name of the index, in texts and in its folder.
const coinStatsName = "coinstatsindex"

// coinStats is the index of the sums of the unspent outputs as its actor knows it,
// and as the methods read it.
type coinStats struct {
	net   *dialect.Network
	store *blockrows.Store
	actor *Ref

	// Used by the worker of the actor, and before it starts.
	best *blockrows.Best
	sums *coinstats.Chain // after best; nil: to be read from its state
}

// openCoinStats opens the index, empty where everything is to be built anew, or its
// sums are damaged.
func openCoinStats(cfg *Config, net *dialect.Network) (*coinStats, error) {
	dir := filepath.Join(cfg.Dir, "indexes", coinStatsName)
	store, best, err := blockrows.Open(blockrows.Options{Dir: dir, Name: coinStatsName, Network: net.Magic, Log: cfg.Log})
	if err != nil {
		return nil, fmt.Errorf("trawl: %w", err)
	}
	x := &coinStats{net: net, store: store, best: best}
	if cfg.Reindex {
		err = x.Reset()
	} else if err = x.restore(); errors.Is(err, coinstats.ErrTotals) {
		cfg.Log.Warn("index is damaged, building it anew from all blocks", "index", coinStatsName, "err", err)
		err = x.Reset()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("trawl: %w", err), store.Close())
	}
	return x, nil
}

// restore reads the sums of the best block, if they are not there.
func (x *coinStats) restore() (err error) {
	switch {
	case x.sums != nil:
	case x.best == nil:
		x.sums = new(coinstats.Chain)
	default:
		x.sums, err = coinstats.DecodeChain(x.best.State)
	}
	return err
}

// Best implements blockindex.Index.
func (x *coinStats) Best() (hash chainhash.Hash, height int32, ok bool) {
	if x.best == nil {
		return hash, -1, false
	}
	return x.best.Block, x.best.Height, true
}

// Connect implements blockindex.Index.
func (x *coinStats) Connect(reader chainview.Reader, b *chainview.Block) error {
	block, err := x.block(reader, b)
	if err == nil {
		err = x.restore()
	}
	if err != nil {
		return indexDamage(err)
	}
	sums := x.sums
	x.sums = nil // until they are stored
	sums.Connect(block)
	return x.put(b, sums, sums.Totals.Encode())
}

// Disconnect implements blockindex.Index.
func (x *coinStats) Disconnect(reader chainview.Reader, b *chainview.Block) error {
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
		return indexDamage(err)
	}
	sums := x.sums
	x.sums = nil // until they are stored
	sums.Disconnect(block, &before)
	return x.put(b.Parent, sums, nil)
}

// put makes a block the best one.
func (x *coinStats) put(b *chainview.Block, sums *coinstats.Chain, row []byte) error {
	best := &blockrows.Best{Block: b.Hash, Height: b.Height, State: sums.Encode()}
	if err := x.store.Put(best, row); err != nil {
		return indexDamage(err)
	}
	x.best, x.sums = best, sums
	return nil
}

// Sync implements blockindex.Index.
func (x *coinStats) Sync() error { return indexDamage(x.store.Sync()) }

// Rewind implements blockindex.Index.
func (x *coinStats) Rewind(known func(*chainhash.Hash) bool) error {
	best, err := x.store.Rewind(known)
	if err != nil {
		return indexDamage(err)
	}
	x.best, x.sums = best, nil
	return indexDamage(x.restore())
}

// Reset implements blockindex.Index.
func (x *coinStats) Reset() error {
	x.best, x.sums = nil, new(coinstats.Chain)
	return x.store.Wipe()
}

// block reads a block as the sums need it.
func (x *coinStats) block(reader chainview.Reader, b *chainview.Block) (*coinstats.Block, error) {
	shown := &coinstats.Block{Height: b.Height, Subsidy: int64(x.net.Subsidy(b.Height)), Replaced: replacedCoinbases[b.Hash]}
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

// replacedCoinbases are the blocks of the main chain whose coinbases came again in
// later blocks, before BIP30 forbade that (heights 91,722 and 91,812).
var replacedCoinbases = map[chainhash.Hash]bool{
	mustHash("00000000000271a2dc26e7667f8419f2e15416dc6955e5a6c6cdf3f2574dd08e"): true,
	mustHash("00000000000af0aed4792b1acee3d966af36cf5def14935db8de83d6f9306f2f"): true,
}

func mustHash(text string) chainhash.Hash {
	hash, err := chainhash.NewHashFromStr(text)
	if err != nil {
		panic(err)
	}
	return *hash
}

// totals returns the sums up to a block.
func (x *coinStats) totals(block *chainhash.Hash) (coinstats.Totals, error) {
	row, err := x.store.Row(block)
	if err != nil {
		return coinstats.Totals{}, err
	}
	return coinstats.DecodeTotals(row)
}

// Height implements chain.CoinStats.
func (x *coinStats) Height(ctx context.Context) (height int32, synced bool, err error) {
	status, err := ask.Ask(ctx, x.actor, messages.GetIndexStatus{})
	if err == nil && status.Synced {
		_, err = ask.Ask(ctx, x.actor, messages.WaitIndexIdle{})
	}
	if errors.Is(err, blockindex.ErrDamaged) {
		return 0, false, nil // it is being built
	}
	return status.Height, status.Synced, err
}

// Totals implements chain.CoinStats.
func (x *coinStats) Totals(block *chainhash.Hash) (coinstats.Totals, error) {
	totals, err := x.totals(block)
	if err = indexDamage(err); errors.Is(err, blockindex.ErrDamaged) {
		x.actor.Tell(blockindex.Damaged{Err: err})
	}
	return totals, err
}

// coinTotals returns the index for the methods; a nil interface without one.
func (n *Node) coinTotals() chain.CoinStats {
	if n.stats == nil {
		return nil
	}
	return n.stats
}

// startCoinStats starts the index of the sums of the unspent outputs.
func (n *Node) startCoinStats(ctx context.Context) error {
	x, err := openCoinStats(&n.cfg, n.net)
	if err != nil {
		return err
	}
	n.stats = x
	cfg := blockindex.Config{
		Name: coinStatsName, Index: x, Chain: n.view, Tip: n.tip,
		Log: n.cfg.Log.With(slog.String("category", "index")), OnFailed: n.fail,
	}
	if n.cfg.Prune != nil {
		cfg.Keeper = n.chain
		if err := n.lockFor(ctx, x); err != nil {
			return err
		}
	}
	return n.spawn(&x.actor, coinStatsName, blockindex.New(cfg), blockindex.Requests)
}

// lockFor keeps the blocks that the index has yet to read.
func (n *Node) lockFor(ctx context.Context, x *coinStats) error {
	reader := n.view.Open()
	active := reader.Active()
	known := func(hash *chainhash.Hash) bool { return reader.Lookup(hash) != nil }
	if hash, _, ok := x.Best(); ok && !known(&hash) {
		// The power failed, and the chain knows less than the index.
		if err := x.Rewind(known); err != nil {
			return fmt.Errorf("trawl: %s: %w", coinStatsName, err)
		}
	}
	from := int32(0)
	if hash, _, ok := x.Best(); ok {
		if b := reader.Lookup(&hash); b != nil {
			from = active.Fork(b).Height
		}
	}
	return n.lockFrom(ctx, coinStatsName, from+1)
}
