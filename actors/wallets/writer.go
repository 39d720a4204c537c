package wallets

import (
	"context"
	"fmt"
	"time"

	"github.com/seed61375155/trawl/actors/wallets/internal/files"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/store/walletdb"
)

// writer has the changes of a wallet that are on their way to the disk. While
// one transaction is written, further changes gather for the next, so that many
// requests at a time wait for the disk once.
type writer struct {
	*Wallet
	file    *walletdb.DB // nil: it is closed
	writing *batch       // nil: none
	next    *batch       // gathers
}

// A batch is what is written in one transaction.
type batch struct {
	changes []records.Change
	replace bool          // what is deleted must not stay in any file
	refuse  []func(error) // answers the waiting callers, before the actor fails
	done    chan struct{} // closed when it is on disk, or was not written
	err     error         // why it was not written; to be read after done
}

func newBatch(changes []records.Change) *batch {
	return &batch{changes: changes, done: make(chan struct{})}
}

func (b *batch) isEmpty() bool { return len(b.changes) == 0 && !b.replace }

// wait waits until the batch is on disk, or says why it is not. A nil batch is on disk.
func (b *batch) wait(j *ask.Job) error {
	if b == nil {
		return nil
	}
	select {
	case <-b.done:
		return b.err
	case <-j.Context().Done():
	}
	select {
	case <-b.done: // in the same moment: it counts
		return b.err
	default:
		return context.Cause(j.Context())
	}
}

func (b *batch) end(err error) {
	if err != nil {
		for _, refuse := range b.refuse {
			refuse(err)
		}
	}
	b.err = err
	close(b.done)
}

// add has changes written. It returns the batch that has all changes so far, nil if they are on disk. refuse is called
// in the actor if that batch cannot be written; nil: nobody is.
func (w *writer) add(changes []records.Change, refuse func(error)) *batch {
	w.next.changes = append(w.next.changes, changes...)
	b := w.next
	if b.isEmpty() {
		b = w.writing
	}
	if b != nil && refuse != nil {
		b.refuse = append(b.refuse, refuse)
	}
	w.flush()
	return b
}

// flush begins the next transaction, if the file is free.
func (w *writer) flush() {
	b := w.next
	if w.writing != nil || b.isEmpty() {
		return
	}
	w.next = newBatch(nil)
	if !w.fault.mayTry(time.Now(), w.cfg.retryAfter) {
		w.next.changes, w.next.replace = b.changes, b.replace
		b.end(w.fault.answer())
		return
	}
	file := w.file
	w.writing = b
	w.beside(func(j *ask.Job) {
		err := w.cfg.fail()
		switch {
		case err != nil:
		case b.replace:
			err = file.Replace(files.Apply(b.changes))
		default:
			err = files.Write(file, b.changes)
		}
		_ = w.doAlways(j, func() { w.wrote(b, err) })
	})
}

// wrote ends the waits for a batch.
func (w *writer) wrote(b *batch, err error) {
	w.writing = nil
	if err != nil {
		w.notWritten(b, err)
		return
	}
	if len(b.changes) > 0 && w.fault.end() {
		w.cfg.Log.Info("wallet can be written again", "wallet", w.Label())
		w.warn("")
	}
	w.LogChanges(b.changes)
	w.publish(b.changes)
	b.end(nil)
	if w.file != nil {
		w.flush()
	}
}

// rest writes what is left when the actor stops. A transaction that a job
// has written is written again, which changes nothing.
func (w *writer) rest(changes []records.Change) error {
	var all []records.Change
	if w.writing != nil {
		all = w.writing.changes
	}
	return files.Write(w.file, append(append(all, w.next.changes...), changes...))
}

// notWritten ends the waits for a batch that could not be written. The
// first time the actor fails, and its next instance has the contents of the file.
// Later the only changes come from the chain and the pool, and these are kept.
func (w *writer) notWritten(b *batch, err error) {
	first := w.fault.begin(err, time.Now()) || !w.loaded.Load()
	w.warn(warningOf(w.Name, err))
	b.end(files.NotWritten(err))
	if first {
		w.next.end(files.NotWritten(err))
		w.cfg.Log.Error("wallet cannot be written, and is only read until it can", "wallet", w.Label(), "err", err)
		panic(fmt.Errorf("wallet %s: %w", w.Label(), err))
	}
	waits := !w.next.isEmpty() // somebody may wait for it
	w.next.changes = latest(append(b.changes, w.next.changes...))
	if waits {
		w.flush()
	}
}
