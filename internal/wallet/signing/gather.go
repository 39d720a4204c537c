// Package signing signs with the keys of a wallet: transactions, packets (PSBT), messages and data. It collects
// a wallet's knowledge first, and makes the signatures from this alone: they can be made beside the wallet.
//
// The package is pure: no file, no clock, no network.
package signing

import (
	"context"
	"sync"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/wallet/keys"
)

// A Gathering is what a wallet has to derive before a transaction can be signed. Deriving takes as long as
// signing, so workers do it. They derive only from descriptors that need nothing of the wallet but their
// private keys.
type Gathering struct {
	spenders   *keys.Spenders
	places     []keys.Place
	newSigning rawtx.NewSigningFunc
}

// Gather adds the wallet's knowledge of the outputs that a transaction spends. It returns a gathering of
// the places that workers have yet to derive.
func Gather(set *keys.Set, s *rawtx.Signing, newSigning rawtx.NewSigningFunc) *Gathering {
	g := &Gathering{spenders: set.Spenders(), newSigning: newSigning}
	for _, coin := range s.Coins {
		for _, place := range g.spenders.OfScript(coin.PkScript) {
			d := place.Descriptor
			if d.HasAllPrivateKeys() && d.OutputType() != descriptor.MerkleRoot {
				g.places = append(g.places, keys.Place{Descriptor: d.WithCache(nil), Index: place.Index})
				continue
			}
			_ = s.AddDescriptor(d, place.Index, true) // what cannot be derived is not known
		}
	}
	return g
}

// Wipe overwrites the private keys that were found. The descriptors cannot be used any more.
func (g *Gathering) Wipe() { g.spenders.Wipe() }

// derive derives the rest on all cores. The descriptors cannot be used any more.
func (g *Gathering) derive(ctx context.Context, s *rawtx.Signing) error {
	defer g.spenders.Wipe()
	var mu sync.Mutex
	return cores.Do(ctx, len(g.places), func(i int) error { //nolint:contextcheck // one index
		known := g.newSigning(new(wire.MsgTx), nil)
		_ = known.AddDescriptor(g.places[i].Descriptor, g.places[i].Index, true) // as above
		mu.Lock()
		defer mu.Unlock()
		s.Merge(known, true)
		return nil
	})
}

// Sign derives what is missing, and signs.
func (g *Gathering) Sign(ctx context.Context, s *rawtx.Signing) ([]rawtx.InputError, error) {
	if err := g.derive(ctx, s); err != nil {
		return nil, err
	}
	return rawtx.Sign(ctx, s)
}
