//go:build race

package wallet_test

// raceEnabled tells that the race detector runs, with which deriving keys takes
// twenty times as long. Large wallets are left out then: nothing in them is
// concurrent that small ones have not.
const raceEnabled = true
