package filters

import (
	"encoding/binary"
	"math/bits"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Initial state of SipHash, "somepseudorandomlygeneratedbytes" in ASCII.
const (
	sip0 = 0x736f6d6570736575
	sip1 = 0x646f72616e646f6d
	sip2 = 0x6c7967656e657261
	sip3 = 0x7465646279746573
)

// sipKey is a SipHash key as two little-endian words.
type sipKey struct{ k0, k1 uint64 }

// keyOf returns the key of a block's filter: the first 16 bytes of the block's
// hash, in the order in which they are hashed, not displayed.
func keyOf(block *chainhash.Hash) sipKey {
	return sipKey{binary.LittleEndian.Uint64(block[:8]), binary.LittleEndian.Uint64(block[8:16])}
}

// sipRound is one SipRound; it must stay small enough to be inlined.
func sipRound(v0, v1, v2, v3 uint64) (r0, r1, r2, r3 uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}

// sipHash returns the SipHash-2-4 of a script.
func sipHash(key sipKey, script []byte) uint64 {
	v0, v1, v2, v3 := key.k0^sip0, key.k1^sip1, key.k0^sip2, key.k1^sip3
	rest := script
	for ; len(rest) >= 8; rest = rest[8:] {
		m := binary.LittleEndian.Uint64(rest)
		v3 ^= m
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0 ^= m
	}
	m := lastWord(script)
	v3 ^= m
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0 ^= m
	v2 ^= 0xff
	for range 4 {
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	}
	return v0 ^ v1 ^ v2 ^ v3
}

// lastWord returns the last message word of a script: its last len%8 bytes,
// and its length modulo 256 as the highest byte.
func lastWord(script []byte) uint64 {
	n := len(script)
	word := uint64(n) << 56
	tail := n % 8
	if n >= 8 { // one load of the last 8 bytes; a shift by 64 gives zero
		return word | binary.LittleEndian.Uint64(script[n-8:])>>(64-8*tail)
	}
	for i, c := range script[n-tail:] {
		word |= uint64(c) << (8 * i)
	}
	return word
}

// reduce maps a hash evenly to a number below limit.
func reduce(hash, limit uint64) uint64 {
	high, _ := bits.Mul64(hash, limit)
	return high
}
