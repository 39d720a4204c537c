package wallets

import (
	"cmp"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/messages"
)

// newAddress gives out an address, whose key may have to be made first.
func (w *Wallet) newAddress(c actor.Context, m *ask.Call[messages.NewAddress, string]) {
	give := func() {
		changing(c, w, m, func() (string, error) { return w.ledger.Pool().NewAddress(m.Req) })
		w.keygen.lines.refilling(w.ledger.Pool().LowPools())
	}
	if w.ledger.Pool().WantAddress(m.Req) {
		w.keygen.after(c, give)
		return
	}
	give()
}

// refill fills the key pools up, once their scripts have been derived.
func (t *caller) refill(j *ask.Job, q messages.KeypoolRefill) (messages.Done, error) {
	var jobs []*keys.Job
	err := t.do(j, func() {
		if !t.ledger.Vault().Locked() {
			jobs = t.ledger.Pool().RefillJobs(q.Size)
		}
	})
	if err != nil {
		return messages.Done{}, err
	}
	batches, failed := makeAll(j.Context(), jobs)
	return messages.Done{}, t.await(j, func(then func(error)) {
		if err := supply(t.ledger.Pool(), batches, failed); err != nil {
			then(err)
			return
		}
		defer t.ledger.Pool().Drop()
		_ = t.ledger.Pool().Refill(q.Size) // it wants keys; whether it has them is told below
		t.keygen.after(t.c, func() {
			err := t.ledger.Pool().Refill(q.Size)
			if err == nil && t.keygen.broken && t.ledger.Pool().Wanting() {
				err = codes.Errorf(codes.Wallet, "Error refreshing keypool.")
			}
			t.save(t.c, func(failed error) { then(cmp.Or(failed, err)) })
		})
	})
}

// createDescriptor adds standard descriptors, with their keys.
func (t *caller) createDescriptor(j *ask.Job, q messages.CreateWalletDescriptor) (texts []string, err error) {
	err = t.await(j, func(then func(error)) {
		var failed error
		texts, failed = t.ledger.Importer().CreateDescriptor(q, t.cfg.now())
		t.save(t.c, func(err error) { then(cmp.Or(err, failed)) })
		t.keygen.deferFill(t.c)
	})
	if err == nil {
		err = t.haveKeys(j)
	}
	if err == nil {
		err = t.saved(j)
	}
	return texts, err
}
