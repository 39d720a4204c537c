package siphash_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/siphash"
)

// The vectors of the reference: byte i of the key and of the message is i. Vectors
// of more than 63 bytes were made with another implementation.
func TestVectors(t *testing.T) {
	vectors := map[int]uint64{
		0: 0x726fdb47dd0e0e31, 1: 0x74f839c593dc67fd, 2: 0x0d6c8009d9a94f5a, 3: 0x85676696d7fb7e2d,
		4: 0xcf2794e0277187b7, 5: 0x18765564cd99a68d, 6: 0xcbc9466e58fee3ce, 7: 0xab0200f58b01d137,
		8: 0x93f5f5799a932462, 9: 0x9e0082df0ba9e4b0, 10: 0x7a5dbbc594ddb9f3, 11: 0xf4b32f46226bada7,
		12: 0x751e8fbc860ee5fb, 13: 0x14ea5627c0843d90, 14: 0xf723ca908e7af2ee, 15: 0xa129ca6149be45e5,
		16: 0x3f2acc7f57c29bdb, 17: 0x699ae9f52cbe4794, 18: 0x4bc1b3f0968dd39c, 62: 0xe51b38608ef25f57,
		63: 0x958a324ceb064572, 255: 0xa9c169fec74db21a, 256: 0x999d0526d2a7bfd7, 257: 0x8a817b8d55b29748,
	}
	var key [16]byte
	for i := range key {
		key[i] = byte(i)
	}
	var message []byte
	seen := 0
	for length := range 258 {
		if want, ok := vectors[length]; ok {
			seen++
			if got := siphash.SumKey(&key, message); got != want {
				t.Errorf("%d bytes: %#x, want %#x", length, got, want)
			}
			if got := siphash.Sum(0x0706050403020100, 0x0f0e0d0c0b0a0908, message); got != want {
				t.Errorf("%d bytes, key as words: %#x, want %#x", length, got, want)
			}
		}
		message = append(message, byte(length))
	}
	if seen != len(vectors) {
		t.Errorf("%d of %d vectors seen", seen, len(vectors))
	}
}
