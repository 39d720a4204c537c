package slhdsa

import (
	"context"

	"github.com/seed61375155/trawl/internal/cores"
)

// GenerateKeys makes the keys of several entropies, in their order, on all
// processors. It ends early if the context ends, or one entropy is too short,
// and then returns no key.
//
// Errors: [ErrEntropy], the context's.
func GenerateKeys(ctx context.Context, entropies [][]byte) ([]*PrivateKey, error) {
	keys := make([]*PrivateKey, len(entropies))
	err := cores.Do(ctx, len(entropies), func(i int) (err error) {
		keys[i], err = GenerateKey(entropies[i])
		return err
	})
	if err != nil {
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
