package wallet

import (
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// Info returns a summary of the wallet, without what its owner knows better:
// until when it is unlocked, and whether it is being scanned.
func (w *Wallet) Info() messages.WalletInfo {
	info := messages.WalletInfo{
		Name:                w.params.Name,
		Format:              "sqlite",
		TxCount:             len(w.txs) + w.misfiled,
		Encrypted:           w.Encrypted(),
		PrivateKeys:         !w.flags.Has(walletfile.DisablePrivateKeys),
		AvoidReuse:          w.flags.Has(walletfile.AvoidReuse),
		Blank:               w.flags.Has(walletfile.Blank),
		Flags:               w.flags.Value().Names(),
		LastProcessedHash:   w.tip.Hash,
		LastProcessedHeight: w.tip.Height,
	}
	if w.told != noTime {
		info.Birthtime = w.told
	}
	for slot, s := range w.active {
		if !slot.Internal {
			info.KeypoolSize += s.poolSize()
		}
	}
	for _, s := range w.activeSources() {
		info.KeypoolSizeInternal += s.poolSize()
	}
	info.KeypoolSizeInternal -= info.KeypoolSize
	info.PQC = w.Validation()
	return info
}
