package wallets

import (
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// syncing is a request that waits until the wallets have written what they know.
type syncing struct {
	answer func(messages.Done, error) bool
	left   int // wallets that have not answered
	errs   []error
}

// sync asks all wallets that are loaded; with a time that has passed by their timers, they do first
// what is due then.
func (w *Wallets) sync(c actor.Context, passed time.Duration, answer func(messages.Done, error) bool) {
	s := &syncing{answer: answer, left: len(w.entries)}
	if s.left == 0 {
		answer(messages.Done{}, nil)
		return
	}
	for _, e := range w.entries {
		w.work(c, func(j *ask.Job) func() {
			_, err := ask.Await(j, e.ref, seeing{Passed: passed})
			return func() { w.synced(s, e, err) }
		})
	}
}

// synced answers when the last of the wallets has answered. The error of a wallet
// that was unloaded meanwhile does not count: the unloading has written its
// changes.
func (w *Wallets) synced(s *syncing, e *entry, err error) {
	if err != nil && e.unload == nil {
		w.cfg.Log.Error("wallet has not written what is in the memory pool", "wallet", e.name, "err", err)
		s.errs = append(s.errs, err)
	}
	s.left--
	if s.left == 0 {
		s.answer(messages.Done{}, errors.Join(s.errs...))
	}
}
