package txs

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/codes"
)

// Import takes in a transaction that a block of the active chain has at a place.
//
// Errors: [*messages.WalletError].
func (sp *Spending) Import(transaction *wire.MsgTx, block BlockRef, index int32, now int64) error {
	l := sp.ledger
	if !l.paysMe(transaction) {
		return codes.Errorf(codes.AddressOrKey, "No addresses in wallet correspond to included transaction")
	}
	l.applyTx(transaction, transaction.TxHash(), sync{
		state: state{kind: confirmed, block: block, index: index}, now: now,
	})
	return nil
}

// Remove forgets a transaction, in the file too. The coins that it spends can
// be spent again.
//
// Errors: [*messages.WalletError].
func (sp *Spending) Remove(id chainhash.Hash) error {
	l := sp.ledger
	t := l.txs[id]
	if t == nil {
		return codes.Errorf(codes.Wallet, "Transaction %v does not belong to this wallet", id)
	}
	delete(l.txs, id)
	l.states.remove(t)
	l.spends.remove(t)
	l.history.ordered = slices.DeleteFunc(l.history.ordered, func(other *tx) bool { return other == t })
	for _, out := range t.outs {
		delete(l.balances.coins, out)
		l.balances.add(out.place, -out.amount)
		out.to.outs = slices.DeleteFunc(out.to.outs, func(other *output) bool { return other == out })
	}
	l.refreshSpent(t)
	l.log.Remove(t.record.Key())
	if notes, any := t.record.Notes(); any {
		l.log.Remove(notes.Key())
	}
	return nil
}
