package wallets

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// serve serves a request to a wallet that is loaded.
func (w *Wallet) serve(c actor.Context, msg any) {
	switch {
	case w.serveHistory(c, msg), w.serveKeys(c, msg), w.serveAddresses(c, msg), w.servePubKeys(c, msg):
		return
	}
	switch m := msg.(type) {
	case *closeWallet:
		w.unload(c, m)
	case *getWalletInfo:
		w.current(c, func() { m.Answer(w.info(), nil) })
	case *backupWallet:
		w.current(c, func() { w.backup(c, m) })
	case *rescanChain:
		w.current(c, func() { w.rescanChain(c, m) })
	case *importDescriptors:
		w.current(c, func() { w.importDescriptors(c, m) })
	case *abortRescan:
		m.Answer(w.rescan != nil && w.rescan.abort(), nil)
	default:
		ask.Unhandled(c)
	}
}

// serveHistory serves what is answered from memory once the wallet has seen the
// tip.
func (w *Wallet) serveHistory(c actor.Context, msg any) bool {
	var answer func()
	switch m := msg.(type) {
	case *getBalances:
		answer = func() { m.Answer(w.ledger.Balances(m.Req), nil) }
	case *listReceived:
		answer = func() { m.Answer(w.ledger.ListReceived(m.Req), nil) }
	case *getReceived:
		answer = func() { m.Answer(w.ledger.Received(m.Req)) }
	case *listUnspent:
		answer = func() { m.Answer(w.ledger.ListUnspent(m.Req), nil) }
	case *listTransactions:
		answer = func() { m.Answer(w.ledger.ListTransactions(m.Req), nil) }
	case *getTransaction:
		answer = func() { m.Answer(w.ledger.Transaction(&m.Req.TxID)) }
	case *listSinceBlock:
		answer = func() { w.sinceBlock(c, m) }
	default:
		return false
	}
	w.current(c, answer)
	return true
}

// serveKeys serves what is about descriptors and keys.
func (w *Wallet) serveKeys(c actor.Context, msg any) bool {
	switch m := msg.(type) {
	case *listDescriptors:
		m.Answer(w.ledger.ListDescriptors(m.Req.Private))
	case *getHDKeys:
		m.Answer(w.ledger.HDKeys(m.Req.ActiveOnly, m.Req.Private))
	case *createDescriptor:
		w.createDescriptor(c, m)
	case *keypoolRefill:
		w.refill(c, m)
	case *encryptWallet:
		w.encrypt(c, m)
	case *unlockWallet:
		w.unlock(c, m)
	case *lockWallet:
		w.lock(m)
	case *changePassphrase:
		w.changePassphrase(c, m)
	case *signWithWallet:
		w.sign(c, m)
	default:
		return false
	}
	return true
}

// serveAddresses serves what is about addresses and labels.
func (w *Wallet) serveAddresses(c actor.Context, msg any) bool {
	switch m := msg.(type) {
	case *newAddress:
		w.newAddress(c, m)
	case *getAddressInfo:
		m.Answer(w.ledger.AddressInfo(m.Req.Script), nil)
	case *setLabel:
		changing(c, w, m, func() (messages.Done, error) {
			return messages.Done{}, w.ledger.SetLabel(m.Req)
		})
	case *listLabels:
		m.Answer(w.ledger.Labels(m.Req.Purpose), nil)
	case *getAddressesByLabel:
		m.Answer(w.ledger.AddressesByLabel(m.Req.Label))
	default:
		return false
	}
	return true
}

// changing carries out a request that changes the wallet, and answers it when
// the change is on disk.
func changing[Q messages.Request[R], R any](c actor.Context, w *Wallet, call *ask.Call[Q, R], change func() (R, error)) {
	got, err := change()
	w.save(c, func(failed error) {
		if failed != nil {
			err = failed
		}
		call.Answer(got, err)
	})
}

// info completes what the ledger knows of itself.
func (w *Wallet) info() messages.WalletInfo {
	info := w.ledger.Info()
	if info.Encrypted && !w.ledger.Locked() {
		info.UnlockedUntil = w.keys.until
	}
	if r := w.rescan; r != nil {
		info.Scanning = true
		info.ScanDuration = r.duration()
		info.ScanProgress = r.progress()
	}
	return info
}
