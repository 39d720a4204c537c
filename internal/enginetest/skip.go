package enginetest

import "testing"

// SkipUnderRace skips a long history of one goroutine under the race detector: `make large` runs it without.
func SkipUnderRace(tb testing.TB) {
	tb.Helper()
	if hasRaceDetector {
		tb.Skip("it takes too long under the race detector; `make large` runs it")
	}
}
