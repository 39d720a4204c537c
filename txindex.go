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
	"github.com/seed61375155/trawl/rpc/method/rawtx"
	"github.com/seed61375155/trawl/store/blockrows"
	"github.com/seed61375155/trawl/store/txindex"
)

// txIndex is the index of all transactions as its actor knows it, and as the methods
// read it.
type txIndex struct {
	store *txindex.Store
	actor *Ref
}

// Name of the index, in texts and in its folder.
const txIndexName = "txindex"

// openTxIndex opens the index, empty where everything is to be built anew.
func openTxIndex(cfg *Config, net *dialect.Network) (*txIndex, error) {
	dir := filepath.Join(cfg.Dir, "indexes", txIndexName)
	store, err := txindex.Open(txindex.Options{Dir: dir, Network: net.Magic, Log: cfg.Log})
	if err != nil {
		return nil, fmt.Errorf("trawl: %w", err)
	}
	if cfg.Reindex {
		if err := store.Wipe(); err != nil {
			return nil, errors.Join(fmt.Errorf("trawl: %w", err), store.Close())
		}
	}
	return &txIndex{store: store}, nil
}

// indexDamage says it in the words of the actor where a store is damaged.
func indexDamage(err error) error {
	if errors.Is(err, txindex.ErrDamaged) || errors.Is(err, blockrows.ErrDamaged) || errors.Is(err, coinstats.ErrTotals) {
		return fmt.Errorf("%w: %w", blockindex.ErrDamaged, err)
	}
	return err
}

// Best implements blockindex.Index.
func (x *txIndex) Best() (hash chainhash.Hash, height int32, ok bool) { return x.store.Best() }

// Connect implements blockindex.Index. As in Core, the transaction of the genesis
// block is left out.
func (x *txIndex) Connect(reader chainview.Reader, b *chainview.Block) error {
	if b.Height == 0 {
		return indexDamage(x.store.Add(&b.Hash, 0, nil))
	}
	block, err := reader.Block(&b.Hash)
	if err != nil {
		return err
	}
	ids := make([]chainhash.Hash, len(block.Transactions))
	for i, tx := range block.Transactions {
		ids[i] = tx.TxHash()
	}
	return indexDamage(x.store.Add(&b.Hash, b.Height, ids))
}

// Disconnect implements blockindex.Index.
func (x *txIndex) Disconnect(_ chainview.Reader, b *chainview.Block) error {
	return indexDamage(x.store.Back(&b.Parent.Hash, b.Parent.Height))
}

// Sync implements blockindex.Index.
func (x *txIndex) Sync() error { return indexDamage(x.store.Sync()) }

// Rewind implements blockindex.Index.
func (x *txIndex) Rewind(known func(*chainhash.Hash) bool) error {
	return indexDamage(x.store.Rewind(known))
}

// Reset implements blockindex.Index.
func (x *txIndex) Reset() error { return x.store.Wipe() }

// Find implements rawtx.TxIndex.
func (x *txIndex) Find(ctx context.Context, tx *chainhash.Hash) (block chainhash.Hash, index int, synced bool, err error) {
	status, err := ask.Ask(ctx, x.actor, messages.GetIndexStatus{})
	if err == nil && status.Synced {
		_, err = ask.Ask(ctx, x.actor, messages.WaitIndexIdle{})
	}
	if err == nil {
		block, index, err = x.store.Find(tx)
	}
	switch err = indexDamage(err); {
	case errors.Is(err, blockindex.ErrDamaged):
		x.actor.Tell(blockindex.Damaged{Err: err})
		return chainhash.Hash{}, -1, false, nil // it is being built
	case errors.Is(err, txindex.ErrNotFound):
		return chainhash.Hash{}, -1, status.Synced, nil
	}
	return block, index, status.Synced, err
}

// txLookup returns the index for the methods; a nil interface without one.
func (n *Node) txLookup() rawtx.TxIndex {
	if n.txs == nil {
		return nil
	}
	return n.txs
}

// startTxIndex starts the index of all transactions.
func (n *Node) startTxIndex() error {
	if n.cfg.Prune != nil {
		return StartError("Prune mode is incompatible with -txindex.")
	}
	x, err := openTxIndex(&n.cfg, n.net)
	if err != nil {
		return err
	}
	n.txs = x
	return n.spawn(&x.actor, txIndexName, blockindex.New(blockindex.Config{
		Name: txIndexName, Index: x, Chain: n.view, Tip: n.tip,
		Log: n.cfg.Log.With(slog.String("category", "index")), OnFailed: n.fail,
	}), blockindex.Requests)
}
