package dialect

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// HeaderSync says which headers of a chain are noted while its work is counted.
type HeaderSync struct {
	Period  int32 // of how many headers one leaves a bit
	Lookout int   // behind how many headers of the second reading one lies when it is let through
}

// A Snapshot is a set of unspent outputs that is known by its hash.
type Snapshot struct {
	Height int32
	Block  chainhash.Hash // that the set is as of
	Hash   chainhash.Hash // of the set: hash_serialized_3
	Txs    uint64         // of the chain up to the block
}

// Software is how the dialect's reference implementation presents itself, and so
// a node of this dialect.
type Software struct {
	Name       string // in texts that programs look for: "Bitcoin Core"
	Own        string // in all other texts that mean the program itself: "Trawl"
	Daemon     string // what the reference program is called in texts that programs look for: "bitcoind"
	Agent      string // in the user agent (BIP14), without slashes: "Satoshi:30.2.0"
	Version    int    // as a number: 300200
	ConfigFile string // "bitcoin.conf"
	Unit       string // of amounts: "BTC"
	Atom       string // the least amount: "sat"
}

// ChainTx says how many transactions a chain had at a time, and how fast their
// number grows.
type ChainTx struct {
	Time  int64 // seconds since 1970
	Count int64
	Rate  float64 // transactions a second from then on
}

// A Deployment is a consensus rule change as getdeploymentinfo reports it.
type Deployment struct {
	Name   string
	Buried bool

	Height int32 // first block with the rule; buried ones only

	// The rest is for those decided by BIP9.
	Bit                 uint8
	Start, Timeout      int64 // median times in seconds; see AlwaysActive, NeverActive, NoTimeout
	MinActivationHeight int32
	Period, Threshold   int32
}

// Special values of a Deployment's times.
const (
	AlwaysActive int64 = -1
	NeverActive  int64 = -2
	NoTimeout    int64 = 1<<63 - 1
)
