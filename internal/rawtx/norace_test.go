//go:build !race

package rawtx

const raceEnabled = false
