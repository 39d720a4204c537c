package wallets

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// newAddress gives out an address, whose key may have to be made first.
func (k *keygen) newAddress(c actor.Context, m *ask.Call[messages.NewAddress, string]) {
	give := func() {
		changing(c, k.of, m, func() (string, error) { return k.of.open().Pool().NewAddress(m.Req) })
		k.lines.refilling(k.of.open().Pool().LowPools())
	}
	if k.of.open().Pool().WantAddress(m.Req) {
		k.after(c, give)
		return
	}
	give()
}

// refill fills the key pools up, once their scripts have been derived.
func (k *keygen) refill(c actor.Context, m *ask.Call[messages.KeypoolRefill, messages.Done]) {
	jobs := k.of.open().Pool().RefillJobs(m.Req.Size)
	if len(jobs) == 0 || k.of.open().Vault().Locked() {
		k.refillWith(c, m)
		return
	}
	k.of.beside(c, func() func() {
		batches, err := makeAll(k.ctx, jobs)
		return func() {
			if err == nil {
				err = supply(k.of.open().Pool(), batches)
			}
			if err != nil {
				m.Answer(messages.Done{}, err)
				return
			}
			defer k.of.open().Pool().Drop()
			k.refillWith(c, m)
		}
	})
}

func (k *keygen) refillWith(c actor.Context, m *ask.Call[messages.KeypoolRefill, messages.Done]) {
	_ = k.of.open().Pool().Refill(m.Req.Size) // it wants keys; whether it has them is told below
	k.after(c, func() {
		changing(c, k.of, m, func() (messages.Done, error) {
			err := k.of.open().Pool().Refill(m.Req.Size)
			if err == nil && k.broken && k.of.open().Pool().Wanting() {
				err = codes.Errorf(codes.Wallet, "Error refreshing keypool.")
			}
			return messages.Done{}, err
		})
	})
}

// createDescriptor adds standard descriptors, with their keys.
func (k *keygen) createDescriptor(c actor.Context, m *ask.Call[messages.CreateWalletDescriptor, []string]) {
	texts, err := k.of.open().Importer().CreateDescriptor(m.Req, k.cfg.now())
	k.of.save(c, func(failed error) {
		if failed != nil || err != nil || k.of.open() == nil {
			if failed != nil {
				err = failed
			}
			m.Answer(texts, err)
			return
		}
		k.after(c, func() { k.of.save(c, func(err error) { m.Answer(texts, err) }) })
	})
	k.deferFill(c)
}
