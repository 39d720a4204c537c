package filters

import (
	"encoding/binary"
	"math/bits"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/siphash"
)

// sipKey is a SipHash key as two little-endian words.
type sipKey struct{ k0, k1 uint64 }

// keyOf returns the key of a block's filter: the first 16 bytes of the block's
// hash, in the order in which they are hashed, not displayed.
func keyOf(block *chainhash.Hash) sipKey {
	return sipKey{binary.LittleEndian.Uint64(block[:8]), binary.LittleEndian.Uint64(block[8:16])}
}

// sipHash returns the SipHash-2-4 of a script.
func sipHash(key sipKey, script []byte) uint64 { return siphash.Sum(key.k0, key.k1, script) }

// reduce maps a hash evenly to a number below limit.
func reduce(hash, limit uint64) uint64 {
	high, _ := bits.Mul64(hash, limit)
	return high
}
