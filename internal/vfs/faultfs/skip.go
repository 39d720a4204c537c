package faultfs

import "testing"

// SkipUnderRace skips a test in which goleveldb cannot write tables. It then closes a
// channel beside a send to it, and recovers from what comes of that.
func SkipUnderRace(tb testing.TB) {
	tb.Helper()
	if hasRaceDetector {
		tb.Skip("goleveldb races where a compaction fails; `make large` runs this")
	}
}
