// Package differ compares trawld with a live Bitcoin Core: both get the same
// requests on a regtest of their own, and the raw text of their replies has to be
// the same.
//
// It is meant for tests, those below this folder. They skip where the environment
// variable BITCOIND names no bitcoind of Core 30; `make soak` runs them with many
// cases. A run is known by its seed, which is logged and may be given again:
//
//	BITCOIND=/path/to/bitcoind DIFFER_SEED=7 DIFFER_CASES=100000 go test -run Descriptors ./internal/differ/...
//
// What is different on purpose is named by an [Exception], with its reason; every
// other difference fails the test.
package differ

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// Cases returns how many cases a test tries: DIFFER_CASES, else few.
func Cases(tb testing.TB, few int) int {
	tb.Helper()
	return int(number(tb, "DIFFER_CASES", uint64(few)))
}

// Random returns the source of a test's cases, and logs its seed: DIFFER_SEED,
// else one by the clock.
func Random(tb testing.TB) *rand.Rand {
	tb.Helper()
	seed := number(tb, "DIFFER_SEED", uint64(time.Now().UnixNano()))
	tb.Logf("DIFFER_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // cases to try, no secrets
}

func number(tb testing.TB, variable string, otherwise uint64) uint64 {
	tb.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		tb.Fatalf("%s: %v", variable, err)
	}
	return n
}
