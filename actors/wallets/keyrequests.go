package wallets

import (
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/messages"
)

// newAddress gives out an address, whose key may have to be made first.
func (t *caller) newAddress(j *ask.Job, q messages.NewAddress) (address string, err error) {
	wants := false
	give := func() (err error) {
		address, err = t.ledger.Pool().NewAddress(q)
		t.keygen.lines.refilling(t.ledger.Pool().LowPools())
		return err
	}
	err = t.change(j, func() error {
		if wants = t.ledger.Pool().WantAddress(q); wants {
			return nil
		}
		return give()
	})
	if err == nil && wants {
		if err = t.keysMade(j); err == nil {
			err = t.change(j, give)
		}
	}
	return address, err
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
	batches, failed := keys.MakeAll(j.Context(), jobs)
	err = t.try(j, func() error {
		if err := keys.SupplyAll(t.ledger.Pool(), batches, failed); err != nil {
			return err
		}
		_ = t.ledger.Pool().Refill(q.Size) // it wants keys; whether it has them is told below
		t.ledger.Pool().Drop()
		return nil
	})
	if err == nil {
		err = t.keysMade(j)
	}
	if err != nil {
		return messages.Done{}, err
	}
	return messages.Done{}, t.change(j, func() error {
		err := t.ledger.Pool().Refill(q.Size)
		if err == nil && t.keygen.broken && t.ledger.Pool().Wanting() {
			err = codes.Errorf(codes.Wallet, "Error refreshing keypool.")
		}
		return err
	})
}

// createDescriptor adds standard descriptors, with their keys.
func (t *caller) createDescriptor(j *ask.Job, q messages.CreateWalletDescriptor) (texts []string, err error) {
	err = t.change(j, func() (err error) {
		texts, err = t.ledger.Importer().CreateDescriptor(q, t.cfg.now())
		t.keygen.deferFill()
		return err
	})
	if err == nil {
		err = t.keysMade(j)
	}
	if err == nil {
		err = t.saved(j)
	}
	return texts, err
}
