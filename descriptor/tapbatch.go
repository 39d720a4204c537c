package descriptor

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/internal/curve"
)

// tapBatch computes the output keys of tr() for many indices together.
type tapBatch struct {
	*taproot

	points []curve.Point  // internal keys
	tweaks []curve.Scalar // commitments to the tree
	adder  curve.Adder
}

func (b *tapBatch) add(keys [][]byte) error {
	var root []byte // empty: no tree
	if b.tree != nil {
		hash, err := b.tree.hash(keys)
		if err != nil {
			return err
		}
		root = hash[:]
	}
	internal := keys[b.internal.number][1:]
	var point curve.Point
	if !point.SetX((*[32]byte)(internal)) {
		return ErrNotDerivable
	}
	hash := chainhash.TaggedHash(chainhash.TagTapTweak, internal, root)
	if overflow := new(secp256k1.ModNScalar).SetByteSlice(hash[:]); overflow {
		return ErrNotDerivable
	}
	b.points = append(b.points, point)
	b.tweaks = append(b.tweaks, curve.Scalar(*hash))
	return nil
}

func (b *tapBatch) scripts() ([][][]byte, error) {
	b.adder.AddBase(b.points, b.tweaks)
	all := make([][][]byte, len(b.points))
	for i := range b.points {
		if b.points[i].IsInfinity() {
			return nil, ErrNotDerivable
		}
		output := b.points[i].X()
		all[i] = [][]byte{witnessProgram(1, output[:])}
	}
	b.points, b.tweaks = b.points[:0], b.tweaks[:0]
	return all, nil
}
