// Package tx is the index of all transactions of the chain, by their ids.
package tx

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/store/txindex"
)

// Name of the index, in texts and in its folder.
const Name = "txindex"

// An Index is kept by an actor of actors/blockindex, which alone calls what changes it,
// and read by [Index.Find] meanwhile.
type Index struct{ store *txindex.Store }

// Open opens the index; with anew it is emptied.
func Open(o txindex.Options, anew bool) (*Index, error) {
	store, err := txindex.Open(o)
	if err != nil {
		return nil, err
	}
	if anew {
		if err := store.Wipe(); err != nil {
			return nil, errors.Join(err, store.Close())
		}
	}
	return &Index{store}, nil
}

// Close closes the store.
func (x *Index) Close() error { return x.store.Close() }

func damage(err error) error { return index.Wrap(err, txindex.ErrDamaged) }

// Best implements index.Blocks.
func (x *Index) Best() (hash chainhash.Hash, height int32, ok bool) { return x.store.Best() }

// Connect implements index.Blocks. As in Core, the transaction of the genesis
// block is left out.
func (x *Index) Connect(reader chainview.Reader, b *chainview.Block) error {
	if b.Height == 0 {
		return damage(x.store.Add(&b.Hash, 0, nil, nil))
	}
	ids, known, err := chainview.Txs(reader, &b.Hash)
	if err != nil {
		return err
	}
	var places []txindex.Place
	for _, place := range known {
		places = append(places, txindex.Place(place))
	}
	return damage(x.store.Add(&b.Hash, b.Height, ids, places))
}

// Disconnect implements index.Blocks.
func (x *Index) Disconnect(_ chainview.Reader, b *chainview.Block) error {
	return damage(x.store.Back(&b.Parent.Hash, b.Parent.Height))
}

// Has implements index.Record. It knows a block by its first transaction, which hardly any other
// block has.
func (x *Index) Has(reader chainview.Reader, b *chainview.Block) (bool, error) {
	ids, _, err := chainview.Txs(reader, &b.Hash)
	if err != nil {
		return false, err
	}
	block, _, err := x.store.Find(&ids[0])
	if errors.Is(err, txindex.ErrNotFound) {
		return false, nil
	}
	return block == b.Hash, damage(err)
}

// Sync implements index.Blocks.
func (x *Index) Sync() error { return damage(x.store.Sync()) }

// Reset implements index.Blocks.
func (x *Index) Reset(known func(*chainhash.Hash) bool) error {
	if known == nil {
		return x.store.Wipe()
	}
	return damage(x.store.Rewind(known))
}

// A Reader looks transactions up. It implements rawtx.TxIndex.
type Reader struct {
	Index  *Index
	Keeper *ask.Ref // the actor that keeps the index
}

// Present returns the block that a transaction came in last, as far as the index has come,
// and its place there. It waits for nothing; false means nothing.
func (r *Reader) Present(tx *chainhash.Hash) (block chainhash.Hash, at chainview.TxPlace, ok bool) {
	block, place, err := r.Index.store.Find(tx)
	return block, chainview.TxPlace(place), err == nil // Find tells of damage
}

// Find returns the block that a transaction came in last, and its place there, nowhere
// when it is not known. synced reports whether the index has once been in step with the
// chain; then it is so now.
func (r *Reader) Find(
	ctx context.Context, tx *chainhash.Hash,
) (block chainhash.Hash, at chainview.TxPlace, synced bool, err error) {
	status, err := index.Status(ctx, r.Keeper)
	var place txindex.Place
	if err == nil {
		block, place, err = r.Index.store.Find(tx)
	}
	switch err = damage(err); {
	case errors.Is(err, index.ErrDamaged):
		r.Keeper.Tell(index.Damaged{Err: err})
		return chainhash.Hash{}, chainview.Nowhere, false, nil // it is being built
	case errors.Is(err, txindex.ErrNotFound):
		return chainhash.Hash{}, chainview.Nowhere, status.Synced, nil
	}
	return block, chainview.TxPlace(place), status.Synced, err
}
