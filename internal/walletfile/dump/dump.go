// Package dump reads and writes wallet files as text, in the form of Bitcoin Core's wallet tool. Each line has a key
// and a value in hex, with a comma between them.
//
//	BITCOIN_CORE_WALLET_DUMP,1
//	format,sqlite
//	<key>,<value>
//	…
//	checksum,<the double SHA-256 of all lines before, in hex>
//
// A text without its last line, or with another checksum, is refused: half of a dump does not look whole. Texts
// may come from anyone: memory is bounded by the longest line, which has a limit, and nothing panics.
//
// Source: Bitcoin Core v30, wallet/dump.cpp.
package dump

import (
	"crypto/sha256"
	"fmt"
	"hash"
)

const (
	magic    = "BITCOIN_CORE_WALLET_DUMP"
	version  = 1
	formatOf = "format"
	sumOf    = "checksum"
)

// The formats of the files that are written as text.
const (
	SQLite   = "sqlite"
	Berkeley = "bdb" // legacy wallets; no wallet is made of these
)

// Error says in Core's words what is wrong with a text.
type Error string

// Error implements error.
func (e Error) Error() string { return string(e) }

func errorf(format string, args ...any) error { return Error(fmt.Sprintf(format, args...)) }

// doubled is the double SHA-256 of what a hash was given.
func doubled(h hash.Hash) [sha256.Size]byte {
	return sha256.Sum256(h.Sum(nil))
}
