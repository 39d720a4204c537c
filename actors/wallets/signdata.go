package wallets

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// signDataHash signs data with a key of P2MR. The signature is counted on disk before.
func (g *signer) signDataHash(c actor.Context, m *ask.Call[messages.SignDataHash, messages.DataSignature]) {
	leaf, key, err := g.dataLeaf(&m.Req)
	if err != nil {
		m.Answer(messages.DataSignature{}, err)
		return
	}
	fail := func(err error) { m.Answer(messages.DataSignature{}, err) }
	g.of.writable(c, func(err error) {
		if err != nil {
			fail(err)
			return
		}
		g.reserve(c, map[slhdsa.PublicKey]uint32{key: 1}, func(r reserved, err error) {
			if err == nil && len(r.keys) == 0 {
				err = errDataKey
			}
			if err != nil {
				fail(err)
				return
			}
			g.signData(c, m, leaf, &r)
		})
	})
}

// signData signs in a worker, with a signature that was counted.
func (g *signer) signData(
	c actor.Context, m *ask.Call[messages.SignDataHash, messages.DataSignature], leaf descriptor.Leaf, r *reserved,
) {
	private, signed := r.keys[0], p2mr.DataHash(m.Req.Hash)
	g.of.beside(c, func() func() {
		defer private.Zero()
		signature, err := private.Sign(r.right, signed[:])
		if err != nil {
			err = codes.Errorf(codes.Wallet, "PQC data-hash signing failed")
		}
		return func() {
			m.Answer(messages.DataSignature{
				Key: private.Public(), Signature: signature, Leaf: leaf.Script, Control: leaf.Control, PQCKeys: r.uses,
			}, err)
		}
	})
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
func (g *signer) dataLeaf(r *messages.SignDataHash) (descriptor.Leaf, slhdsa.PublicKey, error) {
	none, vault := descriptor.Leaf{}, g.of.open().Vault()
	if vault.Locked() {
		return none, slhdsa.PublicKey{}, errLocked
	}
	if err := vault.CheckSigningData(); err != nil {
		return none, slhdsa.PublicKey{}, err
	}
	solution := g.of.open().Keys().Solve(r.Script)
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
