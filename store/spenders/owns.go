package spenders

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/store/internal/dbfiles"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

// Look reads whose index lies in a folder. Nothing is changed, nor opened as a database.
func Look(dir string) (dbfiles.Verdict, error) { return dbfiles.Judge(dir, owns) }

// owns reports whether a pair can be one of this package's. Bitcoin Core has the same first
// letter, and no values.
func owns(key, value []byte) bool {
	if len(key) == 0 {
		return false
	}
	deleted := value == nil
	switch key[0] {
	case prefixBlock[0]:
		return len(key) == 1+numberSize && (deleted || len(value) == chainhash.HashSize)
	case prefixSpend[0]:
		return len(key) == spendKeySize && (deleted || len(value) == sumSize)
	}
	return ledger.Owns(key, value)
}
