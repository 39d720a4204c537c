// Package differ compares trawld with a live Bitcoin Core: both get the same
// requests on a regtest of their own, and the raw text of their replies has to be
// the same.
//
// It is meant for tests, those below this folder. If the environment variable BITCOIND
// names no bitcoind of Core 30, recorded answers of Core are used, for a few cases with one
// seed. A test without a recording is skipped. BITCOIND32 names the bitcoind for tests beside a
// later Core. With many cases, `make soak` runs all tests. The
// seed of a run is logged and may be given again:
//
//	BITCOIND=/path/to/bitcoind DIFFER_SEED=7 DIFFER_CASES=100000 go test -run Descriptors ./internal/differ/...
//
// This makes a new recording:
//
//	BITCOIND=/path/to/bitcoind TRAWL_RECORD_CORE=1 go test -count=1 -run '^TestDescriptors$' ./internal/differ
//
// Differences on purpose are named by an [Exception], with their reason; every other
// difference fails the test.
package differ

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e/replay"
)

// recorded are the seed and the time of cases whose answers are recorded.
const (
	recordedSeed = 302
	recordedTime = 1_764_547_200
)

// Recorded reports whether the cases are those of a recording. A recording should have few
// cases.
func Recorded() bool { return !replay.Live() }

// Now returns the time that the nodes have when a test begins.
func Now() time.Time {
	if Recorded() {
		return time.Unix(recordedTime, 0)
	}
	return time.Now()
}

// Cases returns how many cases a test tries: DIFFER_CASES, else few.
func Cases(tb testing.TB, few int) int {
	tb.Helper()
	if Recorded() {
		return few
	}
	return QbitCases(tb, few)
}

// QbitCases is Cases of tests beside qbitd, of which nothing is recorded.
func QbitCases(tb testing.TB, few int) int {
	tb.Helper()
	return int(number(tb, "DIFFER_CASES", uint64(few)))
}

// Random returns the source of a test's cases, and logs its seed: DIFFER_SEED, else one
// by the clock. Recorded cases are always the same.
func Random(tb testing.TB) *rand.Rand {
	tb.Helper()
	if Recorded() {
		return rand.New(rand.NewPCG(recordedSeed, 0)) //nolint:gosec // cases to try, no secrets
	}
	return QbitRandom(tb)
}

// QbitRandom is Random of tests beside qbitd, of which nothing is recorded.
func QbitRandom(tb testing.TB) *rand.Rand {
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
