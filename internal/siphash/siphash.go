// Package siphash computes SipHash-2-4, a short keyed hash: of scripts in filters
// (BIP158), of transactions in compact blocks (BIP152), of scripts in range filters.
//
// [Init0] to [Init3] and [Round] are its parts, for code that hashes several messages
// at a time.
package siphash

import (
	"encoding/binary"
	"math/bits"
)

// Initial state, "somepseudorandomlygeneratedbytes" in ASCII.
const (
	Init0 = 0x736f6d6570736575
	Init1 = 0x646f72616e646f6d
	Init2 = 0x6c7967656e657261
	Init3 = 0x7465646279746573
)

// Round is one SipRound. It must stay small enough to be inlined.
func Round(v0, v1, v2, v3 uint64) (r0, r1, r2, r3 uint64) {
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

// Sum returns the hash of a message under a key of 16 bytes, given as two little-endian
// words.
func Sum(k0, k1 uint64, message []byte) uint64 {
	v0, v1, v2, v3 := k0^Init0, k1^Init1, k0^Init2, k1^Init3
	rest := message
	for ; len(rest) >= 8; rest = rest[8:] {
		m := binary.LittleEndian.Uint64(rest)
		v3 ^= m
		v0, v1, v2, v3 = Round(v0, v1, v2, v3)
		v0, v1, v2, v3 = Round(v0, v1, v2, v3)
		v0 ^= m
	}
	m := LastWord(message)
	v3 ^= m
	v0, v1, v2, v3 = Round(v0, v1, v2, v3)
	v0, v1, v2, v3 = Round(v0, v1, v2, v3)
	v0 ^= m
	v2 ^= 0xff
	for range 4 {
		v0, v1, v2, v3 = Round(v0, v1, v2, v3)
	}
	return v0 ^ v1 ^ v2 ^ v3
}

// SumKey is [Sum] under a key in bytes.
func SumKey(key *[16]byte, message []byte) uint64 {
	return Sum(binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:]), message)
}

// LastWord returns the last word of a message as it is hashed: its last len%8 bytes,
// and its length modulo 256 as the highest byte.
func LastWord(message []byte) uint64 {
	n := len(message)
	word := uint64(n) << 56
	tail := n % 8
	if n >= 8 { // one load of the last 8 bytes; a shift by 64 gives zero
		return word | binary.LittleEndian.Uint64(message[n-8:])>>(64-8*tail)
	}
	for i, c := range message[n-tail:] {
		word |= uint64(c) << (8 * i)
	}
	return word
}
