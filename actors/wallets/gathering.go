package wallets

import (
	"context"
	"sync"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/wallet/keys"
)

// gathering is what a wallet has to derive before a transaction can be signed. Deriving takes as long as
// signing, so workers do it. They derive only from descriptors that need nothing of the wallet but their
// private keys.
type gathering struct {
	spenders   *keys.Spenders
	places     []keys.Place
	newSigning rawtx.NewSigningFunc
}

// gatherKeys adds the wallet's knowledge of the outputs that a transaction spends. It returns a gathering of
// the places that workers have yet to derive.
func gatherKeys(set *keys.Set, s *rawtx.Signing, newSigning rawtx.NewSigningFunc) *gathering {
	g := &gathering{spenders: set.Spenders(), newSigning: newSigning}
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

// derive derives the rest on all cores. The descriptors cannot be used any more.
func (g *gathering) derive(ctx context.Context, s *rawtx.Signing) error {
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

// signGathered derives what is missing, and signs.
func signGathered(ctx context.Context, s *rawtx.Signing, k *gathering) ([]rawtx.InputError, error) {
	if err := k.derive(ctx, s); err != nil {
		return nil, err
	}
	return rawtx.Sign(ctx, s)
}
