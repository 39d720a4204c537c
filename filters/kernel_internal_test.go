package filters

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// randomMessages returns random scripts of up to 300 bytes with the same number
// of message words, and their messages.
func randomMessages(rng *rand.Rand, count int) ([][]byte, *messages) {
	m := &messages{words: 1 + rng.IntN(38)}
	scripts := make([][]byte, count)
	for i := range scripts {
		scripts[i] = make([]byte, (m.words-1)*8+rng.IntN(8))
		for j := range scripts[i] {
			scripts[i][j] = byte(rng.Uint32())
		}
		m.add(scripts[i])
	}
	return scripts, m
}

// TestKernelHash holds each kernel's hash against the hash of one script.
func TestKernelHash(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 158))
	for _, k := range kernels() {
		for count := range 2*tileWidth + 3 {
			scripts, m := randomMessages(rng, count)
			key := sipKey{rng.Uint64(), rng.Uint64()}
			limit := rng.Uint64() >> rng.IntN(64)
			got := make([]uint64, count, tileCeil(count))
			k.hash(got, m.tiles, m.words, key, limit)
			for i, script := range scripts {
				if want := reduce(sipHash(key, script), limit); got[i] != want {
					t.Fatalf("%s: message %d of %d: got %d, want %d", k.name(), i, count, got[i], want)
				}
			}
		}
	}
}

// TestKernelSift sifts numbers of all amounts, and looks that none behind the
// last tile changes.
func TestKernelSift(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 158))
	for _, k := range kernels() {
		for count := range 2*tileWidth + 3 {
			limit := 1 + rng.Uint64N(3_000*M)
			bitmap := make([]uint64, limit>>wordShift+1)
			for i := range bitmap {
				bitmap[i] = rng.Uint64() & rng.Uint64()
			}
			memory := make([]uint64, tileCeil(count)+8)
			for i := range memory {
				memory[i] = rng.Uint64N(limit)
			}
			behind := slices.Clone(memory[tileCeil(count):])
			var want []uint64
			for _, h := range memory[:count] {
				if bitmap[h>>wordShift]>>(h>>slotShift%64)&1 != 0 {
					want = append(want, h)
				}
			}
			hashes := memory[:count:tileCeil(count)]
			got := hashes[:k.sift(hashes, bitmap)]
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) || !slices.Equal(memory[tileCeil(count):], behind) {
				t.Fatalf("%s: %d hashes: got %d, want %d", k.name(), count, got, want)
			}
		}
	}
}
