package wallet

import (
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// Open takes over a wallet that was loaded. Its content must not be used
// afterwards, except to wipe the secrets. If clean is set, the file had no
// fault. Only then Open mends the remains of old versions: their version, the
// order of transactions, the caches, and master keys that nothing uses.
//
// The key pools are topped up as far as that is possible. Transactions in blocks
// that the chain does not have are unconfirmed. The tip is to be set next.
//
// Errors: [walletfile.ErrCorrupt].
func Open(content *walletfile.Wallet, clean bool, p Params, chain txs.Chain) (*Wallet, error) {
	w, err := Read(content, clean, p, chain)
	if err != nil {
		return nil, err
	}
	if !w.pool.Deferring() {
		w.pool.TopUp()
	}
	w.keys.ChooseDefaultTypes()
	w.keys.NoteActive()
	return w, nil
}

// Read is [Open] for a wallet that is only looked at: its key pools stay as they are.
//
// Errors: [walletfile.ErrCorrupt].
func Read(content *walletfile.Wallet, clean bool, p Params, chain txs.Chain) (*Wallet, error) {
	w := newWallet(p, content.Flags)
	w.vault.LoadMasterKeys(content.MasterKeys)
	w.book.Load(content.Addresses)
	if err := w.pool.Load(content); err != nil {
		return nil, err
	}
	w.txs.Load(content, chain)
	w.book.EndLoading()
	if clean {
		w.mend(content)
	}
	w.pubKeys.Load(content)
	return w, nil
}

// mend brings a file of an old version up to date.
func (w *Wallet) mend(content *walletfile.Wallet) {
	if content.Version == nil || *content.Version != w.params.Version {
		w.log.Put(w.params.Version)
	}
	if content.Unordered() {
		w.txs.Reorder()
	}
	w.pool.CompleteCaches()
	if w.flags.Has(walletfile.DisablePrivateKeys) {
		w.vault.DropMasterKeys()
	}
}
