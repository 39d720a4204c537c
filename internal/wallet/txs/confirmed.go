package txs

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// A Confirmed is a transaction of the wallet in a block.
type Confirmed struct {
	ID    chainhash.Hash
	Tx    *wire.MsgTx
	Block BlockRef
	Own   bool // it pays to the wallet or spends from it
}

// EachConfirmed visits the transactions that are in blocks, in no order.
func EachConfirmed(l *Ledger, visit func(Confirmed)) {
	for id, t := range l.txs {
		if t.state.kind == confirmed {
			visit(Confirmed{id, t.record.Tx, t.state.block, l.paysMe(t.record.Tx) || l.fromMe(t.record.Tx)})
		}
	}
}

// IDs returns the ids of all transactions.
func IDs(l *Ledger) map[chainhash.Hash]bool {
	ids := make(map[chainhash.Hash]bool, len(l.txs))
	for id := range l.txs {
		ids[id] = true
	}
	return ids
}
