package txs

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// Concerned returns the transactions of the memory pool that pay to scripts or spend coins, and their
// descendants in the pool.
func Concerned(pool []messages.PoolTx, scripts [][]byte, coins map[wire.OutPoint]bool) []messages.PoolTx {
	wanted := make(map[string]bool, len(scripts))
	for _, pkScript := range scripts {
		wanted[string(pkScript)] = true
	}
	var found []messages.PoolTx // what spends from others after these
	taken, ids := make([]bool, len(pool)), make(map[chainhash.Hash]bool)
	concerns := func(t *wire.MsgTx) bool {
		return slices.ContainsFunc(t.TxOut, func(out *wire.TxOut) bool { return wanted[string(out.PkScript)] }) ||
			slices.ContainsFunc(t.TxIn, func(in *wire.TxIn) bool {
				return coins[in.PreviousOutPoint] || ids[in.PreviousOutPoint.Hash]
			})
	}
	for more := true; more; { // children may stand before their parents
		more = false
		for i := range pool {
			if !taken[i] && concerns(pool[i].Tx) {
				taken[i], ids[pool[i].ID], more = true, true, true
				found = append(found, pool[i])
			}
		}
	}
	return found
}
