package wallets

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/store/walletdb"
)

// journal is what of a wallet is on its way to the disk. While one transaction
// is written, what changes meanwhile gathers for the next: many requests at a
// time wait for the disk once.
type journal struct {
	worker  *ask.Worker // nil: nothing is being written
	flying  []records.Change
	told    []func(error) // to be told of what is being written
	changes []records.Change
	tell    []func(error) // to be told of changes
	replace bool          // what is deleted must not stay in any file
}

// written says that a transaction is on disk, or failed.
type written struct{ err error }

// save writes what the ledger has changed, and then calls back: at once if there
// is nothing to wait for. A nil callback is not called.
func (w *Wallet) save(c actor.Context, then func(error)) {
	w.keygen.makeNext(c)
	j := &w.journal
	j.changes = append(j.changes, w.ledger.TakeChanges()...)
	if j.worker == nil && len(j.changes) == 0 && !j.replace {
		if then != nil {
			then(nil)
		}
		return
	}
	if then != nil {
		j.tell = append(j.tell, then)
	}
	w.flush(c)
}

// flush begins the next transaction, if the file is free.
func (w *Wallet) flush(c actor.Context) {
	j := &w.journal
	if j.worker != nil || len(j.changes)+len(j.tell) == 0 {
		return
	}
	if !w.fault.mayTry(time.Now(), w.cfg.retryAfter) {
		told := j.tell
		j.tell = nil
		for _, tell := range told {
			tell(w.fault.answer())
		}
		return
	}
	file, replace := w.file, j.replace
	j.flying, j.told = j.changes, j.tell
	j.changes, j.tell, j.replace = nil, nil, false
	changes := j.flying
	j.worker = ask.Go(c, func() any {
		if err := w.cfg.fail(); err != nil {
			return written{err}
		}
		if replace {
			return written{file.Replace(func(b *walletdb.Batch) error { return apply(b, changes) })}
		}
		return written{write(file, changes)}
	})
}

// wrote tells those who waited.
func (w *Wallet) wrote(c actor.Context, m written) {
	j := &w.journal
	told, flying := j.told, j.flying
	j.worker, j.flying, j.told = nil, nil, nil
	if m.err != nil {
		w.notWritten(c, told, flying, m.err)
		return
	}
	if len(flying) > 0 && w.fault.end() {
		w.cfg.Log.Info("wallet can be written again", "wallet", w.label())
		w.warn("")
	}
	w.publish(flying)
	for _, tell := range told {
		tell(nil)
	}
	if w.file != nil {
		w.flush(c)
	}
}

// rest writes what is left when the actor stops. A transaction that the worker
// has written is written again, which changes nothing.
func (j *journal) rest(file *walletdb.DB, changes []records.Change) error {
	all := append(append(j.flying, j.changes...), changes...)
	return write(file, all)
}
