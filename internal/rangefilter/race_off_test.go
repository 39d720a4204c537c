//go:build !race

package rangefilter_test

// hasRaceDetector reports whether the tests run under the race detector.
const hasRaceDetector = false
