//go:build !race

package enginetest

const hasRaceDetector = false
