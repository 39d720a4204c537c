package txs

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/wallet/codes"
)

// Abandon gives up a transaction that is neither in a block nor in the mempool, with its
// descendants in the wallet. A descendant in conflict with a block stays in conflict.
//
// Errors: [*messages.WalletError].
func (sp *Spending) Abandon(id chainhash.Hash) error {
	l := sp.ledger
	t := l.txs[id]
	if t == nil {
		return codes.Errorf(codes.AddressOrKey, "Invalid or non-wallet transaction id")
	}
	if l.at.depth(t) != 0 || t.state.kind == inMempool {
		return codes.Errorf(codes.AddressOrKey, "Transaction not eligible for abandonment")
	}
	abandon(l, t)
	return nil
}

// abandon gives up a transaction with all that descends from it, as far as that is neither
// in a block nor in the mempool nor in conflict.
func abandon(l *Ledger, t *tx) {
	l.spends.descend(t, func(t *tx) bool {
		switch t.state.kind {
		case inactive, unrecognized:
			l.setState(t, state{kind: abandoned})
			l.writeTx(t)
			return true
		case abandoned, conflicted, inMempool, confirmed:
		}
		return false
	})
}
