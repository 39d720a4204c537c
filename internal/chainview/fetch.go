package chainview

import (
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// A Fetch gets a block from elsewhere that was pruned here, checked to be the block
// of its header. It may take as long as the network does. A nil Fetch has none.
type Fetch func(ctx context.Context, hash *chainhash.Hash) (Fetched, error)

// Fetched is a block that came from elsewhere.
type Fetched struct {
	Raw   []byte // as Reader.Raw would have it
	Block *wire.MsgBlock
}

// Block returns a block from r or, where it was pruned, from f. The error wraps
// ErrPruned where f cannot give it.
func (f Fetch) Block(ctx context.Context, r Reader, hash *chainhash.Hash) (*wire.MsgBlock, error) {
	block, err := r.Block(hash)
	if !errors.Is(err, ErrPruned) {
		return block, err
	}
	got, err := f.Pruned(ctx, hash)
	return got.Block, err
}

// Pruned returns a block that was pruned. The error wraps ErrPruned where f cannot
// give it.
func (f Fetch) Pruned(ctx context.Context, hash *chainhash.Hash) (Fetched, error) {
	if f == nil {
		return Fetched{}, fmt.Errorf("block %v: %w", hash, ErrPruned)
	}
	got, err := f(ctx, hash)
	if err != nil {
		return Fetched{}, fmt.Errorf("block %v: %w; fetching it: %w", hash, ErrPruned, err)
	}
	return got, nil
}
