package descriptor

// Aggregation of the keys of several participants into one public key, for
// which they sign together (BIP327, BIP328).

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr/musig2"
)

// errMusigKey reports a participant's key that is not a compressed public key.
var errMusigKey = errors.New("musig: invalid public key")

// musigChainCode is the chain code of the extended key, at depth 0, that stands for
// an aggregate key. It is the SHA256 of "MuSig2MuSig2MuSig2" (BIP328).
var musigChainCode = [32]byte{
	0x86, 0x80, 0x87, 0xca, 0x02, 0xa6, 0xf9, 0x74, 0xc4, 0x59, 0x89, 0x24, 0xc3, 0x6b, 0x57, 0x76,
	0x2d, 0x32, 0xcb, 0x45, 0x71, 0x71, 0x67, 0xe3, 0x00, 0x62, 0x2c, 0x71, 0x67, 0xe3, 0x89, 0x65,
}

// sortKeys brings keys into the order in which they are aggregated.
func sortKeys(keys [][]byte) { slices.SortFunc(keys, bytes.Compare) }

// aggregateInOrder returns the compressed key that stands for the given ones, which
// are compressed too. It depends on their order.
//
// Errors: errMusigKey.
func aggregateInOrder(keys [][]byte) ([]byte, error) {
	points := make([]*btcec.PublicKey, len(keys))
	for i, key := range keys {
		if len(key) != btcec.PubKeyBytesLenCompressed {
			return nil, errMusigKey
		}
		var err error
		if points[i], err = btcec.ParsePubKey(key); err != nil {
			return nil, errMusigKey
		}
	}
	const sort = false
	aggregate, _, _, err := musig2.AggregateKeys(points, sort)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMusigKey, err)
	}
	return aggregate.FinalKey.SerializeCompressed(), nil
}
