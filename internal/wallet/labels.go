package wallet

import (
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// labelsOf returns the labels of addresses, the comments of transactions, and which coins are locked.
func labelsOf(w *Wallet) messages.WalletLabels {
	all := messages.WalletLabels{Txs: txs.Comments(w.txs)}
	for _, e := range w.book.Labelled() {
		if script := e.Script(); script != nil {
			all.Addresses = append(all.Addresses, messages.AddressLabel{Script: script, Label: e.Label()})
		}
	}
	for _, at := range w.txs.Locks().List() {
		all.Outputs = append(all.Outputs, messages.OutputLabel{Out: at})
	}
	return all
}

// putLabels sets labels, and leaves out all that the wallet cannot have.
func putLabels(w *Wallet, all *messages.WalletLabels) (done messages.LabelsPut) {
	count := func(put bool) {
		if put {
			done.Put++
		} else {
			done.Left++
		}
	}
	w.book.Together(func() {
		for i := range all.Addresses {
			a := &all.Addresses[i]
			count(w.SetLabel(messages.SetLabel{Script: a.Script, Label: a.Label}) == nil)
		}
	})
	for i := range all.Txs {
		count(txs.SetComment(w.txs, all.Txs[i].TxID, all.Txs[i].Label))
	}
	for i := range all.Outputs {
		count(setSpendable(w, &all.Outputs[i]))
	}
	return done
}

// setSpendable locks a coin, or unlocks it.
func setSpendable(w *Wallet, o *messages.OutputLabel) bool {
	if w.txs.Locks().Has(o.Out) != o.Spendable {
		return w.spending.Knows(o.Out.Hash) // nothing changes
	}
	return w.Lock(&messages.LockCoins{Unlock: o.Spendable, Coins: []wire.OutPoint{o.Out}, Persist: true}) == nil
}
