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

// TestKernelParts calls what kernels consist of for all numbers of messages and
// hashes up to more than two tiles of them.
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
	for _, k := range kernels() {
		for _, check := range []func(*testing.T, kernel, *rand.Rand, int){checkHash, checkSift, checkAcross, checkSiftLines} {
			check(t, k, rand.New(rand.NewPCG(state, 158)), count)
		}
	}
}

// checkHash holds a kernel's hash against the hash of one script.
func checkHash(t *testing.T, k kernel, rng *rand.Rand, count int) {
	t.Helper()
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

// checkSift sifts numbers, and looks that none behind the last tile changes.
func checkSift(t *testing.T, k kernel, rng *rand.Rand, count int) {
	t.Helper()
	limit := 1 + rng.Uint64N(3_000*M)
	bitmap := make([]uint64, limit>>wordShift+1)
	for i := range bitmap {
		bitmap[i] = rng.Uint64() & rng.Uint64()
	}
	sifts(t, k, rng, count, limit, func(h uint64) bool { return bitmap[h>>wordShift]>>(h>>slotShift%64)&1 != 0 },
		func(hashes []uint64) int { return k.sift(hashes, bitmap) })
}

// checkSiftLines does it by probe lines.
func checkSiftLines(t *testing.T, k kernel, rng *rand.Rand, count int) {
	t.Helper()
	n := 1 + rng.Uint32N(3_000)
	lines := randomLines(rng, n)
	sifts(t, k, rng, count, uint64(n)*M, func(h uint64) bool {
		return occupied(lines, h)
	}, func(hashes []uint64) int { return k.siftLines(hashes, lines) })
}

// sifts holds a way to sift count numbers below limit against which of them it
// shall keep.
func sifts(t *testing.T, k kernel, rng *rand.Rand, count int, limit uint64, keeps func(uint64) bool, sift func([]uint64) int) {
	t.Helper()
	memory := make([]uint64, tileCeil(count)+8)
	for i := range memory {
		memory[i] = rng.Uint64N(limit)
	}
	behind := slices.Clone(memory[tileCeil(count):])
	var want []uint64
	for _, h := range memory[:count] {
		if keeps(h) {
			want = append(want, h)
		}
	}
	hashes := memory[:count:tileCeil(count)]
	got := hashes[:sift(hashes)]
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || !slices.Equal(memory[tileCeil(count):], behind) {
		t.Fatalf("%s: %d hashes: got %d, want %d", k.name(), count, got, want)
	}
}

// randomLines returns random bytes as the probe lines of n elements.
func randomLines(rng *rand.Rand, n uint32) []byte {
	lines := make([]byte, LinesSize(n))
	for i := range lines {
		lines[i] = byte(rng.Uint32() & rng.Uint32())
	}
	return lines
}

// occupied reports whether the bit of a number is set in probe lines.
func occupied(lines []byte, v uint64) bool {
	line := lineOf(lines, v)
	bit := v >> slotBits % (64 * lineChunks)
	return line[bit/8]>>(bit%8)&1 != 0
}

// checkAcross hashes a script with the keys of several filters, and looks the
// hashes up in their lines.
func checkAcross(t *testing.T, k kernel, rng *rand.Rand, count int) {
	t.Helper()
	scripts, m := randomMessages(rng, 1+count)
	at, n := rng.IntN(len(scripts)), 1+count%vectorLanes
	var keys laneKeys
	var hashes [vectorLanes]uint64
	var all [vectorLanes][]byte
	var lines [vectorLanes]*byte
	for i := range vectorLanes {
		elements := 1 + rng.Uint32N(300)
		if i >= n { // as a matcher fills up what is left
			elements = 1
		}
		keys.k0[i], keys.k1[i], keys.limit[i] = rng.Uint64(), rng.Uint64(), uint64(elements)*M
		all[i] = randomLines(rng, elements)
		lines[i] = &all[i][0]
	}
	k.hashAcross(&hashes, m.tiles[tileAt(at, m.words):], m.words, &keys, n)
	for i, got := range hashes[:n] {
		if want := reduce(sipHash(sipKey{keys.k0[i], keys.k1[i]}, scripts[at]), keys.limit[i]); got != want {
			t.Fatalf("%s: key %d of %d: got %d, want %d", k.name(), i, n, got, want)
		}
	}
	found := k.lookAcross(&hashes, &lines, n)
	for i, h := range hashes[:n] {
		if got, want := found>>i&1 != 0, occupied(all[i], h); got != want {
			t.Fatalf("%s: line %d of %d: got %v, want %v", k.name(), i, n, got, want)
		}
	}
	if n < vectorLanes && found>>n != 0 {
		t.Fatalf("%s: found %b in %d", k.name(), found, n)
	}
}
