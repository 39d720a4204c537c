package slhdsa

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/seed61375155/trawl/internal/cores"
)

// GenerateKeys makes the keys of several entropies, in their order, on all
// processors. It ends early if the context ends, or one entropy is too short,
// and then returns no key.
//
// Errors: [ErrEntropy], the context's.
func GenerateKeys(ctx context.Context, entropies [][]byte) ([]*PrivateKey, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	keys := make([]*PrivateKey, len(entropies))
	var (
		next    atomic.Int64
		workers sync.WaitGroup
	)
	for range min(cores.Count(), len(entropies)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(entropies)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				var err error
				if keys[i], err = GenerateKey(entropies[i]); err != nil {
					stop(err)
				}
			}
		})
	}
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		zeroAll(keys)
		return nil, err
	}
	return keys, nil
}

// zeroAll wipes the keys that were made.
func zeroAll(keys []*PrivateKey) {
	for _, key := range keys {
		if key != nil {
			key.Zero()
		}
	}
}
