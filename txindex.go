package trawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/blockindex"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/rawtx"
	"github.com/seed61375155/trawl/store/txindex"
)

// txIndex is the index of all transactions as its actor knows it, and as the methods
// read it.
type txIndex struct {
	dir   string
	net   *dialect.Network
	store *txindex.Store
	actor *Ref
}

// Name of the index, in texts and in its folder.
const txIndexName = "txindex"

// openTxIndex opens the index, anew where it is damaged or everything is to be built
// anew.
func openTxIndex(cfg *Config, net *dialect.Network) (*txIndex, error) {
	x := &txIndex{dir: filepath.Join(cfg.Dir, "indexes", txIndexName), net: net}
	if cfg.Reindex {
		if err := os.RemoveAll(x.dir); err != nil {
			return nil, fmt.Errorf("trawl: remove transaction index: %w", err)
		}
	}
	err := x.open()
	if errors.Is(err, txindex.ErrDamaged) {
		cfg.Log.Warn("transaction index is damaged, building it anew", "err", err)
		err = errors.Join(os.RemoveAll(x.dir), x.open())
	}
	if err != nil {
		return nil, fmt.Errorf("trawl: %w", err)
	}
	return x, nil
}

func (x *txIndex) open() (err error) {
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return err
	}
	x.store, err = txindex.Open(x.dir)
	return err
}

// Best implements blockindex.Index.
func (x *txIndex) Best() (hash chainhash.Hash, height int32, ok bool) { return x.store.Best() }

// Connect implements blockindex.Index. As in Core, the transaction of the genesis
// block is left out.
func (x *txIndex) Connect(reader chainview.Reader, b *chainview.Block) error {
	if b.Height == 0 {
		return x.store.Add(&b.Hash, 0, nil)
	}
	block, err := reader.Block(&b.Hash)
	if err != nil {
		return err
	}
	ids := make([]chainhash.Hash, len(block.Transactions))
	for i, tx := range block.Transactions {
		ids[i] = tx.TxHash()
	}
	return x.store.Add(&b.Hash, b.Height, ids)
}

// Disconnect implements blockindex.Index.
func (x *txIndex) Disconnect(_ chainview.Reader, b *chainview.Block) error {
	return x.store.Back(&b.Parent.Hash, b.Parent.Height)
}

// Clear implements blockindex.Index: what it finds is looked up by the hash of its
// block, so that only the best block has to be forgotten.
func (x *txIndex) Clear() error {
	genesis := x.net.Params.GenesisHash
	return x.store.Back(genesis, 0)
}

// Find implements rawtx.TxIndex.
func (x *txIndex) Find(ctx context.Context, tx *chainhash.Hash) (block chainhash.Hash, index int, synced bool, err error) {
	status, err := ask.Ask(ctx, x.actor, messages.GetIndexStatus{})
	if err == nil && status.Synced {
		_, err = ask.Ask(ctx, x.actor, messages.WaitIndexIdle{})
	}
	if err != nil {
		return block, 0, false, err
	}
	block, index, err = x.store.Find(tx)
	if errors.Is(err, txindex.ErrNotFound) {
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
