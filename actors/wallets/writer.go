package wallets

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/store/walletdb"
)

// writer has the changes of a wallet that are on their way to the disk. While
// one transaction is written, further changes gather for the next, so that many
// requests at a time wait for the disk once.
type writer struct {
	*Wallet
	file *walletdb.DB // nil: it is closed

	writing  bool
	inFlight []records.Change // being written
	called   []func(error)    // by what becomes of that
	changes  []records.Change // to be written next
	calls    []func(error)    // by what becomes of those
	replace  bool             // what is deleted must not stay in any file
}

// add has changes written, and calls back then: at once if there is nothing to wait
// for. A nil callback is not called.
func (w *writer) add(c actor.Context, changes []records.Change, then func(error)) {
	w.changes = append(w.changes, changes...)
	if !w.writing && len(w.changes) == 0 && !w.replace {
		if then != nil {
			then(nil)
		}
		return
	}
	if then != nil {
		w.calls = append(w.calls, then)
	}
	w.flush(c)
}

// flush begins the next transaction, if the file is free.
func (w *writer) flush(c actor.Context) {
	if w.writing || len(w.changes)+len(w.calls) == 0 {
		return
	}
	if !w.fault.mayTry(time.Now(), w.cfg.retryAfter) {
		called := w.calls
		w.calls = nil
		for _, call := range called {
			call(w.fault.answer())
		}
		return
	}
	file, replace := w.file, w.replace
	w.inFlight, w.called = w.changes, w.calls
	w.changes, w.calls, w.replace = nil, nil, false
	w.writing = true
	changes := w.inFlight
	w.lanes.beside.Add(c, func(j *ask.Job) {
		err := w.cfg.fail()
		switch {
		case err != nil:
		case replace:
			err = file.Replace(func(b *walletdb.Batch) error { return apply(b, changes) })
		default:
			err = write(file, changes)
		}
		_ = w.doAlways(j, func() { w.wrote(c, err) })
	})
}

// wrote calls those back who waited.
func (w *writer) wrote(c actor.Context, err error) {
	called, inFlight := w.called, w.inFlight
	w.writing, w.inFlight, w.called = false, nil, nil
	if err != nil {
		w.notWritten(c, called, inFlight, err)
		return
	}
	if len(inFlight) > 0 && w.fault.end() {
		w.cfg.Log.Info("wallet can be written again", "wallet", w.label())
		w.warn("")
	}
	w.logChanges(inFlight)
	w.publish(inFlight)
	for _, call := range called {
		call(nil)
	}
	if w.file != nil {
		w.flush(c)
	}
}

// rest writes what is left when the actor stops. A transaction that a job
// has written is written again, which changes nothing.
func (w *writer) rest(changes []records.Change) error {
	all := append(append(w.inFlight, w.changes...), changes...)
	return write(w.file, all)
}

// notWritten tells the waiting functions that the file could not be written. The
// first time the actor fails, and its next instance has the contents of the file.
// Later the only changes come from the chain and the pool, and these are kept.
func (w *writer) notWritten(c actor.Context, called []func(error), unwritten []records.Change, err error) {
	first := w.fault.begin(err, time.Now()) || !w.isAttached()
	if first {
		called, w.calls = append(called, w.calls...), nil
	}
	w.warn(warningOf(w.name, err))
	for _, call := range called {
		call(notWritten(err))
	}
	if first {
		w.cfg.Log.Error("wallet cannot be written, and is only read until it can", "wallet", w.label(), "err", err)
		panic(fmt.Errorf("wallet %s: %w", w.label(), err))
	}
	w.changes = latest(append(unwritten, w.changes...))
	if len(w.calls) > 0 {
		w.flush(c)
	}
}
