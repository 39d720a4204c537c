//go:build race

package faultfs

// hasRaceDetector reports whether the tests run under the race detector.
const hasRaceDetector = true
