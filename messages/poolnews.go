package messages

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// A PoolReason is why a transaction left the pool.
type PoolReason uint8

// The reasons.
const (
	PoolExpiry PoolReason = iota + 1
	PoolSizeLimit
	PoolReorg
	PoolBlock // it is in a block
	PoolConflict
	PoolReplaced
)

// PoolChange is a transaction that came into the pool or left it.
type PoolChange struct {
	Tx       *wire.MsgTx
	ID, WID  chainhash.Hash
	Fee      int64 // what it pays
	VSize    int64
	Added    bool
	Reason   PoolReason // of leaving
	Sequence uint64     // of the pool; 0: it came back from a block that left the chain
	Number   uint64     // of the change, among all of the pool; 0: it is not known

	Unbroadcast bool // it has left before a peer asked for it
}

// PoolStep is a block that the pool has seen join the active chain, or leave it.
type PoolStep struct {
	Tip
	Connected bool
	Leap      bool // the pool is at this block without having seen all blocks on the way
	After     int  // how many of the changes announced with it came before
}

// PoolChanged announces changes of the pool in their order. Every listener gets all
// changes. Reset says that the pool is empty and new; a Leap follows, with the block
// that it begins at.
type PoolChanged struct {
	Changes  []PoolChange
	Announce []RelayTx  // what is to be announced to peers
	Blocks   []PoolStep // in their order
	Reset    bool

	// Alone says that the pool may not announce the next blocks, since it cannot read them or
	// is the copy of another pool. Until the pool's next step listeners follow the chain by
	// themselves.
	Alone bool
}

// RelayTx is a transaction of the pool that is to be announced to all peers, once
// more if it was before.
type RelayTx struct {
	ID, WID chainhash.Hash
	Own     bool // it is of our own, and to be announced until a peer asks for it
	Later   bool // it is not announced now, but with those that no peer has asked for
}
