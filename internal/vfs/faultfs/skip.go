package faultfs

import "testing"

// SkipUnderRace skips a test in which goleveldb cannot write tables. goleveldb then
// closes a channel beside a send to this channel, and recovers from the panic: a data
// race.
func SkipUnderRace(tb testing.TB) {
	tb.Helper()
	if hasRaceDetector {
		tb.Skip("goleveldb races where a compaction fails; `make large` runs this")
	}
}
