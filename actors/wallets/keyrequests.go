package wallets

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/messages"
)

// newAddress gives out an address, whose key may have to be made first.
func (w *Wallet) newAddress(c actor.Context, m *newAddress) {
	give := func() {
		changing(c, w, m, func() (string, error) { return w.ledger.Pool().NewAddress(m.Req) })
	}
	if w.ledger.Pool().WantAddress(m.Req) {
		w.keygen.after(c, give)
		return
	}
	give()
}

// refill fills the key pools up, once their scripts have been derived.
func (w *Wallet) refill(c actor.Context, m *keypoolRefill) {
	jobs := w.ledger.Pool().RefillJobs(m.Req.Size)
	if len(jobs) == 0 || w.ledger.Vault().Locked() {
		w.refillWith(c, m)
		return
	}
	w.aside(c, func() func() {
		batches, err := makeAll(w.ctx, jobs)
		return func() {
			if err == nil {
				err = supply(w.ledger.Pool(), batches)
			}
			if err != nil {
				m.Answer(messages.Done{}, err)
				return
			}
			defer w.ledger.Pool().Drop()
			w.refillWith(c, m)
		}
	})
}

func (w *Wallet) refillWith(c actor.Context, m *keypoolRefill) {
	_ = w.ledger.Pool().Refill(m.Req.Size) // it wants keys; whether it has them is told below
	w.keygen.after(c, func() {
		changing(c, w, m, func() (messages.Done, error) { return messages.Done{}, w.ledger.Pool().Refill(m.Req.Size) })
	})
}

// createDescriptor adds standard descriptors, with their keys.
func (w *Wallet) createDescriptor(c actor.Context, m *createDescriptor) {
	texts, err := w.ledger.Importer().CreateDescriptor(m.Req, w.cfg.now())
	w.save(c, func(failed error) {
		if failed != nil || err != nil || w.ledger == nil {
			if failed != nil {
				err = failed
			}
			m.Answer(texts, err)
			return
		}
		w.keygen.after(c, func() { w.save(c, func(err error) { m.Answer(texts, err) }) })
	})
	w.keygen.deferFill(c)
}

// usesKeys reports whether descriptors are being imported, or a rescan is running
// that tops up the key pool.
func (w *Wallet) usesKeys() bool {
	return w.importing != nil || w.rescans.running() && w.rescans.now.private
}
