//go:build race

package rawtx

// raceEnabled tells that the race detector runs. Functions without goroutines take ten times as long with it: `make
// large` tests some without.
const raceEnabled = true
