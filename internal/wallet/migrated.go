package wallet

import (
	"github.com/seed61375155/trawl/internal/walletfile"
)

// Migrated returns a wallet without descriptors that is to take over the content of a
// legacy wallet. If the legacy wallet was encrypted, the new wallet is unlocked with
// the master key. Its changes are the new records of its file.
//
// Errors: [walletfile.ErrPassphrase].
func Migrated(
	p Params, flags walletfile.Flags, masterKeys map[uint32]walletfile.MasterKey, master *walletfile.Secret,
) (*Wallet, error) {
	w := newWallet(p, 0)
	w.log.Put(p.Version)
	w.flags.Set(flags)
	if len(masterKeys) > 0 {
		w.vault.LoadMasterKeys(masterKeys)
		if err := w.vault.Unlock(master); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// AddFlags sets flags beside those that are set.
func (w *Wallet) AddFlags(flags walletfile.Flags) { w.flags.Set(w.flags.Value() | flags) }
