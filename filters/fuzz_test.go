package filters_test

import (
	"bytes"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
)

// FuzzKernels decodes and matches batches of good and damaged filters with each
// kernel and in both ways, and holds elements, hits and errors against the slow
// decoder and btcutil. Filters lie before memory that may not be read.
//
// The numbers determine the scripts to look for, from none to several chunks, of
// all lengths, some twice. They also determine the number of filters, from none
// to several groups of lanes, and of elements, from none to 65,536 and more.
func FuzzKernels(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed, uint8(seed*7), uint16(seed*131), uint16(seed*seed*6), []byte{})
	}
	f.Add(uint64(1), uint8(40), uint16(20), uint16(3), append([]byte{40}, slices.Repeat([]byte{0xff, 0, 0}, 60)...))
	f.Add(uint64(2), uint8(9), uint16(100), uint16(600), filters.Encode([]uint64{7, 99, 2 * filters.M}))
	f.Add(uint64(3), uint8(33), uint16(300), uint16(257), append(slices.Repeat([]byte{0xfe}, 5), make([]byte, 100)...))
	f.Add(uint64(4), uint8(5), uint16(0), uint16(1), []byte{0})
	f.Fuzz(func(t *testing.T, seed uint64, size uint8, n, k uint16, given []byte) {
		rng := newRand(seed)
		scripts := fuzzScripts(rng, int(k))
		batch := append(fuzzBatch(rng, int(size), int(n), scripts), filters.Filter{Block: randomHash(rng), Data: given})
		var guard guard
		var data [][]byte
		for i := range batch {
			f := &batch[i]
			f.Data = guard.before(randomTail(rng, f.Data))
			data = append(data, f.Data)
			if f.Unsure = rng.IntN(4) == 0; f.Unsure {
				f.Sum = crc32.ChecksumIEEE(f.Data)
				f.Sum ^= rng.Uint32N(8) / 7 // of eight, one is wrong
			}
		}
		want, wantBad := oracleBatch(t, batch, scripts)
		q := filters.NewQuery(scripts)
		for _, name := range filters.KernelNames() {
			useKernel(t, name)
			checkKernelDecode(t, name, data)
			for _, search := range []bool{true, false} {
				m := newMatcher(q)
				m.ForceMode(search)
				checkHits(t, name, m, batch, want, wantBad)
			}
		}
	})
}

// fuzzScripts returns up to 800 scripts of all lengths, of which some are empty,
// or there twice.
func fuzzScripts(rng *rand.Rand, k int) [][]byte {
	kinds := usualKinds
	if rng.IntN(2) == 0 {
		kinds = scriptKinds
	}
	scripts := randomScripts(rng, k%[]int{4, 20, 70, 300, 800}[rng.IntN(5)], kinds)
	for i := range scripts {
		switch rng.IntN(100) {
		case 0:
			scripts[i] = nil
		case 1, 2:
			scripts[i] = scripts[rng.IntN(len(scripts))]
		}
	}
	return scripts
}

// fuzzBatch returns up to 79 filters of all but the same size, which is the
// smaller the more they are; rarely one is huge.
func fuzzBatch(rng *rand.Rand, size, n int, scripts [][]byte) []filters.Filter {
	size %= 80
	n %= 1 + min([]int{600, 2_000, 12_000}[rng.IntN(3)]/(size+1), 2_000)
	batch := make([]filters.Filter, size)
	for i := range batch {
		batch[i] = randomFilter(rng, n+rng.IntN(1+n/16), scripts)
	}
	if size > 0 && rng.IntN(500) == 0 {
		batch[rng.IntN(size)] = randomFilter(rng, 1<<16-1+rng.IntN(3), scripts)
	}
	return batch
}

// checkKernelDecode holds the elements that the kernel in use decodes against
// those of the slow decoder.
func checkKernelDecode(t *testing.T, name string, data [][]byte) {
	t.Helper()
	got, errs := filters.KernelDecode(method, data...)
	for i := range data {
		want, ok := slowDecode(data[i])
		if (errs[i] == nil) != ok || ok && !slices.Equal(got[i], want) {
			t.Fatalf("%s, filter %d of %d: got %v and %v, want %v", name, i, len(data), got[i], errs[i], want)
		}
	}
}

// checkHits holds what a matcher makes of a batch against what it should.
func checkHits(t *testing.T, name string, m *filters.Matcher, batch []filters.Filter, want []bool, wantBad int) {
	t.Helper()
	hits := make([]bool, len(batch))
	if bad := badIndex(m.Match(batch, hits)); !slices.Equal(hits, want) || bad != wantBad {
		t.Fatalf("%s: got %v and bad filter %d, want %v and %d", name, hits, bad, want, wantBad)
	}
}

// badIndex is the index of the first bad filter that an error of Match tells of,
// or -1.
func badIndex(err error) int {
	var bad *filters.BatchError
	if errors.As(err, &bad) {
		return bad.Index
	}
	return -1
}

