package wallets

import (
	"cmp"
	"context"

	"github.com/seed61375155/trawl/internal/ask"
)

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
	ended := j.Do(func() {
		if err = ask.ErrStopped; w.ledger != nil {
			w.busy = true
			err = f()
			w.busy = false
		}
	})
	return cmp.Or(ended, err)
}

// await has the actor run begin, and waits until begin calls back.
func (w *Wallet) await(j *ask.Job, begin func(then func(error))) error {
	called := make(chan error, 1)
	if err := w.do(j, func() { begin(func(err error) { called <- err }) }); err != nil {
		return err
	}
	select {
	case err := <-called:
		return err
	case <-j.Context().Done():
		return context.Cause(j.Context())
	}
}
