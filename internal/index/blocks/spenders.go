package blocks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/store/spenders"
)

// SpendersName is the name of the index, in texts and in its folder.
const SpendersName = "txospenderindex"

// Spenders say by which transactions the outputs of the chain were spent. They are kept by an
// actor of actors/blockindex, which alone calls what changes them, and read by a
// [SpenderReader] meanwhile.
type Spenders struct {
	store  *spenders.Store
	header func(raw []byte) int // size of a block's header

	block []byte // memory for the block that is read
}

// OpenSpenders opens the index.
func OpenSpenders(c Config) (*Spenders, error) {
	if err := c.needsAll(SpendersName); err != nil {
		return nil, err
	}
	store, err := spenders.Open(spenders.Options{Dir: c.dir(SpendersName), Network: c.Network.Magic, Log: c.Log})
	if err != nil {
		return nil, failed(err)
	}
	if c.Anew {
		if err := store.Wipe(); err != nil {
			return nil, failed(errors.Join(err, store.Close()))
		}
	}
	return &Spenders{store: store, header: c.Network.HeaderLen}, nil
}

// Close closes the store.
func (x *Spenders) Close() error { return x.store.Close() }

func spenderDamage(err error) error { return index.Wrap(err, spenders.ErrDamaged) }

// Best implements index.Blocks.
func (x *Spenders) Best() (hash chainhash.Hash, height int32, ok bool) { return x.store.Best() }

// Connect implements index.Blocks.
func (x *Spenders) Connect(reader chainview.Reader, b *chainview.Block) error {
	spends, err := x.spends(reader, b)
	if err != nil {
		return err
	}
	return spenderDamage(x.store.Add(&b.Hash, b.Height, spends))
}

// spends reads what a block spends; a coinbase spends nothing.
func (x *Spenders) spends(reader chainview.Reader, b *chainview.Block) ([]spenders.Spend, error) {
	raw, err := chainview.RawInto(reader, &x.block, &b.Hash)
	if err != nil {
		return nil, err
	}
	txs, err := consensus.ListSpendings(raw, x.header(raw))
	if err != nil {
		return nil, fmt.Errorf("block %v: %w: %w", b.Hash, chainview.ErrUnreadable, err)
	}
	var spends []spenders.Spend
	for i := range txs {
		if i == 0 {
			continue
		}
		at := spenders.Place{
			Offset: uint32(txs[i].Start), Sum: chainview.Checksum(raw[txs[i].Start:txs[i].End]),
		}
		for _, out := range txs[i].Outs {
			spends = append(spends, spenders.Spend{Out: out, Place: at})
		}
	}
	return spends, nil
}

// Disconnect implements index.Blocks.
func (x *Spenders) Disconnect(_ chainview.Reader, b *chainview.Block) error {
	return spenderDamage(x.store.Back(&b.Parent.Hash, b.Parent.Height))
}

// Has implements index.Record. It knows a block by the first output that the block spends.
func (x *Spenders) Has(reader chainview.Reader, b *chainview.Block) (bool, error) {
	spends, err := x.spends(reader, b)
	if err != nil || len(spends) == 0 {
		return len(spends) == 0, err
	}
	found, err := x.store.Find(&spends[0].Out)
	return slices.ContainsFunc(found, func(c spenders.Candidate) bool { return c.Block == b.Hash }), spenderDamage(err)
}

// Sync implements index.Blocks.
func (x *Spenders) Sync() error { return spenderDamage(x.store.Sync()) }

// Reset implements index.Blocks.
func (x *Spenders) Reset(known func(*chainhash.Hash) bool) error {
	if known == nil {
		return x.store.Wipe()
	}
	return spenderDamage(x.store.Rewind(known))
}

// A SpenderReader looks up what has spent outputs.
type SpenderReader struct {
	Index  *Spenders
	Chain  *chainview.Current
	Keeper *ask.Ref // the actor that keeps the index
}

// Find returns the transaction of the chain that spends an output, nil when none does. If the
// index has once been in step with the chain, synced is true, and the index was in step during
// the call.
//
// Errors: those of a reader of blocks.
func (r *SpenderReader) Find(
	ctx context.Context, out *wire.OutPoint,
) (by *chainview.Spender, synced bool, err error) {
	for {
		resets := r.Index.store.Resets()
		by, synced, err = r.attempt(ctx, out)
		whole := resets == r.Index.store.Resets()
		switch err = spenderDamage(err); {
		case errors.Is(err, index.ErrDamaged):
			r.Keeper.Tell(index.Damaged{Err: err})
			return nil, false, nil // it is being built
		case errors.Is(err, spenders.ErrClosed) && !whole: // it was just being emptied
		case err != nil, by != nil, !synced, whole:
			return by, synced, err
		}
	}
}

func (r *SpenderReader) attempt(
	ctx context.Context, out *wire.OutPoint,
) (by *chainview.Spender, synced bool, err error) {
	reader := r.Chain.Open()
	if reader == nil {
		return nil, false, chainview.ErrNotReady
	}
	active := reader.Active() // the index has all of it once it is in step
	status, err := index.Status(ctx, r.Keeper)
	if err == nil && status.Synced {
		by, err = r.find(chainview.Stored(reader), active, out)
	}
	return by, status.Synced, err
}

// find looks an output up in an index that has all blocks of the active chain.
func (r *SpenderReader) find(
	reader chainview.Reader, active *chainview.Chain, out *wire.OutPoint,
) (*chainview.Spender, error) {
	found, err := r.Index.store.Find(out)
	if err != nil {
		return nil, err
	}
	for _, c := range found {
		if told, err := r.tells(reader, active, reader.Lookup(&c.Block)); err != nil {
			return nil, err
		} else if !told {
			continue
		}
		tx, err := chainview.TxAt(reader, &c.Block, chainview.TxPlace{Offset: int(c.Offset), Sum: c.Sum})
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool { return in.PreviousOutPoint == *out }) {
			return &chainview.Spender{Tx: tx, Block: c.Block}, nil
		}
	}
	return nil, nil
}

// tells reports whether the spends of a block count; it is nil where it is not known. As in
// Core, blocks that were taken back are in the index until another block comes in their place.
func (r *SpenderReader) tells(reader chainview.Reader, active *chainview.Chain, b *chainview.Block) (bool, error) {
	if b == nil || active.Contains(b) {
		return b != nil, nil
	}
	hash, _, err := r.Index.store.Newest()
	if err != nil {
		return false, err
	}
	last := reader.Lookup(&hash)
	return last != nil && last.Ancestor(active.Height()).Is(active.Tip()) && last.Ancestor(b.Height).Is(b), nil
}