// oracleBatch returns what Match has to: the hits, and the index of the first bad
// filter, or -1.
func oracleBatch(tb testing.TB, batch []filters.Filter, scripts [][]byte) (hits []bool, bad int) {
	tb.Helper()
	hits, bad = make([]bool, len(batch)), -1
	for i, f := range batch {
		_, ok := slowDecode(f.Data)
		if f.Unsure && f.Sum != crc32.ChecksumIEEE(f.Data) {
			ok = false
		}
		if ok {
			hits[i] = oracleMatch(tb, &f.Block, f.Data, scripts)
		} else if bad < 0 {
			bad = i
		}
	}
	return hits, bad
}

// FuzzMatch builds a filter of parts of the input and matches it against other
// parts with each kernel, and holds both against btcutil.
func FuzzMatch(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), uint8(1), uint8(3))
	f.Add([]byte{}, uint8(0), uint8(0))
	f.Add(make([]byte, 200), uint8(22), uint8(1))
	f.Add(bytes.Repeat([]byte("0123456789abcdef."), 300), uint8(6), uint8(7))
	f.Fuzz(func(t *testing.T, input []byte, elementLen, scriptLen uint8) {
		hash := chainhash.HashH(input)
		elements := distinct(slices.Chunk(input, int(elementLen)+1))
		scripts := append(distinct(slices.Chunk(input, int(scriptLen)+1)), nil, input)
		scripts = append(scripts, scripts[0])
		var builder filters.Builder
		filter := builder.Build(&hash, elements)
		if want := oracleBuild(t, &hash, elements); len(elements) > 0 && !slices.Equal(filter, want) {
			t.Fatalf("got filter %x, want %x", filter, want)
		}
		batch := []filters.Filter{{Block: hash, Data: filter}, {Block: hash, Data: filter}}
		withLines(t, &batch[1])
		batch = slices.Repeat(batch, 4)
		want := slices.Repeat([]bool{oracleMatch(t, &hash, filter, scripts)}, len(batch))
		q := filters.NewQuery(scripts)
		for _, name := range filters.KernelNames() {
			useKernel(t, name)
			checkHits(t, name, newMatcher(q), batch, want, -1)
		}
	})
}

// distinct collects the different ones of some scripts.
func distinct(scripts func(func([]byte) bool)) (all [][]byte) {
	seen := make(map[string]bool)
	for script := range scripts {
		if !seen[string(script)] {
			seen[string(script)] = true
			all = append(all, script)
		}
	}
	return all
}

// FuzzDecode holds Decode, and each kernel's way of decoding, against the slow
// decoder on arbitrary bytes.
func FuzzDecode(f *testing.F) {
	rng := newRand(3)
	hash := randomHash(rng)
	var b filters.Builder
	f.Add(b.Build(&hash, randomScripts(rng, 3, usualKinds)))
	f.Add(b.Build(&hash, randomScripts(rng, 300, usualKinds)))
	f.Add(filters.Encode([]uint64{7, 99 * filters.M, 99*filters.M + 1}))
	f.Add(append([]byte{40}, slices.Repeat([]byte{0xff, 0, 0}, 60)...))
	f.Add(heavyFilter(60))
	for _, run := range []uint64{9, 17, 18, 37, 38, 64} {
		f.Add(filters.Encode(valuesWithRun(run, 21)))
	}
	f.Add([]byte{})
	f.Add([]byte{0})
	f.Add(append(slices.Repeat([]byte{0xff}, 9), make([]byte, 100)...))
	f.Add(append(slices.Repeat([]byte{0xfe}, 5), make([]byte, 100)...))
	scripts := randomScripts(rng, 20, usualKinds)
	q := filters.NewQuery(scripts)
	f.Fuzz(func(t *testing.T, filter []byte) {
		want, ok := slowDecode(filter)
		got, err := filters.Decode(filter)
		if (err == nil) != ok || ok && !slices.Equal(got, want) {
			t.Fatalf("got %v and %v, want %v", got, err, want)
		}
		// Some with a byte left over, unless that completes the last element,
		// and as many as are decoded side by side.
		var guard guard
		var data [][]byte
		var batch []filters.Filter
		for i := range 6 {
			copied := guard.before(append(slices.Clip(filter), make([]byte, i/5)...))
			data = append(data, copied)
			batch = append(batch, filters.Filter{Block: hash, Data: copied})
		}
		wantHits, wantBad := oracleBatch(t, batch, scripts)
		for _, name := range filters.KernelNames() {
			useKernel(t, name)
			checkKernelDecode(t, name, data)
			for _, search := range []bool{true, false} {
				m := newMatcher(q)
				m.ForceMode(search)
				checkHits(t, name, m, batch, wantHits, wantBad)
			}
		}
	})
}
