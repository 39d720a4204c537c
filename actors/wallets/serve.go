package wallets

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// serve serves a request to a wallet that is loaded.
func (w *Wallet) serve(c actor.Context, msg any) {
	switch {
	case w.serveHistory(c, msg), w.serveKeys(c, msg), w.serveAddresses(c, msg), w.servePubKeys(c, msg),
		serveFunds(c, w, msg), w.spender.serve(c, msg):
		return
	}
	switch m := msg.(type) {
	case *closeWallet:
		w.unload(c, m)
	case *getWalletInfo:
		w.pool.whenCurrent(c, func(error) { // which block it has seen is part of the answer
			w.pool.whenWritten(func() { m.Answer(w.info(), nil) })
		})
	case *backupWallet:
		w.pool.whenCurrent(c, func(error) { w.backup(c, m) }) // the copy says which block it has seen
	case *rescanChain:
		current(c, w, m, func() { whenWritable(c, w, m, func() { w.rescanChain(c, m) }) })
	case *importDescriptors:
		current(c, w, m, func() { whenWritable(c, w, m, func() { w.imports.start(c, m, w.mayRescan()) }) })
	case *seePool:
		w.pool.resendIfDue(c, m.Req.Passed, func() { w.pool.seePool(c, m) })
	case *abortRescan:
		m.Answer(w.rescans.abort() || !w.rescans.running() && w.imports.abort(), nil)
	default:
		ask.Unhandled(c)
	}
}

// serveHistory serves what is answered from memory once the wallet has seen the
// tip.
func (w *Wallet) serveHistory(c actor.Context, msg any) bool {
	switch m := msg.(type) {
	case *getBalances:
		current(c, w, m, func() { m.Answer(w.ledger.Reports().Balances(m.Req), nil) })
	case *listReceived:
		current(c, w, m, func() { m.Answer(w.ledger.Reports().ListReceived(m.Req), nil) })
	case *getReceived:
		current(c, w, m, func() { m.Answer(w.ledger.Reports().Received(m.Req)) })
	case *listUnspent:
		current(c, w, m, func() { m.Answer(w.ledger.Reports().ListUnspent(m.Req), nil) })
	case *listTransactions:
		current(c, w, m, func() { m.Answer(w.ledger.Reports().ListTransactions(m.Req), nil) })
	case *getTransaction:
		current(c, w, m, func() { m.Answer(w.ledger.Reports().Transaction(&m.Req.TxID)) })
	case *listSinceBlock:
		current(c, w, m, func() { w.sinceBlock(c, m) })
	case *listGroupings:
		current(c, w, m, func() { m.Answer(w.ledger.Reports().Groupings(), nil) })
	case *simulateTxs:
		m.Answer(w.ledger.Simulate(&m.Req))
	default:
		return false
	}
	return true
}

// serveKeys serves what is about descriptors and keys.
func (w *Wallet) serveKeys(c actor.Context, msg any) bool {
	switch m := msg.(type) {
	case *listDescriptors:
		w.imports.whenAdded(func() { m.Answer(w.ledger.Keys().ListDescriptors(m.Req.Private)) })
	case *getHDKeys:
		w.imports.whenAdded(func() { m.Answer(w.ledger.Keys().HDKeys(m.Req.ActiveOnly, m.Req.Private)) })
	case *createDescriptor:
		whenWritable(c, w, m, func() { w.keygen.createDescriptor(c, m) })
	case *keypoolRefill:
		whenWritable(c, w, m, func() { w.keygen.refill(c, m) })
	case *encryptWallet:
		whenWritable(c, w, m, func() { w.unlocker.encrypt(c, m) })
	case *unlockWallet:
		w.unlocker.unlock(c, m, func() { w.keygen.deferFill(c) })
	case *lockWallet:
		w.unlocker.lock(c, m)
	case *changePassphrase:
		whenWritable(c, w, m, func() { w.unlocker.changePassphrase(c, m) })
	case *signWithWallet:
		w.signer.sign(c, m)
	case *fillPacket:
		w.signer.fill(c, m)
	case *displayAddress:
		w.signer.display(c, m)
	case *signDataHash:
		current(c, w, m, func() { w.signer.signDataHash(c, m) })
	case *signMessage:
		m.Answer(w.signer.signMessage(&m.Req))
	default:
		return false
	}
	return true
}

// serveAddresses serves what is about addresses and labels.
func (w *Wallet) serveAddresses(c actor.Context, msg any) bool {
	switch m := msg.(type) {
	case *newAddress:
		whenWritable(c, w, m, func() { w.keygen.newAddress(c, m) })
	case *getAddressInfo:
		m.Answer(w.ledger.Keys().AddressInfo(m.Req.Script), nil)
	case *setLabel:
		whenWritable(c, w, m, func() {
			changing(c, w, m, func() (messages.Done, error) { return messages.Done{}, w.ledger.SetLabel(m.Req) })
		})
	case *listLabels:
		m.Answer(w.ledger.Book().Labels(m.Req.Purpose), nil)
	case *getAddressesByLabel:
		m.Answer(w.ledger.Book().AddressesByLabel(m.Req.Label))
	default:
		return false
	}
	return true
}

// saver writes what has changed, and calls back.
type saver interface {
	save(c actor.Context, then func(error))
}

// changing carries out a request that changes the wallet, and answers it when
// the change is on disk.
func changing[Q messages.Request[R], R any](
	c actor.Context, w saver, call *ask.Call[Q, R], change func() (R, error),
) {
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
	info.PayFee = btcutil.Amount(w.spender.options.Pay)
	if info.Encrypted && !w.ledger.Vault().Locked() {
		info.UnlockedUntil = w.unlocker.until
	}
	if r := w.rescans.now; r != nil {
		info.Scanning, info.ScanDuration, info.ScanProgress = true, time.Since(r.began), r.progress()
	}
	if i := w.imports.now; i != nil { // it began before its rescan, and ends after it
		info.Scanning, info.ScanDuration = true, time.Since(i.began)
		if !w.rescans.running() && i.rescans {
			info.ScanProgress = 1
		}
	}
	return info
}
