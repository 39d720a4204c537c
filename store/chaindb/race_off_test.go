//go:build !race

package chaindb

// hasRaceDetector reports whether the tests run under the race detector.
const hasRaceDetector = false
