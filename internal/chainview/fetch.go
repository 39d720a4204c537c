package chainview

import (
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// A Fetch gets a block from elsewhere that was pruned here: serialized, and checked
// to be the block of its header. It may take as long as the network does.
type Fetch func(ctx context.Context, hash *chainhash.Hash) ([]byte, error)

// Raw returns a serialized block from r or, where it was pruned, from f, which may
// be nil. The error wraps ErrPruned where f cannot give it.
func (f Fetch) Raw(ctx context.Context, r Reader, hash *chainhash.Hash) ([]byte, error) {
	raw, err := r.Raw(hash)
	if err == nil || f == nil || !errors.Is(err, ErrPruned) {
		return raw, err
	}
	raw, failed := f(ctx, hash)
	if failed != nil {
		return nil, fmt.Errorf("%w; fetching it: %w", err, failed)
	}
	return raw, nil
}
