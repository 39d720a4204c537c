package signing

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// Why a wallet signs no data, in the reference's words.
var (
	// ErrDataKey says that the private key of the chosen leaf is not there.
	ErrDataKey = codes.Errorf(codes.Wallet, "Private key is not available for the selected P2MR pubkey leaf")

	errDataScript = codes.Errorf(codes.Wallet, "P2MR address is not in this wallet")
	errDataLeaves = codes.Errorf(codes.Wallet, "P2MR spend data is not available for this address")
	errDataLeaf   = codes.Errorf(
		codes.Wallet, "No supported single-key P2MR pubkey leaf was found for this address",
	)
	errDataUsed = codes.Errorf(
		codes.Wallet, "PQC signature budget is exhausted for the selected P2MR pubkey leaf",
	)
)

// DataLeaf returns the first leaf that a request allows and whose key can sign.
//
// Errors: [*messages.WalletError].
func DataLeaf(w *wallet.Wallet, r *messages.SignDataHash) (descriptor.Leaf, slhdsa.PublicKey, error) {
	none, vault := descriptor.Leaf{}, w.Vault()
	if vault.Locked() {
		return none, slhdsa.PublicKey{}, codes.ErrLocked
	}
	if err := vault.CheckSigningData(); err != nil {
		return none, slhdsa.PublicKey{}, err
	}
	solution := w.Keys().Solve(r.Script)
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
		err = ErrDataKey
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
