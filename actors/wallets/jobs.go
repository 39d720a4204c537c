package wallets

import (
	"cmp"
	"context"
	"math"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// lanes are where the jobs of a wallet run.
type lanes struct {
	scans    *ask.Lane // rescans and imports
	payments *ask.Lane // one after the other, so that no coin is chosen for two of them
	beside   *ask.Lane // all other work, which does not wait for each other
}

func newLanes() lanes { return lanes{ask.NewLane(1), ask.NewLane(1), ask.NewLane(math.MaxInt)} }

// close ends all jobs, whose callers are answered as the actor stops.
func (l *lanes) close() {
	l.scans.Close()
	l.payments.Close()
	l.beside.Close()
}

// A caller is whom a job serves. The job touches the ledger in the actor alone.
type caller struct {
	*Wallet
	c      actor.Context
	refuse func(error) // answers in the actor, for which another answer does not count any more
}

// byJob has a job serve.
func byJob[Q messages.Request[R], R any](serve func(*caller, *ask.Job, Q) (R, error)) service[Q, R] {
	return inLane(func(w *Wallet) *ask.Lane { return w.lanes.beside }, serve)
}

// inTurn has a job serve when the payments before it have been served.
func inTurn[Q messages.Request[R], R any](serve func(*caller, *ask.Job, Q) (R, error)) service[Q, R] {
	return inLane(func(w *Wallet) *ask.Lane { return w.lanes.payments }, serve)
}

func inLane[Q messages.Request[R], R any](
	lane func(*Wallet) *ask.Lane, serve func(*caller, *ask.Job, Q) (R, error),
) service[Q, R] {
	return func(w *Wallet, c actor.Context, m *ask.Call[Q, R]) {
		var none R
		t := &caller{w, c, func(err error) { m.Answer(none, err) }}
		lane(w).Add(c, func(j *ask.Job) {
			got, err := serve(t, j, m.Req)
			if err == nil {
				m.Answer(got, nil)
				return
			}
			_ = w.do(j, func() { m.Answer(got, err) }) // else the actor's end answers
		})
	}
}

// await has the actor run begin, and waits until begin calls back. An error is answered before anything else
// happens: the actor may be about to fail.
func (t *caller) await(j *ask.Job, begin func(then func(error))) error {
	return t.Wallet.await(j, func(then func(error)) {
		begin(func(err error) {
			if err != nil {
				t.refuse(err)
			}
			then(err)
		})
	})
}

// saved writes all changes, and waits until they are on disk.
func (t *caller) saved(j *ask.Job) error {
	return t.change(j, func() error { return nil })
}

// change has the actor change the wallet, and waits until the change is on disk.
func (t *caller) change(j *ask.Job, f func() error) error {
	return t.await(j, func(then func(error)) {
		if err := f(); err != nil {
			then(err)
			return
		}
		t.save(t.c, then)
	})
}

// haveKeys waits until the keys are made that the wallet wants, or cannot be made.
func (t *caller) haveKeys(j *ask.Job) error {
	return t.await(j, func(then func(error)) { t.keygen.after(t.c, func() { then(nil) }) })
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

// work runs work in a job, and what it returns in the actor, unless the wallet has been closed.
func (w *Wallet) work(c actor.Context, work func(*ask.Job) (then func())) {
	workIn(w.lanes.beside, c, w.do, work)
}

// workIn is [Wallet.work] for any actor, which runs what do is given.
func workIn(
	l *ask.Lane, c actor.Context, do func(*ask.Job, func()) error, work func(*ask.Job) (then func()),
) {
	l.Add(c, func(j *ask.Job) { _ = do(j, work(j)) })
}

// await has the actor run begin, and waits until begin calls back.
func (w *Wallet) await(j *ask.Job, begin func(then func(error))) error { return await(j, w.do, begin) }

// await is [Wallet.await] for any actor, which runs what do is given.
func await(j *ask.Job, do func(*ask.Job, func()) error, begin func(then func(error))) error {
	called := make(chan error, 1)
	if err := do(j, func() { begin(func(err error) { called <- err }) }); err != nil {
		return err
	}
	select {
	case err := <-called:
		return err
	case <-j.Context().Done():
	}
	select {
	case err := <-called: // in the same moment: it counts
		return err
	default:
		return context.Cause(j.Context())
	}
}
