package bitcoin

import (
	"sync"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
)

// btcd enforces BIP16 for blocks whose time is after 1 April 2012. Core enforces it
// for all blocks but one of the main chain and one of testnet3 (chainparams.cpp), so
// that chains of tests, whose blocks may be as old as their genesis block, can spend
// witness outputs. The time is a variable of btcd's whole package: it is set for
// good, and changed for the time it takes to validate one of these two blocks.

// bip16 is held for reading while blocks are validated, and for writing by whoever
// changes the time.
var bip16 = func() *sync.RWMutex {
	txscript.Bip16Activation = always
	return new(sync.RWMutex)
}()

var (
	always = time.Unix(0, 0)
	never  = time.Unix(1<<40, 0)
)

// withoutBIP16 are the blocks that BIP16 is not enforced for.
var withoutBIP16 = map[chainhash.Hash]bool{
	hashOf("00000000000002dc756eebf4f49723ed8d30cc28a5f108eb94b1ba88ac4f9c22"): true,
	hashOf("00000000dd30457c001f4095d208cc1296b0eed002427aa599874af7a02b105e"): true,
}

func hashOf(text string) chainhash.Hash {
	hash, err := chainhash.NewHashFromStr(text)
	if err != nil {
		panic(err)
	}
	return *hash
}

// validating runs work that validates a block.
func validating(hash *chainhash.Hash, work func() error) error {
	if !withoutBIP16[*hash] {
		bip16.RLock()
		defer bip16.RUnlock()
		return work()
	}
	bip16.Lock()
	defer bip16.Unlock()
	txscript.Bip16Activation = never
	defer func() { txscript.Bip16Activation = always }()
	return work()
}
