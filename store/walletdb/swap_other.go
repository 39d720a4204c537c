//go:build !linux

package walletdb

// swap swaps what two names lead to.
func swap(fresh, old string) error { return swapByNames(fresh, old) }
