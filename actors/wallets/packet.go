package wallets

import (
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/signing"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// fill puts what the wallet knows into a partially signed transaction, and signs it.
func (t *caller) fill(j *ask.Job, q messages.FillPacket) (messages.FilledPacket, error) {
	p, err := t.cfg.Network.DecodePSBT(q.PSBT)
	if err != nil {
		return messages.FilledPacket{}, codes.Errorf(codes.Decode, "TX decode failed %v", err)
	}
	_, known := signing.HashType(q.HashType)
	f := signing.NewFilling(p, &q, t.cfg.Network.NewSigning, &t.nonces)
	device := false
	err = t.try(j, func() error {
		w := t.ledger
		switch {
		case !known:
			return codes.Errorf(codes.Parameter, "'%s' is not a valid sighash parameter.", q.HashType)
		case q.Sign && w.Vault().Locked():
			return codes.ErrLocked
		case q.Sign:
			if err := w.Vault().CheckSigning(); err != nil {
				return err
			}
		}
		if p.NoTx {
			return codes.Errorf(codes.Transaction, "%v", rawtx.ErrNoTx)
		}
		if device = q.Sign && w.Flags().Has(walletfile.ExternalSigner); device {
			return nil
		}
		f.Prepare(w)
		return nil
	})
	switch {
	case err != nil:
		return messages.FilledPacket{}, err
	case device:
		return t.fillByDevice(j, p, q.Finalize)
	}
	defer f.Zero()
	uses, err := t.countUses(j, f)
	if err != nil {
		return messages.FilledPacket{}, err
	}
	got, err := f.Run(j.Context())
	got.PQCKeys = uses
	return got, err
}

// countUses counts the signatures that a packet is to get by keys which count theirs.
func (t *caller) countUses(j *ask.Job, f *signing.Filling) (uses []messages.PQCUse, err error) {
	if !f.Counts() {
		return nil, nil
	}
	wanted := f.Plan(j.Context())
	if len(wanted) == 0 {
		return nil, nil
	}
	f.Zero() // no private key waits for the disk: they are derived again
	return uses, t.reserve(j, wanted, func(r *signing.Reserved) {
		uses = r.Uses
		f.Know(t.ledger.Keys())
		f.Give(r)
	})
}
