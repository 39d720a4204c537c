package slhdsa

import "testing"

// forEachKernel runs a test with and without the SHA extensions, if there are
// any. Such a test is not parallel.
func forEachKernel(t *testing.T, test func(*testing.T)) {
	t.Helper()
	t.Run("portable", func(t *testing.T) {
		setSHANI(t, false)
		test(t)
	})
	if setSHANI(t, true) {
		t.Run("sha extensions", test)
	}
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

// smallKey makes a key of it.
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
