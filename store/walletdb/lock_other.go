//go:build !unix

package walletdb

// An open file cannot be deleted here.
func share(string) (release func()) { return func() {} }

func exclude(string) (release func(), ok bool) { return func() {}, true }

func inUse(string) bool { return false }
