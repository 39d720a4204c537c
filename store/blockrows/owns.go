package blockrows

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/store/internal/dbfiles"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

// Look reads whose index lies in a folder. Nothing is changed, nor opened as a
// database.
func Look(dir string) (dbfiles.Verdict, error) { return dbfiles.Judge(dir, owns) }

// owns reports whether a pair can be one of this package's.
func owns(key, value []byte) bool {
	if len(key) == 0 {
		return false
	}
	switch key[0] {
	case oldBest[0]:
		return len(key) == 1 && (value == nil || len(value) >= bestSize)
	case prefixRow[0]:
		return len(key) == 1+chainhash.HashSize
	}
	return ledger.Owns(key, value)
}
