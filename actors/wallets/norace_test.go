//go:build !race

package wallets_test

const raceEnabled = false
