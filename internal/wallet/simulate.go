package wallet

import (
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// Simulate returns by how much transactions would change what the wallet has. They may
// spend the outputs that are known and those of the ones before them, each once.
//
// Errors: [*messages.WalletError].
func (w *Wallet) Simulate(r *messages.SimulateTxs) (change btcutil.Amount, err error) {
	made := make(map[wire.OutPoint]btcutil.Amount)
	spent := make(map[wire.OutPoint]bool)
	for _, tx := range r.Txs {
		for _, in := range tx.TxIn {
			at := in.PreviousOutPoint
			if spent[at] {
				return 0, codes.Errorf(codes.Parameter,
					"Transaction(s) are spending the same output more than once")
			}
			spent[at] = true
			if amount, ok := made[at]; ok {
				change -= amount
				continue
			}
			if !r.Known[at] {
				return 0, codes.Errorf(codes.Parameter,
					"One or more transaction inputs are missing or have been spent already")
			}
			if own, ok := w.spending.Output(at); ok {
				change -= own.Amount
			}
		}
		id := tx.TxHash()
		for i, out := range tx.TxOut {
			var amount btcutil.Amount
			if w.keys.IsMine(out.PkScript) {
				amount = btcutil.Amount(out.Value)
			}
			made[wire.OutPoint{Hash: id, Index: uint32(i)}] = amount
			change += amount
		}
	}
	return change, nil
}

// SetFlag changes a flag that may be changed.
//
// Errors: [*messages.WalletError].
func (w *Wallet) SetFlag(name string, value bool) error {
	flag, known := walletfile.FlagNamed(name)
	switch {
	case !known:
		return codes.Errorf(codes.Parameter, "Unknown wallet flag: %s", name)
	case flag&walletfile.MutableFlags == 0:
		return codes.Errorf(codes.Parameter, "Wallet flag is immutable: %s", name)
	case w.flags.Has(flag) == value:
		return codes.Errorf(codes.Parameter, "Wallet flag is already set to %t: %s", value, name)
	case value:
		w.flags.Set(w.flags.Value() | flag)
	default:
		w.flags.Set(w.flags.Value() &^ flag)
	}
	return nil
}
