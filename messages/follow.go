package messages

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// A BlockID names a block. Its zero value stands for the position before the genesis block.
type BlockID struct {
	Hash   chainhash.Hash
	Height int32
}

// A ChainStep leads from one block some way to the tip of the active chain: take back
// the Disconnected blocks in their order, then add the Connected blocks in theirs. The
// position is Last then.
type ChainStep struct {
	Disconnected []BlockID // highest first
	Connected    []BlockID // ascending, each on the one before it
	Last         BlockID   // what to go on from
}
