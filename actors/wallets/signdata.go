package wallets

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// signDataHash signs data with a key of P2MR. The signature is counted on disk before.
func (t *caller) signDataHash(j *ask.Job, q messages.SignDataHash) (messages.DataSignature, error) {
	var leaf descriptor.Leaf
	var key slhdsa.PublicKey
	var with reserved
	err := t.try(j, func() (err error) {
		leaf, key, err = t.dataLeaf(&q)
		return err
	})
	if err == nil {
		err = t.reserve(j, map[slhdsa.PublicKey]uint32{key: 1}, func(r *reserved) { with = *r })
	}
	if err == nil && len(with.keys) == 0 {
		err = errDataKey
	}
	if err != nil {
		return messages.DataSignature{}, err
	}
	private, signed := with.keys[0], p2mr.DataHash(q.Hash)
	defer private.Zero()
	signature, err := private.Sign(with.right, signed[:])
	if err != nil {
		err = codes.Errorf(codes.Wallet, "PQC data-hash signing failed")
	}
	return messages.DataSignature{
		Key: private.Public(), Signature: signature, Leaf: leaf.Script, Control: leaf.Control, PQCKeys: with.uses,
	}, err
}

// Why a wallet signs no data, in the reference's words.
var (
	errDataScript = codes.Errorf(codes.Wallet, "P2MR address is not in this wallet")
	errDataLeaves = codes.Errorf(codes.Wallet, "P2MR spend data is not available for this address")
	errDataLeaf   = codes.Errorf(
		codes.Wallet, "No supported single-key P2MR pubkey leaf was found for this address",
	)
	errDataKey  = codes.Errorf(codes.Wallet, "Private key is not available for the selected P2MR pubkey leaf")
	errDataUsed = codes.Errorf(
		codes.Wallet, "PQC signature budget is exhausted for the selected P2MR pubkey leaf",
	)
)

// dataLeaf returns the first leaf that a request allows and whose key can sign.
func (t *caller) dataLeaf(r *messages.SignDataHash) (descriptor.Leaf, slhdsa.PublicKey, error) {
	none, vault := descriptor.Leaf{}, t.ledger.Vault()
	if vault.Locked() {
		return none, slhdsa.PublicKey{}, errLocked
	}
	if err := vault.CheckSigningData(); err != nil {
		return none, slhdsa.PublicKey{}, err
	}
	solution := t.ledger.Keys().Solve(r.Script)
	switch {
	case solution == nil:
		return none, slhdsa.PublicKey{}, errDataScript
	case len(solution.Leaves) == 0:
		return none, slhdsa.PublicKey{}, errDataLeaves
	}
	leaves := slices.SortedFunc(slices.Values(solution.Leaves), func(a, b descriptor.Leaf) int {
		return cmp.Or(bytes.Compare(a.Script, b.Script), cmp.Compare(len(a.Control), len(b.Control)))
	})
	var used, unavailable bool
	for _, leaf := range leaves {
		key, ok := p2mr.SingleKey(leaf.Script)
		if !ok || !allows(r, leaf, key) {
			continue
		}
		if vault.CanSign(key) {
			return leaf, key, nil
		}
		exhausted := vault.Exhausted(key)
		used, unavailable = used || exhausted, unavailable || !exhausted
	}
	err := errDataLeaf
	switch {
	case unavailable:
		err = errDataKey
	case used:
		err = errDataUsed
	}
	return none, slhdsa.PublicKey{}, err
}

// allows reports whether a request for a signature of data goes with a leaf.
func allows(r *messages.SignDataHash, leaf descriptor.Leaf, key slhdsa.PublicKey) bool {
	return (r.Key == nil || *r.Key == key) && (r.Leaf == nil || bytes.Equal(r.Leaf, leaf.Script)) &&
		(r.Control == nil || bytes.Equal(r.Control, leaf.Control))
}
