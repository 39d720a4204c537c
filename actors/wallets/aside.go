package wallets

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
)

// asides are pieces of work, each for one request, that an actor does not wait
// for.
type asides struct{ running []*aside }

type aside struct{ worker *ask.Worker }

// asideDone brings what is to be done in the actor afterwards.
type asideDone struct {
	of   *aside
	then func()
}

// run runs work in a worker, and what it returns in the actor.
func (s *asides) run(c actor.Context, work func() (then func())) {
	a := new(aside)
	s.running = append(s.running, a)
	a.worker = ask.Go(c, func() any { return asideDone{a, work()} })
}

// done finishes a piece of work.
func (s *asides) done(m asideDone) {
	s.running = slices.DeleteFunc(s.running, func(a *aside) bool { return a == m.of })
	m.then()
}

// drop waits for all work, whose results are lost.
func (s *asides) drop() {
	for _, a := range s.running {
		a.worker.Drop()
	}
}

// aside runs work in a worker, and what it returns in the actor. When the wallet
// has been closed meanwhile nothing is left to do: callers are answered as the
// actor stops.
func (w *Wallet) aside(c actor.Context, work func() (then func())) {
	w.asides.run(c, func() func() {
		then := work()
		return func() {
			if w.ledger != nil {
				then()
			}
		}
	})
}
