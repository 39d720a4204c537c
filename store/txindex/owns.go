package txindex

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/store/internal/dbfiles"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

// Look reads whose index lies in a folder. Nothing is changed, nor opened as a
// database.
func Look(dir string) (dbfiles.Verdict, error) { return dbfiles.Judge(dir, owns) }

// owns reports whether a pair can be one of this package's. Bitcoin Core, whose
// index has the same place and the same first letters, keeps other values.
func owns(key, value []byte) bool {
	if len(key) == 0 {
		return false
	}
	deleted := value == nil
	switch key[0] {
	case oldBest[0]:
		return len(key) == 1 && (deleted || len(value) == oldBestSize)
	case prefixBlock[0]:
		return len(key) == 1+4 && (deleted || len(value) == chainhash.HashSize)
	case prefixTx[0]:
		// Numbers are small; Core's value has no zeros there.
		return len(key) == 1+chainhash.HashSize && (deleted || len(value) >= oldRowSize && value[3]|value[7] == 0 &&
			(len(value) == oldRowSize || len(value) == rowSize && value[11] == 0))
	}
	return ledger.Owns(key, value)
}
