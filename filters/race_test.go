//go:build race

package filters_test

// raceEnabled tells that the race detector runs. Functions without goroutines take ten times as long with it: `make
// large` tests some without.
const raceEnabled = true
