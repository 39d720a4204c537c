//go:build !race

package wallet_test

const raceEnabled = false
