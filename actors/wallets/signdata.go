package wallets

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/signing"
	"github.com/seed61375155/trawl/messages"
)

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
