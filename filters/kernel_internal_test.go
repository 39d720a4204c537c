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

func tilesOf(m *messages) []uint64 {
	if m.count == 0 {
		return nil
	}
	return m.tile(0)
}

// TestKernelParts calls the parts of kernels with each number of messages and
// hashes up to more than two tiles.
func TestKernelParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 158))
	for count := range 2*tileWidth + 3 {
		checkParts(t, rng, count)
	}
}

// FuzzKernelParts does it with whatever the numbers make.
func FuzzKernelParts(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(seed, uint16(seed*70))
	}
	f.Fuzz(func(t *testing.T, seed uint64, count uint16) {
		checkParts(t, rand.New(rand.NewPCG(seed, 158)), int(count%(chunk+1)))
	})
}

func checkParts(t *testing.T, rng *rand.Rand, count int) {
	t.Helper()
	state := rng.Uint64()
	for _, k := range kernels {
		for _, check := range []func(*testing.T, *kernel, *rand.Rand, int){checkHash, checkHashAndTest, checkProbe} {
			check(t, k, rand.New(rand.NewPCG(state, 158)), count)
		}
	}
}

// checkHash holds a kernel's hash against the hash of one script.
func checkHash(t *testing.T, k *kernel, rng *rand.Rand, count int) {
	t.Helper()
	scripts, m := randomMessages(rng, count)
	key := sipKey{rng.Uint64(), rng.Uint64()}
	limit := rng.Uint64() >> rng.IntN(64)
	got := make([]uint64, count, tileCeil(count))
	k.hash(got, tilesOf(m), m.words, key, limit)
	for i, script := range scripts {
		if want := reduce(sipHash(key, script), limit); got[i] != want {
			t.Fatalf("%s: message %d of %d: got %d, want %d", k.name, i, count, got[i], want)
		}
	}
}

// checkHashAndTest looks messages up in elements, and looks that the elements ahead are
// marked as they should be.
func checkHashAndTest(t *testing.T, k *kernel, rng *rand.Rand, count int) {
	t.Helper()
	scripts, m := randomMessages(rng, count)
	key := sipKey{rng.Uint64(), rng.Uint64()}
	var now, ahead elements
	now.begin(ascending(rng, 1+rng.IntN(200+rng.IntN(8_000))))
	k.mark(&now)
	checkMarked(t, k, &now)
	ahead.begin(ascending(rng, rng.IntN(400)))
	limit := uint64(len(now.values)) * M
	var slots []uint64
	for _, v := range now.values {
		slots = append(slots, v>>slotShift)
	}
	var want []uint64
	for _, script := range scripts {
		h := reduce(sipHash(key, script), limit)
		if _, found := slices.BinarySearch(slots, h>>slotShift); found {
			want = append(want, h)
			if _, found := slices.BinarySearch(now.values, h); now.containsAny([]uint64{h}) != found {
				t.Fatalf("%s: contains %d: got %v", k.name, h, !found)
			}
		}
	}
	memory := make([]uint64, tileCeil(count)+8)
	for i := range memory {
		memory[i] = rng.Uint64()
	}
	behind := slices.Clone(memory[tileCeil(count):])
	hashes := memory[:count:tileCeil(count)]
	got := hashes[:k.hashAndTest(hashes, tilesOf(m), m.words, key, limit, &now, &ahead)]
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || !slices.Equal(memory[tileCeil(count):], behind) {
		t.Fatalf("%s: %d hashes: got %d, want %d", k.name, count, got, want)
	}
	k.mark(&ahead)
	checkMarked(t, k, &ahead)
}

// ascending returns n values as of a filter, in ascending order, some of them
// close together.
func ascending(rng *rand.Rand, n int) []uint64 {
	values := make([]uint64, n)
	for i := range values {
		values[i] = rng.Uint64N(uint64(n) * M)
		if i > 0 && rng.IntN(10) == 0 {
			values[i] = min(values[i-1]+rng.Uint64N(1<<slotShift), uint64(n)*M-1)
		}
	}
	slices.Sort(values)
	return values
}

// checkMarked compares the cells with those of a simple way, and looks that all
// values are found.
func checkMarked(t *testing.T, k *kernel, e *elements) {
	t.Helper()
	want := make([]uint64, len(e.cells))
	for i, v := range e.values {
		cell := &want[v>>cellShift]
		if *cell == 0 {
			*cell = uint64(i) << 32
		}
		*cell |= 1 << (v >> slotShift % 32)
	}
	if !slices.Equal(e.cells, want) || e.done != len(e.values) {
		t.Fatalf("%s: %d of %d values are marked, or wrongly", k.name, e.done, len(e.values))
	}
	for _, v := range e.values {
		if !e.containsAny([]uint64{v}) {
			t.Fatalf("%s: %d of %d values is not found", k.name, v, len(e.values))
		}
	}
}
