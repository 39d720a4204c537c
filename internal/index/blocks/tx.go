// Package blocks has the indexes that actors of actors/blockindex keep. They have transactions by
// their ids, the spenders of all outputs, the blocks of each script, and sums of the unspent
// outputs.
package blocks

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/store/txindex"
)

// TxIndexName is the name of the index, in texts and in its folder.
const TxIndexName = "txindex"

// A TxIndex is kept by an actor of actors/blockindex, which alone calls what changes it,
// and read by [TxIndex.Find] meanwhile.
type TxIndex struct{ store *txindex.Store }

// OpenTxIndex opens the index.
func OpenTxIndex(c Config) (*TxIndex, error) {
	if err := c.needsAll(TxIndexName); err != nil {
		return nil, err
	}
	store, err := txindex.Open(txindex.Options{Dir: c.dir(TxIndexName), Network: c.Network.Magic, Log: c.Log})
	if err != nil {
		return nil, failed(err)
	}
	if c.Anew {
		if err := store.Wipe(); err != nil {
			return nil, failed(errors.Join(err, store.Close()))
		}
	}
	return &TxIndex{store}, nil
}

// Close closes the store.
func (x *TxIndex) Close() error { return x.store.Close() }

func txDamage(err error) error { return index.Wrap(err, txindex.ErrDamaged) }

// Best implements index.Blocks.
func (x *TxIndex) Best() (hash chainhash.Hash, height int32, ok bool) { return x.store.Best() }

// Connect implements index.Blocks. As in Core, the transaction of the genesis
// block is left out.
func (x *TxIndex) Connect(reader chainview.Reader, b *chainview.Block) error {
	if b.Height == 0 {
		return txDamage(x.store.Add(&b.Hash, 0, nil, nil))
	}
	ids, known, err := chainview.Txs(reader, &b.Hash)
	if err != nil {
		return err
	}
	var places []txindex.Place
	for _, place := range known {
		places = append(places, txindex.Place(place))
	}
	return txDamage(x.store.Add(&b.Hash, b.Height, ids, places))
}

// Disconnect implements index.Blocks.
func (x *TxIndex) Disconnect(_ chainview.Reader, b *chainview.Block) error {
	return txDamage(x.store.Back(&b.Parent.Hash, b.Parent.Height))
}

// Has implements index.Record. It knows a block by its first transaction, which hardly any other
// block has.
func (x *TxIndex) Has(reader chainview.Reader, b *chainview.Block) (bool, error) {
	ids, _, err := chainview.Txs(reader, &b.Hash)
	if err != nil {
		return false, err
	}
	block, _, err := x.store.Find(&ids[0])
	if errors.Is(err, txindex.ErrNotFound) {
		return false, nil
	}
	return block == b.Hash, txDamage(err)
}

// Sync implements index.Blocks.
func (x *TxIndex) Sync() error { return txDamage(x.store.Sync()) }

// Reset implements index.Blocks.
func (x *TxIndex) Reset(known func(*chainhash.Hash) bool) error {
	if known == nil {
		return x.store.Wipe()
	}
	return txDamage(x.store.Rewind(known))
}

// A TxReader looks transactions up. It implements rawtx.TxIndex.
type TxReader struct {
	Index  *TxIndex
	Keeper *ask.Ref // the actor that keeps the index
}

// Present returns the block that a transaction came in last, as far as the index has come,
// and its place there. It waits for nothing; false means nothing.
func (r *TxReader) Present(tx *chainhash.Hash) (block chainhash.Hash, at chainview.TxPlace, ok bool) {
	block, place, err := r.Index.store.Find(tx)
	return block, chainview.TxPlace(place), err == nil // Find tells of damage
}

// Find returns the block that a transaction came in last, and its place there,
// chainview.Nowhere when the transaction is not known. If the index has once been in
// step with the chain, synced is true, and the index is in step now.
func (r *TxReader) Find(
	ctx context.Context, tx *chainhash.Hash,
) (block chainhash.Hash, at chainview.TxPlace, synced bool, err error) {
	status, err := index.Status(ctx, r.Keeper)
	var place txindex.Place
	if err == nil {
		block, place, err = r.Index.store.Find(tx)
	}
	switch err = txDamage(err); {
	case errors.Is(err, index.ErrDamaged):
		r.Keeper.Tell(index.Damaged{Err: err})
		return chainhash.Hash{}, chainview.Nowhere, false, nil // it is being built
	case errors.Is(err, txindex.ErrNotFound):
		return chainhash.Hash{}, chainview.Nowhere, status.Synced, nil
	}
	return block, chainview.TxPlace(place), status.Synced, err
}
