package wallets

import (
	"cmp"
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// beside starts a job that waits for no other.
func (w *Wallet) beside(job func(*ask.Job)) { w.others.Add(w.c, job) }

// A caller is whom a job serves. The job touches the ledger in the actor alone.
type caller struct {
	*Wallet
	refuse func(error) // answers in the actor, for which another answer does not count any more
}

// A service serves one kind of request, in a job.
type service[Q messages.Request[R], R any] = func(*caller, *ask.Job, Q) (R, error)

// A handler is what a table of requests lists.
type handler[Q messages.Request[R], R any] = func(*Wallet, actor.Context, *ask.Call[Q, R])

// byJob has a job serve.
func byJob[Q messages.Request[R], R any](serve service[Q, R]) handler[Q, R] {
	return inLane(func(w *Wallet) *ask.Lane { return w.others }, serve)
}

// inTurn has a job serve when the payments before it have been served.
func inTurn[Q messages.Request[R], R any](serve service[Q, R]) handler[Q, R] {
	return inLane(func(w *Wallet) *ask.Lane { return w.payments }, serve)
}

// inLane has a job serve, as soon as the wallet is loaded.
func inLane[Q messages.Request[R], R any](lane func(*Wallet) *ask.Lane, serve service[Q, R]) handler[Q, R] {
	return func(w *Wallet, c actor.Context, m *ask.Call[Q, R]) {
		var none R
		t := &caller{w, func(err error) { m.Answer(none, err) }}
		loads := !w.live
		lane(w).Add(c, func(j *ask.Job) {
			if loads && w.until(j, func() (bool, error) { return w.live, nil }) != nil {
				return // the actor's end answers
			}
			got, err := serve(t, j, m.Req)
			if err == nil {
				m.Answer(got, nil)
				return
			}
			_ = w.do(j, func() { m.Answer(got, err) }) // else the actor's end answers
		})
	}
}

// after has a request wait before it is served. It is refused with the error of wait.
func after[Q messages.Request[R], R any](wait func(*caller, *ask.Job) error, serve service[Q, R]) service[Q, R] {
	return func(t *caller, j *ask.Job, q Q) (got R, err error) {
		if err = wait(t, j); err == nil {
			got, err = serve(t, j, q)
		}
		return got, err
	}
}

// current serves a request when the wallet has seen the tip that is active now, and its
// knowledge of the pool is on disk. Clients that have just heard of a block expect
// answers that include this block. A request is refused when a block cannot be read,
// because the wallet then knows only an older chain.
func current[Q messages.Request[R], R any](serve service[Q, R]) service[Q, R] {
	return after((*caller).atTip, after((*caller).poolWritten, serve))
}

// atTip serves a request when the wallet has seen the tip that is active now.
func atTip[Q messages.Request[R], R any](serve service[Q, R]) service[Q, R] {
	return after((*caller).atTip, serve)
}

// whenWritable serves a request that changes the wallet, unless the file cannot be
// written.
func whenWritable[Q messages.Request[R], R any](serve service[Q, R]) service[Q, R] {
	return after((*caller).writable, serve)
}

// inActor has the actor answer.
func inActor[Q messages.Request[R], R any](answer func(*Wallet, Q) (R, error)) service[Q, R] {
	return func(t *caller, j *ask.Job, q Q) (got R, err error) {
		err = t.try(j, func() (err error) {
			got, err = answer(t.Wallet, q)
			return err
		})
		return got, err
	}
}

// atOnce answers from the ledger, without a job if the wallet is loaded.
func atOnce[Q messages.Request[R], R any](answer func(wallet.Requests, Q) (R, error)) handler[Q, R] {
	later := byJob(answered(answer))
	return func(w *Wallet, c actor.Context, m *ask.Call[Q, R]) {
		if !w.live {
			later(w, c, m)
			return
		}
		m.Answer(answer(wallet.RequestsTo(w.ledger), m.Req))
	}
}

// answered answers from the ledger.
func answered[Q messages.Request[R], R any](answer func(wallet.Requests, Q) (R, error)) service[Q, R] {
	return inActor(byLedger(answer))
}

func byLedger[Q messages.Request[R], R any](answer func(wallet.Requests, Q) (R, error)) func(*Wallet, Q) (R, error) {
	return func(w *Wallet, q Q) (R, error) { return answer(wallet.RequestsTo(w.ledger), q) }
}

// reported answers with a report.
func reported[Q messages.Request[R], R any](report func(*txs.Reports, Q) R) service[Q, R] {
	return inActor(func(w *Wallet, q Q) (R, error) { return report(w.ledger.Reports(), q), nil })
}

// changed answers when a change is on disk.
func changed[Q messages.Request[R], R any](change func(*Wallet, Q) (R, error)) service[Q, R] {
	return func(t *caller, j *ask.Job, q Q) (got R, err error) {
		err = t.change(j, func() (err error) {
			got, err = change(t.Wallet, q)
			return err
		})
		return got, err
	}
}

// saved writes all changes, and waits until they are on disk.
func (t *caller) saved(j *ask.Job) error {
	return t.change(j, func() error { return nil })
}

// change has the actor change the wallet, and waits until the change is on disk, also with an error of f.
func (t *caller) change(j *ask.Job, f func() error) error {
	var b *batch
	err := t.try(j, func() error {
		err := f()
		b = t.save(t.refuse)
		return err
	})
	return cmp.Or(b.wait(j), err)
}

// do has the actor run f for a job, unless the wallet has been closed: callers are answered as the actor
// stops.
func (w *Wallet) do(j *ask.Job, f func()) error {
	return w.try(j, func() error {
		f()
		return nil
	})
}

// try is do for what may fail.
func (w *Wallet) try(j *ask.Job, f func() error) (err error) {
	ended := w.doAlways(j, func() {
		if err = ask.ErrStopped; w.ledger != nil {
			err = f()
		}
	})
	return cmp.Or(ended, err)
}

// doAlways is do for a wallet that may be closed.
func (w *Wallet) doAlways(j *ask.Job, f func()) error {
	return j.Do(func() {
		w.busy = true
		f()
		w.busy = false
	})
}

// until waits until something holds, which the actor looks at now and whenever it signals a change.
func (w *Wallet) until(j *ask.Job, holds func() (bool, error)) error {
	for {
		over, changed := false, (<-chan struct{})(nil)
		var err error
		ended := w.doAlways(j, func() {
			if err = ask.ErrStopped; !w.closed {
				over, err = holds()
			}
			changed = w.changes.next()
		})
		if err = cmp.Or(ended, err); err != nil || over {
			return err
		}
		select {
		case <-changed:
		case <-j.Context().Done():
			return context.Cause(j.Context())
		}
	}
}

// A signal wakes the jobs that wait for a change of the actor. The zero value is ready.
type signal struct{ changed chan struct{} }

// next returns what the next change closes.
func (s *signal) next() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

func (s *signal) notify() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}
