package messages

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// A BlockID names a block. Its zero value stands for what is before the genesis block.
type BlockID struct {
	Hash   chainhash.Hash
	Height int32
}

// A ChainStep leads from one block some way to the tip of the active chain. Whoever
// carries it out takes back the Disconnected blocks in their order, then adds the
// Connected ones in theirs, and is at Last.
type ChainStep struct {
	Disconnected []BlockID // highest first
	Connected    []BlockID // ascending, each on the one before it
	Last         BlockID   // what to go on from
}
