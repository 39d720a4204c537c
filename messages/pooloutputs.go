package messages

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// GetPoolOutputs asks what the pool makes of outputs and spends of them, as it is when it is in a
// block: without a look at the chain.
type GetPoolOutputs struct {
	Asks[PoolOutputsFound]

	Outs []wire.OutPoint
}

// PoolOutputsFound is the answer to [GetPoolOutputs], in the order of the request.
type PoolOutputsFound struct {
	Tip  chainhash.Hash // of the chain that the pool follows
	Outs []PoolOutput
}

// A PoolOutput is an output as the pool sees it.
type PoolOutput struct {
	Here   bool        // its transaction is in the pool
	Spent  bool        // the pool spends it
	Output *wire.TxOut // nil where its transaction is not in the pool or has no such output
}
