package wallets

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// A service serves one kind of request to a wallet that is loaded.
type service[Q messages.Request[R], R any] = func(*Wallet, actor.Context, *ask.Call[Q, R])

// after has a request wait until wait calls back, and then served. It is refused with the error of wait.
func after[Q messages.Request[R], R any](
	wait func(w *Wallet, c actor.Context, then func(error)), serve service[Q, R],
) service[Q, R] {
	return func(w *Wallet, c actor.Context, call *ask.Call[Q, R]) {
		wait(w, c, func(err error) {
			if err != nil {
				var none R
				call.Answer(none, err)
				return
			}
			serve(w, c, call)
		})
	}
}

// atOnce answers without waiting for anything.
func atOnce[Q messages.Request[R], R any](answer func(*Wallet, Q) (R, error)) service[Q, R] {
	return func(w *Wallet, _ actor.Context, m *ask.Call[Q, R]) { m.Answer(answer(w, m.Req)) }
}

// reported answers at once with a report.
func reported[Q messages.Request[R], R any](report func(*txs.Reports, Q) R) service[Q, R] {
	return atOnce(func(w *Wallet, q Q) (R, error) { return report(w.ledger.Reports(), q), nil })
}

// changed answers when a change is on disk.
func changed[Q messages.Request[R], R any](change func(*Wallet, Q) (R, error)) service[Q, R] {
	return func(w *Wallet, c actor.Context, m *ask.Call[Q, R]) {
		changing(c, w, m, func() (R, error) { return change(w, m.Req) })
	}
}

// getInfo waits for the tip: which block the wallet has seen is part of the answer.
func (w *Wallet) getInfo(c actor.Context, m *ask.Call[messages.GetWalletInfo, messages.WalletInfo]) {
	w.pool.whenCurrent(c, func(error) { w.pool.whenWritten(func() { m.Answer(w.info(), nil) }) })
}

func (w *Wallet) abortRescan(messages.AbortRescan) (bool, error) {
	return w.scan.abort(), nil
}

func (w *Wallet) received(q messages.GetReceived) (btcutil.Amount, error) {
	return w.ledger.Reports().Received(q)
}

func (w *Wallet) transaction(q messages.GetTransaction) (messages.TxDetails, error) {
	return w.ledger.Reports().Transaction(&q.TxID)
}

func (w *Wallet) listGroupings(messages.ListGroupings) ([][]messages.GroupedAddress, error) {
	return w.ledger.Reports().Groupings(), nil
}

func (w *Wallet) simulate(q messages.SimulateTxs) (btcutil.Amount, error) {
	return w.ledger.Simulate(&q)
}

func (w *Wallet) listDescriptors(_ actor.Context, m *ask.Call[messages.ListDescriptors, []messages.WalletDescriptor]) {
	w.whenAdded(func() { m.Answer(w.ledger.Keys().ListDescriptors(m.Req.Private)) })
}

func (w *Wallet) hdKeys(_ actor.Context, m *ask.Call[messages.GetHDKeys, []messages.HDKey]) {
	w.whenAdded(func() { m.Answer(w.ledger.Keys().HDKeys(m.Req.ActiveOnly, m.Req.Private)) })
}

func (w *Wallet) addressInfo(q messages.GetAddressInfo) (messages.AddressInfo, error) {
	return w.ledger.Keys().AddressInfo(q.Script), nil
}

func (w *Wallet) setLabel(q messages.SetLabel) (messages.Done, error) {
	return messages.Done{}, w.ledger.SetLabel(q)
}

func (w *Wallet) listLabels(q messages.ListLabels) ([]string, error) {
	return w.ledger.Book().Labels(q.Purpose), nil
}

func (w *Wallet) addressesByLabel(q messages.GetAddressesByLabel) ([]messages.LabelledAddress, error) {
	return w.ledger.Book().AddressesByLabel(q.Label)
}

func (w *Wallet) listLocked(messages.ListLocked) ([]wire.OutPoint, error) {
	return w.ledger.Txs().Locks().List(), nil
}

// changing carries out a request that changes the wallet, and answers it when
// the change is on disk.
func changing[Q messages.Request[R], R any](
	c actor.Context, w *Wallet, call *ask.Call[Q, R], change func() (R, error),
) {
	got, err := change()
	w.save(c, func(failed error) {
		if failed != nil {
			err = failed
		}
		call.Answer(got, err)
	})
}

// info completes the ledger's information with fees, unlocking and the scan.
func (w *Wallet) info() messages.WalletInfo {
	info := w.ledger.Info()
	info.PayFee = btcutil.Amount(w.spending.Pay)
	if info.Encrypted && !w.ledger.Vault().Locked() {
		info.UnlockedUntil = w.unlocker.until
	}
	if s := w.scan; s != nil {
		info.Scanning, info.ScanDuration, info.ScanProgress = true, time.Since(s.began), s.progress()
	}
	return info
}
