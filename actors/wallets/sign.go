package wallets

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/signing"
	"github.com/seed61375155/trawl/messages"
)

// sign signs the inputs of a transaction that spend outputs of the wallet.
func (t *caller) sign(j *ask.Job, q messages.SignWithWallet) (messages.Signed, error) {
	tx, ok := rawtx.Decode(q.RawTx, rawtx.WitnessForm)
	hashType, known := signing.HashType(q.HashType)
	var (
		s      *rawtx.Signing
		k      *signing.Gathering
		wanted map[slhdsa.PublicKey]uint32
		uses   []messages.PQCUse
		none   bool
	)
	err := t.try(j, func() error {
		switch {
		case t.ledger.Vault().Locked():
			return codes.ErrLocked
		case !ok:
			return codes.Errorf(codes.Decode, "TX decode failed. Make sure the tx has at least one input.")
		case !known:
			return codes.Errorf(codes.Parameter, "'%s' is not a valid sighash parameter.", q.HashType)
		}
		if err := t.ledger.Vault().CheckSigning(); err != nil {
			return err
		}
		s = t.cfg.Network.NewSigning(tx, signing.Coins(t.ledger, tx, q.Prevs, t.cfg.Network.Rules.MaxMoney))
		s.HashType, s.Threads = hashType, t.cfg.Spending.SignThreads
		s.MaySign(t.ledger.Vault().CanSign)
		k, none = signing.Gather(t.ledger.Keys(), s, t.cfg.Network.NewSigning), t.ledger.Keys().Len() == 0
		if wanted = s.PlanP2MR(); len(wanted) > 0 {
			k.Wipe() // no private key waits for the disk: they are gathered again
			s.Zero()
		}
		return nil
	})
	if err == nil && len(wanted) > 0 {
		err = t.reserve(j, wanted, func(r *signing.Reserved) {
			k, uses = signing.Gather(t.ledger.Keys(), s, t.cfg.Network.NewSigning), r.Uses
			r.Give(s)
		})
	}
	if err != nil {
		return messages.Signed{}, err
	}
	defer s.Zero()
	failed, err := k.Sign(j.Context(), s)
	if err != nil {
		return messages.Signed{}, err
	}
	got, err := signing.Signed(s, failed)
	if none { // as in Core, where nobody tries then
		got.Complete, got.Errors = false, nil
	}
	got.PQCKeys = uses
	return got, err
}

// reserve counts signatures, and has the actor call use when that is on disk: none may be made before.
func (t *caller) reserve(j *ask.Job, wanted map[slhdsa.PublicKey]uint32, use func(*signing.Reserved)) error {
	r := &signing.Reserved{}
	err := t.writable(j)
	if err == nil {
		err = t.change(j, func() (err error) {
			if t.ledger.Vault().Locked() {
				return codes.ErrLocked // since the request came
			}
			if r.Uses, r.Right, err = t.ledger.Vault().ReserveSignatures(wanted); err != nil {
				return codes.Errorf(codes.Wallet, "%v", err)
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	for _, use := range r.Uses {
		if text := use.Warning(); text != "" {
			t.Logf("PQC usage warning: %s", text)
		}
	}
	return t.do(j, func() {
		for public := range wanted {
			if key := t.ledger.Vault().PQCSecret(public); key != nil {
				r.Keys = append(r.Keys, key)
			}
		}
		use(r)
	})
}

// signMessage signs a message.
func (w *Wallet) signMessage(q messages.SignMessage) ([]byte, error) {
	return signing.Message(w.ledger, &q, w.cfg.Network.NewSigning)
}

// signDataHash signs data with a key of P2MR. The signature is counted on disk before.
func (t *caller) signDataHash(j *ask.Job, q messages.SignDataHash) (messages.DataSignature, error) {
	var leaf descriptor.Leaf
	var key slhdsa.PublicKey
	var with signing.Reserved
	err := t.try(j, func() (err error) {
		leaf, key, err = signing.DataLeaf(t.ledger, &q)
		return err
	})
	if err == nil {
		err = t.reserve(j, map[slhdsa.PublicKey]uint32{key: 1}, func(r *signing.Reserved) { with = *r })
	}
	if err == nil && len(with.Keys) == 0 {
		err = signing.ErrDataKey
	}
	if err != nil {
		return messages.DataSignature{}, err
	}
	private, signed := with.Keys[0], p2mr.DataHash(q.Hash)
	defer private.Zero()
	signature, err := private.Sign(with.Right, signed[:])
	if err != nil {
		err = codes.Errorf(codes.Wallet, "PQC data-hash signing failed")
	}
	return messages.DataSignature{
		Key: private.Public(), Signature: signature, Leaf: leaf.Script, Control: leaf.Control, PQCKeys: with.Uses,
	}, err
}
