package slhdsa

import (
	"slices"
	"testing"
)

// forEachKernel runs a test with each kernel. Such a test is not parallel.
func forEachKernel(t *testing.T, test func(*testing.T)) {
	t.Helper()
	for _, k := range kernels {
		t.Run(k.name, func(t *testing.T) {
			useKernel(t, k)
			test(t)
		})
	}
}

// useKernel has the package use a kernel until the test ends.
func useKernel(tb testing.TB, k kernel) {
	tb.Helper()
	before := kernels
	tb.Cleanup(func() { kernels = before })
	kernels = slices.Insert(slices.Clone(kernels), 0, k)
}

// parseKey reads a private key of the vectors.
func parseKey(tb testing.TB, raw []byte) *PrivateKey {
	tb.Helper()
	key, err := ParsePrivateKey(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

func parsePublic(tb testing.TB, raw []byte) PublicKey {
	tb.Helper()
	key, err := ParsePublicKey(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// reserve counts signatures of a key that has made none.
func reserve(tb testing.TB, key PublicKey, n uint32) *Reservation {
	tb.Helper()
	reserved, err := Reserve([]Use{{Key: key, More: n}}, func([]Use) error { return nil })
	if err != nil {
		tb.Fatal(err)
	}
	return reserved
}

// small is an instance whose keys take a millisecond.
var small = params{layers: 2, layerHeight: 2, trees: 4, treeHeight: 5}

// smallKey makes a key of the small instance.
func smallKey(tb testing.TB, seed byte) *PrivateKey {
	tb.Helper()
	entropy := make([]byte, EntropySize)
	entropy[0] = seed
	key, err := small.generate(entropy)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}
